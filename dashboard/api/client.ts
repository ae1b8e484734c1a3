import { offlineProblem, Problem, problemOf } from './problem.js'

export type Init = { method?: string; body?: unknown; key?: string | undefined; signal?: AbortSignal }

/** A request that takes longer counts as one that nobody answers. */
const TIMEOUT_MS = 30_000

/**
 * Asks this page's own service; `path` begins with a slash. Returns the body of the answer, null if it is empty. Throws
 * Problem, or an AbortError if `signal` is aborted. `key` is sent as a bearer token and kept nowhere.
 */
export async function ask<Answer>(path: string, { method = 'GET', body, key, signal }: Init = {}): Promise<Answer> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(path, {
    method,
    headers: {
      accept: 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    credentials: 'omit',
  }).catch((error) => {
    if (signal?.aborted) throw error
    throw offlineProblem(Date.now())
  })
  const text = await response.text().catch((error) => {
    if (signal?.aborted) throw error
    throw offlineProblem(Date.now())
  })
  if (!response.ok) throw problemOf(response, parsed(text), Date.now())
  if (text === '') return null as Answer
  const answer = parsed<Answer>(text)
  if (answer === null) throw new Problem('broken', 'The answer is not JSON.', { status: response.status })
  return answer
}

function parsed<Value>(text: string): Value | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
