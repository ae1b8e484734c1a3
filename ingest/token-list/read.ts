import { readFileSync, statSync } from 'node:fs'
import { PlumblineError } from '../../process/errors.js'
import { BadTokenListError, MOST_BYTES } from './format.js'

/** How long a URL may take to answer in full, redirects included, in milliseconds. */
const TIMEOUT_MS = 10_000
const MOST_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const TOO_LARGE = `the list is larger than ${MOST_BYTES / 1e6} MB`

/** A list cannot be read now. The message contains no part of its URL. */
export class UnreachableListError extends PlumblineError {
  constructor(reason: string, cause?: unknown) {
    super(`cannot be read: ${reason}`, { retryable: true, cause })
  }
}

/** The text of a list, and what identifies this version of it at its source: null if the source does not say. */
export type ListText = { text: string; version: string | null }

/** Reads a file, unless it still has the modification time `version`. Throws UnreachableListError or BadTokenListError. */
export function readListFile(path: string): ListText
export function readListFile(path: string, version: string | null): ListText | null
export function readListFile(path: string, version: string | null = null): ListText | null {
  try {
    const stats = statSync(path)
    // A pipe or a device may never end.
    if (!stats.isFile()) throw new BadTokenListError(['is not a file'])
    if (stats.size > MOST_BYTES) throw new BadTokenListError([TOO_LARGE])
    const modified = `${stats.mtimeMs} ${stats.size}`
    return modified === version ? null : { text: readFileSync(path, 'utf8'), version: modified }
  } catch (error) {
    if (error instanceof BadTokenListError) throw error
    throw new UnreachableListError((error as NodeJS.ErrnoException).code ?? 'the file system has failed', error)
  }
}

type Fetch = { version: string | null; signal: AbortSignal; timeoutMs?: number }

/**
 * Reads a URL; null if its answer still has the entity tag `version`. Follows a few redirects, to https only. Throws
 * UnreachableListError, also for a slow answer, or BadTokenListError for one that is too large.
 */
export async function fetchList(
  url: URL,
  { version, signal, timeoutMs = TIMEOUT_MS }: Fetch,
): Promise<ListText | null> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await followRedirects(url, version, AbortSignal.any([signal, timeout]))
    if (response.status === 304 && version !== null) return null
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new UnreachableListError(`the status is ${response.status}`)
    }
    return { text: await boundedText(response), version: response.headers.get('etag') }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof PlumblineError) throw error
    if (timeout.aborted) throw new UnreachableListError(`no answer within ${timeoutMs / 1000} s`)
    throw new UnreachableListError(connectionProblem(error))
  }
}

/** The answer of a URL, or of the one that it redirects to. Credentials are sent to its own origin only. */
async function followRedirects(url: URL, version: string | null, signal: AbortSignal): Promise<Response> {
  let target = url
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const headers = {
      accept: 'application/json',
      ...(version !== null && { 'if-none-match': version }),
      ...(target.origin === url.origin && credentialsOf(url)),
    }
    const response = await fetch(withoutCredentials(target), { headers, redirect: 'manual', signal })
    if (!REDIRECTS.has(response.status)) return response
    await response.body?.cancel()
    target = redirectTarget(target, response.headers.get('location'))
  }
  throw new UnreachableListError(`more than ${MOST_REDIRECTS} redirects`)
}

function redirectTarget(from: URL, location: string | null): URL {
  const target = location !== null && URL.canParse(location, from.href) ? new URL(location, from) : null
  if (target?.protocol !== 'https:') throw new UnreachableListError('it redirects to something other than https')
  return target
}

/** `fetch` refuses URLs with credentials, and names them in its error. */
function withoutCredentials(url: URL): URL {
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  return bare
}

function credentialsOf({ username, password }: URL): { authorization?: string } {
  if (username === '' && password === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}

/** The body, which is not read further once it is too large. */
async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) throw new BadTokenListError([TOO_LARGE])
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Why a connection failed, as a code: messages may contain the URL. */
function connectionProblem(error: unknown): string {
  const { cause } = error as { cause?: { code?: string } }
  return cause?.code ?? 'the connection failed'
}
