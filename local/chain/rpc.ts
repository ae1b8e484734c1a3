import { z } from 'zod'
import { DevnetError } from './errors.js'

/** The node answered a request with an error, or not at all. */
class RpcError extends DevnetError {}

export type RpcCall = readonly [method: string, params?: readonly unknown[]]
export type RpcAnswer = { result: unknown } | { error: string }
export type Rpc = {
  /** Sends the calls as one JSON-RPC batch; results are in the order of the calls. The node may run them concurrently. */
  batch: (calls: readonly RpcCall[]) => Promise<unknown[]>
  /** Like `batch`, with the node's refusal in place of the result of a call that it refuses. */
  attempt: (calls: readonly RpcCall[]) => Promise<RpcAnswer[]>
  call: (method: string, params?: readonly unknown[]) => Promise<unknown>
}

const Answers = z.array(
  z.object({
    id: z.int(),
    result: z.unknown().optional(),
    error: z.object({ code: z.int(), message: z.string() }).optional(),
  }),
)

/** A JSON-RPC client over HTTP. It never retries: the node is a child process, so a missing answer is a real failure. */
export function createRpc(url: string, timeoutMs = 60_000): Rpc {
  const attempt = async (calls: readonly RpcCall[]): Promise<RpcAnswer[]> => {
    if (calls.length === 0) return []
    const methods = (): string => [...new Set(calls.map(([method]) => method))].join(', ')
    const body = JSON.stringify(calls.map(([method, params = []], id) => ({ jsonrpc: '2.0', id, method, params })))
    const answers = await post(url, body, timeoutMs).catch((cause: unknown) => {
      throw new RpcError(`the node did not answer ${methods()}`, { retryable: true, cause })
    })
    if (answers.length !== calls.length) {
      throw new RpcError(`the node returned ${answers.length} answers to ${calls.length} calls`, { retryable: true })
    }
    const results = new Array<RpcAnswer>(calls.length)
    for (const { id, result, error } of answers) {
      results[id] = error ? { error: `${calls[id]?.[0]}: ${error.message} (${error.code})` } : { result }
    }
    return results
  }
  const batch = async (calls: readonly RpcCall[]): Promise<unknown[]> =>
    (await attempt(calls)).map((answer) => {
      if ('error' in answer) throw new RpcError(answer.error, { retryable: false })
      return answer.result
    })
  return { attempt, batch, call: async (method, params = []) => (await batch([[method, params]]))[0] }
}

async function post(url: string, body: string, timeoutMs: number): Promise<z.infer<typeof Answers>> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(timeoutMs) })
  return Answers.parse(await response.json())
}
