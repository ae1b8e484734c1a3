import {
  ConnectionError,
  PaymentInUseError,
  PaymentRequiredError,
  PlumblineError,
  ProblemError,
  TimeoutError,
  TooManyRequestsError,
  UnavailableError,
} from './errors.js'
import { problemOf } from './problems.js'

/** What a payment would be for, as the problem document says. The challenge in the response is what counts. */
export type PaidRequest = {
  url: string
  /** In whole units of any of `currencies`. */
  price: string | undefined
  /** Address of the stable that the service prefers. */
  currency: string | undefined
  /** Addresses of all stables to pay with, preferred first. The response has a challenge for each, in this order. */
  currencies: readonly string[]
  signal: AbortSignal | undefined
}

/**
 * Pays for a request that was answered with this 402, and returns the header fields that prove it, or null to not pay.
 * It is called at most once for a request, however often that has to be repeated.
 */
export type Pay = (response: Response, request: PaidRequest) => Promise<Record<string, string> | null>

export type RequestOptions = {
  /** Aborts the request, its retries and the time between them. What is thrown is the reason of the signal. */
  signal?: AbortSignal | undefined
  /** Milliseconds that one attempt may take, until its whole answer is read. `Infinity` for no limit. Default 30,000. */
  timeoutMs?: number | undefined
  /** How often a request is repeated after 429, 503 or a lost connection. Default 3. */
  retries?: number | undefined
  /** Further header fields. */
  headers?: Readonly<Record<string, string>> | undefined
}

export type ClientOptions = Pick<RequestOptions, 'timeoutMs' | 'retries'> & {
  /** Where the service is, such as `http://127.0.0.1:3000`. It may have a path, and is empty for the page's own origin. */
  baseUrl: string
  /** A subscription key: routes with a price cost nothing. */
  key?: string | undefined
  /** Pays for routes with a price. */
  pay?: Pay | undefined
  /** Instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
  /** If the service asks to wait for longer than this, the request fails at once. Default 60,000. */
  maxRetryAfterMs?: number | undefined
}

/** Makes a request and repeats it where that may help. `read` is a part of the attempt. */
export type Send = <Result>(
  url: string,
  read: (response: Response) => Result | Promise<Result>,
  options: RequestOptions & { accept?: string; staysOpen?: boolean },
) => Promise<Result>

const DEFAULTS = { timeoutMs: 30_000, retries: 3, maxRetryAfterMs: 60_000 }
const BACKOFF = { firstMs: 500, mostMs: 8000 }
/** Timers of longer delays fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Milliseconds before attempt number `failures` + 2, of which up to half are random, so that clients do not return at once. */
const backoffMs = (failures: number): number =>
  Math.min(BACKOFF.firstMs * 2 ** failures, BACKOFF.mostMs) * (1 - Math.random() / 2)

/** Resolves after `ms`. Rejects with the reason of `signal` once that is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      },
      Math.min(ms, LONGEST_TIMER_MS),
    )
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** How long to wait before the same request may succeed; null if it will not. `isPaid`: it carries a payment. */
function retryDelayMs(error: PlumblineError, failures: number, isPaid: boolean): number | null {
  if (!(error instanceof ProblemError)) return error instanceof ConnectionError ? backoffMs(failures) : null
  const { retryAfterMs } = error
  if (error instanceof TooManyRequestsError || error instanceof UnavailableError)
    return retryAfterMs ?? backoffMs(failures)
  // A payment that is not settled yet, or that another request is using.
  const isPending = error instanceof PaymentInUseError || error instanceof PaymentRequiredError
  return isPaid && isPending ? retryAfterMs : null
}

export function createSender(client: ClientOptions): Send {
  const { key, pay, fetch: given, maxRetryAfterMs = DEFAULTS.maxRetryAfterMs } = client

  /** One attempt. Throws a PlumblineError, or the reason of `signal`. */
  async function attempt<Result>(
    url: string,
    headers: Headers,
    read: (response: Response) => Result | Promise<Result>,
    { signal, timeoutMs, staysOpen }: { signal: AbortSignal | undefined; timeoutMs: number; staysOpen: boolean },
  ): Promise<Result> {
    signal?.throwIfAborted()
    const controller = new AbortController()
    const onAbort = (): void => controller.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    const onTimeout = (): void =>
      controller.abort(new TimeoutError(`there was no answer within ${timeoutMs} ms`, { url }))
    const timer = timeoutMs <= LONGEST_TIMER_MS ? setTimeout(onTimeout, timeoutMs) : undefined
    let isOpen = false
    try {
      const response = await (given ?? fetch)(url, { headers, signal: controller.signal })
      if (!response.ok) throw await problemOf(url, response)
      const result = await read(response)
      isOpen = staysOpen
      return result
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (controller.signal.aborted) throw controller.signal.reason
      if (error instanceof PlumblineError) throw error
      throw new ConnectionError('the service cannot be reached, or the connection was lost', { url, cause: error })
    } finally {
      clearTimeout(timer)
      if (!isOpen) signal?.removeEventListener('abort', onAbort)
    }
  }

  /** The header fields of a payment; null if there is nobody who pays. */
  const paymentFor = async (error: PaymentRequiredError, signal: AbortSignal | undefined) => {
    const { url, price, currency, currencies, body, headers } = error
    const request = { url, price, currency, currencies, signal }
    return (await pay?.(new Response(body, { status: 402, headers }), request)) ?? null
  }

  return async (url, read, { signal, accept = 'application/json', staysOpen = false, ...options }) => {
    const timeoutMs = options.timeoutMs ?? client.timeoutMs ?? DEFAULTS.timeoutMs
    const retries = options.retries ?? client.retries ?? DEFAULTS.retries
    const headers = new Headers({ accept })
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
    for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value)
    // A payment that was made before is presented again, and not made again.
    let payment: Readonly<Record<string, string>> | null = null
    if (new Headers(options.headers).has('authorization')) payment = options.headers ?? null
    for (let failures = 0; ; ) {
      try {
        return await attempt(url, headers, read, { signal, timeoutMs, staysOpen })
      } catch (error) {
        if (!(error instanceof PlumblineError)) throw error
        if (payment === null && error instanceof PaymentRequiredError) {
          payment = await paymentFor(error, signal)
          if (payment === null) throw error
          for (const [name, value] of Object.entries(payment)) headers.set(name, value)
          continue
        }
        // Not shown when the error is printed.
        if (payment) Object.defineProperty(error, 'payment', { value: payment })
        const waitMs = retryDelayMs(error, failures, payment !== null)
        if (waitMs === null || waitMs > maxRetryAfterMs || failures >= retries) throw error
        failures++
        await sleep(waitMs, signal)
      }
    }
  }
}
