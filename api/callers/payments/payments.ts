import type { ClickHouseClient } from '@clickhouse/client'
import type { FastifyBaseLogger } from 'fastify'
import { Challenge, Receipt } from 'mppx'
import { parseUnits } from 'viem'
import { PlumblineError } from '../../../process/errors.js'
import { createLedger } from './attempts.js'
import { PaymentRefusedError } from './errors.js'
import { createGatewayFinder, type Gateway } from './gateway.js'
import { isOurs } from './proof.js'
import { causeOf, type Refusal, RefusedPayment } from './refused-payment.js'
import type { Screen } from './screen.js'
import { createSettlement, type Settled } from './settlement.js'
import { CURRENCY_DECIMALS, type Offer, type PaymentTerms } from './terms.js'

/** The OpenAPI extension x-payment-info of an operation with a price, as MPP's discovery has it: an offer in each currency. Amounts in base units. */
export const paymentInfo = (currencies: readonly string[], price: string, description: string) => ({
  offers: currencies.map((currency) => ({
    method: 'tempo',
    intent: 'charge',
    amount: parseUnits(price, CURRENCY_DECIMALS).toString(),
    currency,
    description,
  })),
})

/** Nothing is ingested yet, so the chain to be paid on is unknown. */
class NoChainError extends PlumblineError {
  constructor() {
    super('no chain is known yet', { retryable: true })
  }
}

/** A request that is paid. */
export type Paid = {
  /** For the header Payment-Receipt. */
  receipt: string
  /** Call it once, when the request has its answer, or will have none: then the same credential gets it later. */
  done: (isAnswered: boolean) => void
}

export type Payments = {
  terms: PaymentTerms
  /** The tokens that payments are made in, preferred first; null while the chain is unknown, if it decides. */
  currencies: () => Promise<readonly string[] | null>
  /** Whether an Authorization header answers one of our challenges; its payment is not checked. */
  isOurs: (authorization: string) => boolean
  /** New challenges for the header WWW-Authenticate, one in each currency. */
  challenges: (offer: Offer) => Promise<string[]>
  /** The error for a request without a payment. */
  demand: (offer: Offer) => Promise<PaymentRefusedError>
  /**
   * Takes the payment for one answer. `network` is the sender's. Rejects with PaymentRefusedError or
   * TooManyPaymentsError, or with a retryable error if the result is unknown.
   */
  accept: (offer: Offer, authorization: string, network: string) => Promise<Paid>
  /** Resolves once all accepted payments have their answers, and that is recorded. */
  close: () => Promise<void>
}

type PaymentsDeps = {
  terms: PaymentTerms
  /** May insert payments. */
  records: ClickHouseClient
  /** The id of the database's chain; null before it has one. */
  readChainId: () => Promise<number | null>
  screen: Screen
  log: FastifyBaseLogger
}

/** Takes payments for requests with the Payment scheme of MPP. */
export function createPayments({ terms, records, readChainId, screen, log }: PaymentsDeps): Payments {
  const ledger = createLedger(records, log)
  const settlement = createSettlement(terms, ledger, screen)
  const findGateway = createGatewayFinder(terms, readChainId)
  const open = new Set<Promise<void>>()

  async function gatewayOf(): Promise<Gateway> {
    const gateway = await findGateway()
    if (!gateway) throw new NoChainError()
    return gateway
  }

  const challenges = async (offer: Offer): Promise<string[]> =>
    (await (await gatewayOf()).challenges(offer)).map((challenge) => Challenge.serialize(challenge))

  async function refuse(offer: Offer, refusal: Refusal): Promise<PaymentRefusedError> {
    const { price } = offer
    const { currencies } = await gatewayOf()
    return new PaymentRefusedError({ ...refusal, price, currencies, challenges: await challenges(offer) })
  }

  async function record({ payment, attempt }: Settled, isAnswered: boolean): Promise<void> {
    const { challenge_id, tx_hash, amount_raw, currency, mode } = payment
    log.info({ challenge_id, tx_hash, amount_raw, currency, mode }, 'a request was paid')
    await ledger.note(payment, attempt, 'settled')
    await ledger.note(payment, attempt, isAnswered ? 'answered' : 'unanswered')
  }

  return {
    terms,
    isOurs: (authorization) => isOurs(authorization, terms.challengeSecret),
    challenges,
    currencies: async () => terms.currencies ?? (await findGateway())?.currencies ?? null,
    demand: (offer) => {
      const detail = `this costs ${offer.price} dollars, in any of the stables in currencies; pay one of the challenges, or send a subscription key (scope paid) as a bearer token`
      return refuse(offer, { kind: 'payment-required', detail })
    },
    accept: async (offer, authorization, network) => {
      const settled = await settlement.settle(await gatewayOf(), offer, authorization, network).catch(async (error) => {
        if (!(error instanceof RefusedPayment)) throw error
        log.info({ ...error.refusal, reason: causeOf(error) }, 'a payment was refused')
        throw await refuse(offer, error.refusal)
      })
      const { tx_hash: reference, currency } = settled.payment
      const timestamp = new Date().toISOString()
      let done: Paid['done'] = () => {}
      const ended = new Promise<void>((resolve) => {
        done = (isAnswered) => {
          const recorded = record(settled, isAnswered)
          settlement.release(settled.payment, recorded)
          resolve(recorded)
        }
      }).finally(() => open.delete(ended))
      open.add(ended)
      const receipt = { method: 'tempo', status: 'success' as const, timestamp, reference, currency }
      return { receipt: Receipt.serialize(receipt), done }
    },
    close: async () => {
      await Promise.all(open)
    },
  }
}
