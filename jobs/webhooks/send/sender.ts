import { LRUCache } from 'lru-cache'
import { Agent, buildConnector } from 'undici'
import { type TargetRules, urlProblem } from '../../../clickhouse/webhooks/targets.js'
import { checkedLookup, type Resolve } from '../guard/checked-lookup.js'
import { exchange, type Outcome } from './exchange.js'
import { withoutInterim } from './interim.js'

/** The outcome and timing of an attempt. */
export type Exchange = Outcome & { startedAt: Date; durationMs: number }

/** Any 2xx that arrives in time is a success. */
export const isSuccess = ({ status, error }: Pick<Exchange, 'status' | 'error'>): boolean =>
  error === null && status !== null && status >= 200 && status < 300

type SenderRequest = { url: string; body: string; headers: Record<string, string>; contentType?: string }

export type Sender = {
  /** Sends one POST, of JSON unless `contentType` is another, and never rejects. `headers` are sent in addition to it and to User-Agent. */
  send: (request: SenderRequest) => Promise<Exchange>
  /** Waits for exchanges that have begun, then closes the connections. */
  close: () => Promise<void>
}

export type SenderOptions = {
  rules: TargetRules
  resolve: Resolve
  /**
   * The time limit of the whole exchange: name lookup, connection, TLS, request, and the part of the response that is
   * read.
   */
  timeoutMs: number
  userAgent: string
  /** Certificates to trust instead of Node's, in PEM. */
  ca?: string
}

/**
 * If a name has several addresses, the next one is tried after this. Node's default of 250 ms is shorter than a round
 * trip to distant receivers can take.
 */
const NEXT_ADDRESS_MS = 1000

/** The number of URLs whose check is cached. */
const MAX_CACHED_TARGETS = 10_000

type Target = { origin: string; path: string } | { problem: string }

function targetOf(url: string, rules: TargetRules): Target {
  if (!URL.canParse(url)) return { problem: 'must be an absolute URL' }
  const target = new URL(url)
  // The dot only says that the name is absolute, as all names here are. No certificate has it.
  if (!target.hostname.endsWith('..')) target.hostname = target.hostname.replace(/\.$/, '')
  // What is called is checked, and not only what was written.
  const problem = urlProblem(url, rules) ?? urlProblem(target.href, rules)
  if (problem !== null) return { problem }
  return { origin: target.origin, path: `${target.pathname}${target.search}` }
}

/** Creates a sender that uses persistent HTTP/1.1 connections to checked addresses only. Redirects are not followed. */
export function createSender({ rules, resolve, timeoutMs, userAgent, ca }: SenderOptions): Sender {
  const connect = buildConnector({
    lookup: checkedLookup(resolve, rules),
    timeout: timeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    ...(ca !== undefined && { ca }),
  })
  const agent = new Agent({
    // The only time limit is that of the exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) =>
      connect(options, (...[error, socket]) =>
        error === null ? callback(null, withoutInterim(socket)) : callback(error, null),
      ),
  })
  // Checked again, although the URL was checked when the subscription was created: the rules may have changed since.
  const targets = new LRUCache<string, Target>({
    max: MAX_CACHED_TARGETS,
    memoMethod: (url) => targetOf(url, rules),
  })

  const sendTo = async (
    target: Target,
    { body, headers, contentType = 'application/json' }: SenderRequest,
  ): Promise<Outcome> => {
    if ('problem' in target) return { status: null, error: target.problem, response: '', waitMs: null }
    // A flat list of names and values, which undici processes in a third of the time it needs for an object.
    const list = ['content-type', contentType, 'user-agent', userAgent]
    for (const [name, value] of Object.entries(headers)) list.push(name, value)
    const { origin, path } = target
    return exchange(agent, { origin, path, method: 'POST', headers: list, body }, timeoutMs)
  }

  return {
    send: async (request) => {
      const startedAt = new Date()
      const startedMs = performance.now()
      const outcome = await sendTo(targets.memo(request.url), request)
      return { ...outcome, startedAt, durationMs: Math.round(performance.now() - startedMs) }
    },
    close: () => agent.close(),
  }
}
