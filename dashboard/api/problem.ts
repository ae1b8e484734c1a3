/** Why there is no answer. */
export type ProblemKind =
  | 'offline'
  | 'limited'
  | 'priced'
  | 'before-history'
  | 'missing'
  | 'forbidden'
  | 'unavailable'
  | 'invalid'
  | 'broken'

/** A request that failed, in the words of the service where it had any. */
export class Problem extends Error {
  readonly kind: ProblemKind
  readonly status: number
  /** By which the operator finds the request in the log; null if the service did not answer. */
  readonly requestId: string | null
  /** Milliseconds of this machine's clock from which it makes sense to try again; null if it does not. */
  readonly retryAt: number | null
  /** With `priced`. */
  readonly price: string | null
  /** With `priced`: addresses of the stables that it can be paid with, preferred first. */
  readonly currencies: readonly string[]
  /** With `priced`: whether the service takes payments; if not, only a key helps. */
  readonly isPayable: boolean
  /** With `priced`: how complete the answer is that is for sale, in words. */
  readonly coverage: string | null

  constructor(kind: ProblemKind, detail: string, terms: Partial<Omit<Problem, 'kind' | keyof Error>> = {}) {
    super(detail)
    this.kind = kind
    this.status = terms.status ?? 0
    this.requestId = terms.requestId ?? null
    this.retryAt = terms.retryAt ?? null
    this.price = terms.price ?? null
    this.currencies = terms.currencies ?? []
    this.isPayable = terms.isPayable ?? false
    this.coverage = terms.coverage ?? null
  }
}

/** A problem document of the service, as far as it is used. */
type Document = Partial<{
  type: string
  detail: string
  price: string
  currency: string
  currencies: readonly string[]
  coverage: { message: string }
}>

const RETRY_SECONDS = 5

function kindOf(status: number, type: string): ProblemKind {
  if (status === 429) return 'limited'
  if (status === 402) return 'priced'
  if (status === 401 || status === 403) return 'forbidden'
  if (status === 404) return type.endsWith(':before-history') ? 'before-history' : 'missing'
  if (status === 400) return 'invalid'
  if (status === 502 || status === 503 || status === 504) return 'unavailable'
  return 'broken'
}

/** The problem of an answer that is not a success. `nowMs`: this machine's clock. */
export function problemOf(
  { status, headers }: { status: number; headers: Pick<Headers, 'get'> },
  document: Document | null,
  nowMs: number,
): Problem {
  const kind = kindOf(status, document?.type ?? '')
  const wait = Number(headers.get('retry-after') ?? Number.NaN)
  const passes = kind === 'limited' || kind === 'unavailable' || kind === 'broken'
  return new Problem(kind, document?.detail ?? `the service answered with status ${status}`, {
    status,
    requestId: headers.get('x-request-id'),
    retryAt: passes ? nowMs + 1000 * (Number.isFinite(wait) ? wait : RETRY_SECONDS) : null,
    price: document?.price ?? null,
    currencies: document?.currencies ?? (document?.currency === undefined ? [] : [document.currency]),
    isPayable: /\bPayment /.test(headers.get('www-authenticate') ?? ''),
    coverage: document?.coverage?.message ?? null,
  })
}

/** The problem of a request that got no answer at all. */
export const offlineProblem = (nowMs: number): Problem =>
  new Problem('offline', 'The service cannot be reached.', { retryAt: nowMs + 1000 * RETRY_SECONDS })
