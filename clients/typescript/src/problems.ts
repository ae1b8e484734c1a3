import {
  BadParameterError,
  BadRequestError,
  BeforeHistoryError,
  type Failure,
  ForbiddenError,
  InsufficientFundsError,
  InvalidKeyError,
  NotFoundError,
  PaymentInUseError,
  PaymentRefusedError,
  PaymentRequiredError,
  ProblemError,
  ServerError,
  TooManyRequestsError,
  UnavailableError,
  UnknownRouteError,
  UnknownStableError,
} from './errors.js'
import type { Problem } from './types.js'

type ProblemClass = new (failure: Failure) => ProblemError

const BY_TYPE: ReadonlyMap<string, ProblemClass> = new Map<string, ProblemClass>([
  ['urn:plumbline:problem:bad-parameter', BadParameterError],
  ['urn:plumbline:problem:payment-required', PaymentRequiredError],
  ['https://paymentauth.org/problems/payment-required', PaymentRequiredError],
  ['urn:plumbline:problem:insufficient-funds', InsufficientFundsError],
  ['urn:plumbline:problem:number-too-large', PaymentRefusedError],
  ['urn:plumbline:problem:unknown-stable', UnknownStableError],
  ['urn:plumbline:problem:before-history', BeforeHistoryError],
  ['urn:plumbline:problem:unknown-route', UnknownRouteError],
  ['urn:plumbline:problem:payment-in-use', PaymentInUseError],
])

const BY_STATUS: ReadonlyMap<number, ProblemClass> = new Map<number, ProblemClass>([
  [400, BadRequestError],
  [401, InvalidKeyError],
  [402, PaymentRequiredError],
  [403, ForbiddenError],
  [404, NotFoundError],
  [429, TooManyRequestsError],
  [503, UnavailableError],
])

function classOf(type: unknown, status: number): ProblemClass {
  const byType = BY_TYPE.get(String(type))
  if (byType) return byType
  if (status === 402 && String(type).startsWith('https://paymentauth.org/problems/')) return PaymentRefusedError
  return BY_STATUS.get(status) ?? (status >= 500 ? ServerError : ProblemError)
}

/** undefined for a body that is not a JSON object. */
function documentIn(body: string): Partial<Problem> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The error of an answer that is not a success. Reads its body. */
export async function problemOf(url: string, response: Response): Promise<ProblemError> {
  const { status, headers } = response
  const body = await response.text()
  const problem = documentIn(body) ?? {}
  return new (classOf(problem.type, status))({ url, status, headers, body, problem })
}
