import { REFERENCE_STABLE } from '../../../clickhouse/peg/price.js'
import { askForKey, BEARER_CHALLENGE, NO_STORE, ProblemError, retryAfter, UnavailableError } from '../../http/errors.js'
import type { ProblemKind } from '../../http/problem-kinds.js'

/** The route costs something, the request came without a key, and this service takes no payments. */
export class PaymentRequiredError extends ProblemError {
  /** `price` in dollars. */
  constructor(price: string) {
    super(
      `this costs ${price} dollars, but this service does not take payments; send a subscription key (scope paid) as a bearer token`,
      {
        status: 402,
        kind: 'payment-required',
        headers: askForKey(),
        price: { price, currency: REFERENCE_STABLE },
      },
    )
  }
}

/** Kinds of refused payments for which MPP has no type. */
const OWN_KINDS = ['insufficient-funds', 'number-too-large'] as const

/** The problem's kind for the kind of a refusal. */
const kindOf = (kind: string): ProblemKind | { type: string } =>
  OWN_KINDS.find((own) => own === kind) ?? { type: `https://paymentauth.org/problems/${kind}` }

type Refusal = {
  /** The last part of the problem's type, at paymentauth.org unless MPP has no such type. */
  kind: string
  detail: string
  /** In whole units of any of the currencies. */
  price: string
  /** Preferred first; at least one. */
  currencies: readonly string[]
  /** For the header WWW-Authenticate: one in each currency. */
  challenges: readonly string[]
  /** When to present the same payment again, where that helps. */
  retryAfterSeconds?: number
}

/** The route can be paid for, but the request contains no valid payment; each of the challenges describes one. */
export class PaymentRefusedError extends ProblemError {
  constructor({ kind, detail, price, currencies, challenges, retryAfterSeconds }: Refusal) {
    super(detail, {
      status: 402,
      kind: kindOf(kind),
      headers: {
        ...NO_STORE,
        'www-authenticate': [...challenges, BEARER_CHALLENGE],
        ...(retryAfterSeconds !== undefined && retryAfter(retryAfterSeconds)),
      },
      price: { price, currency: currencies[0] as string, currencies },
    })
  }
}

/** Seconds after which the same payment may be presented again. */
const AGAIN_AFTER_SECONDS = 5

/** Too many payments from this address, or for this challenge, were wrong, and the chain shows no money behind this one. */
export class TooManyPaymentsError extends ProblemError {
  constructor() {
    super(
      'too many payments from this address or for this challenge were refused, and no transfer and no balance on the chain belongs to this one; present the same payment again once it does',
      {
        status: 429,
        kind: 'too-many-payments',
        headers: { ...NO_STORE, ...retryAfter(AGAIN_AFTER_SECONDS) },
      },
    )
  }
}

/** Another request is using the credential: it is not yet known which one gets the answer. */
export class PaymentInUseError extends ProblemError {
  constructor(forMs: number) {
    super('another request is using this payment; present it again later', {
      status: 409,
      kind: 'payment-in-use',
      retryable: true,
      headers: { ...NO_STORE, ...retryAfter(Math.ceil(forMs / 1000)) },
    })
  }
}

/**
 * The chain cannot be asked about a payment. What is paid stays paid: the same credential gets its answer later. Only
 * `reason` is logged, because the log includes all causes of an error, and those of a node request contain its URL and
 * body.
 */
export class PaymentsAwayError extends UnavailableError {
  constructor(reason: string) {
    super(new Error(reason), 'the chain that payments are made on cannot be reached; present the same payment again')
  }
}
