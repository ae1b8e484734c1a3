import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'

/** The node answered a request with an error, or not at all. */
class RpcError extends PlumblineError {}

export type RpcCall = readonly [method: string, params?: readonly unknown[]]
export type Rpc = {
  /** Sends the calls as one JSON-RPC batch; results are in the order of the calls. The node may run them concurrently. */
  batch: (calls: readonly RpcCall[]) => Promise<unknown[]>
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
  const batch = async (calls: readonly RpcCall[]): Promise<unknown[]> => {
    if (calls.length === 0) return []
    const methods = (): string => [...new Set(calls.map(([method]) => method))].join(', ')
    const body = JSON.stringify(calls.map(([method, params = []], id) => ({ jsonrpc: '2.0', id, method, params })))
    const answers = await post(url, body, timeoutMs).catch((cause: unknown) => {
      throw new RpcError(`the node did not answer ${methods()}`, { retryable: true, cause })
    })
    const results = new Array<unknown>(calls.length)
    for (const { id, result, error } of answers) {
      if (error) throw new RpcError(`${calls[id]?.[0]}: ${error.message} (${error.code})`, { retryable: false })
      results[id] = result
    }
    if (answers.length !== calls.length) {
      throw new RpcError(`the node returned ${answers.length} answers to ${calls.length} calls`, { retryable: true })
    }
    return results
  }
  return { batch, call: async (method, params = []) => (await batch([[method, params]]))[0] }
}

async function post(url: string, body: string, timeoutMs: number): Promise<z.infer<typeof Answers>> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(timeoutMs) })
  return Answers.parse(await response.json())
}
