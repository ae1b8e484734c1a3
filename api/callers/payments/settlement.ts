import { parseUnits } from 'viem'
import type { Payment, PaymentAttempt } from '../../../clickhouse/payments/ledger.js'
import { PlumblineError } from '../../../process/errors.js'
import type { Ledger } from './attempts.js'
import { PaymentInUseError, PaymentsAwayError, TooManyPaymentsError } from './errors.js'
import { type Gateway, LATE_FOR_MS } from './gateway.js'
import { type Proof, readProof } from './proof.js'
import { meaningOf, type Refusal, RefusedPayment } from './refused-payment.js'
import type { Screen, Use } from './screen.js'
import { CURRENCY_DECIMALS, type Offer, type PaymentTerms } from './terms.js'

/** The node that payments go to serves another chain than the database holds. */
class OtherChainError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: true })
  }
}

/** A payment that is on the chain, and the attempt that gets its answer. */
export type Settled = { payment: Payment; attempt: PaymentAttempt }

export type Settlement = {
  /**
   * Takes the payment of a credential, or finds that it is already made and has no answer yet. Until `release`, no
   * other request can use the credential. `network` is the sender's. Rejects with RefusedPayment or
   * TooManyPaymentsError, or with a retryable error if the result is unknown.
   */
  settle: (gateway: Gateway, offer: Offer, authorization: string, network: string) => Promise<Settled>
  /** Releases a credential once `recorded`, when its result is in the ledger. */
  release: (payment: Payment, recorded: Promise<void>) => void
}

/** When to look again for the result of a request that has just claimed the credential. */
const JUST_NOW_MS = 1000
const FAILED: Refusal = { kind: 'verification-failed', detail: 'the transaction failed on the chain', isFinal: true }

/** One use of a credential that is admitted: what it pays for, through which node, and where that is recorded. */
type Charge = { ledger: Ledger; gateway: Gateway; offer: Offer; proof: Proof; payment: Payment }

const paymentOf = (terms: PaymentTerms, proof: Proof, offer: Offer, chain_id: number): Payment => ({
  challenge_id: proof.challengeId,
  credential_digest: proof.digest,
  scope: proof.scope,
  mode: proof.mode,
  payer: proof.payer,
  recipient: terms.recipient,
  currency: proof.currency,
  amount_raw: parseUnits(offer.price, CURRENCY_DECIMALS).toString(),
  chain_id,
  realm: terms.realm,
  tx_hash: proof.txHash,
})

/** Runs before the first payment: a node of another chain would accept payments that the recipient never gets. */
function createNodeCheck(): (gateway: Gateway) => Promise<void> {
  const checked = new WeakSet<Gateway>()
  return async (gateway) => {
    if (checked.has(gateway)) return
    const chainId = await gateway.nodeChainId()
    if (chainId !== gateway.chainId)
      throw new OtherChainError(
        `PAYMENT_RPC_URL is a node of chain ${chainId}, but the database holds chain ${gateway.chainId}`,
      )
    checked.add(gateway)
  }
}

/** A credential for one of our challenges, to this offer, in a currency that we take. Throws RefusedPayment; asks nobody. */
async function readProofFor(
  { scope }: Offer,
  { chainId, currencies }: Gateway,
  authorization: string,
  secret: string,
): Promise<Proof> {
  const proof = await readProof(authorization, secret, chainId)
  if (proof.scope !== scope)
    throw new RefusedPayment({ kind: 'invalid-challenge', detail: 'this payment is for another request' })
  if (!currencies.includes(proof.currency))
    throw new RefusedPayment({
      kind: 'invalid-challenge',
      detail: `this service no longer takes payments in ${proof.currency}, and has sent nothing`,
    })
  if (Date.now() - Date.parse(proof.credential.challenge.expires ?? '') > LATE_FOR_MS)
    throw new RefusedPayment({ kind: 'payment-expired', detail: 'the challenge has expired too long ago' })
  return proof
}

/** The payment that an earlier use of the credential made; null if its transaction is in no block. */
async function earlierPayment(
  charge: Charge,
  firstAttempt: number,
  hashes: readonly string[],
): Promise<Settled | null> {
  const { ledger, gateway, offer, proof, payment } = charge
  for (const tx_hash of hashes) {
    const outcome = await gateway.outcome(tx_hash, offer, proof.currency)
    if (outcome === null) continue
    const attempt = await ledger.claim(payment, firstAttempt)
    if (!attempt) throw new PaymentInUseError(JUST_NOW_MS)
    if (outcome === 'paid') return { payment: { ...payment, tx_hash }, attempt }
    await ledger.note({ ...payment, tx_hash }, attempt, 'failed')
    throw new RefusedPayment(FAILED)
  }
  return null
}

/** Determines the result of a claimed payment that ended in an error. Returns if it was made in spite of that. */
async function resolveFailure(
  { ledger, gateway, offer, proof }: Charge,
  { payment, attempt }: Settled,
  isUnsent: boolean,
  meaning: unknown,
): Promise<void> {
  // An earlier use may have sent it, and the node refuses it for that reason: the chain decides.
  const outcome =
    meaning instanceof PaymentsAwayError
      ? null
      : await gateway.outcome(payment.tx_hash, offer, proof.currency).catch(() => null)
  if (outcome === 'paid') return
  const isOver = outcome === 'failed' || (isUnsent && meaning instanceof RefusedPayment)
  await ledger.note(payment, attempt, isOver ? 'failed' : 'unanswered')
  throw outcome === 'failed' ? new RefusedPayment(FAILED, meaning) : meaning
}

/** Claims the payment in the ledger and makes it. `firstAttempt` is the first number that an attempt may have. */
async function makePayment(charge: Charge, firstAttempt: number): Promise<Settled> {
  const { ledger, gateway, proof, offer, payment } = charge
  const claim: { attempt?: PaymentAttempt; payment: Payment; isReleased: boolean; isTaken: boolean } = {
    payment,
    isReleased: false,
    isTaken: false,
  }
  const accept = async (tx_hash: string): Promise<boolean> => {
    if (!claim.attempt) {
      const attempt = await ledger.claim(payment, firstAttempt)
      if (attempt) claim.attempt = attempt
      claim.isTaken = attempt === null
      return !claim.isTaken
    }
    claim.payment = { ...payment, tx_hash: tx_hash.toLowerCase() }
    await ledger.rehash(claim.payment, claim.attempt)
    return true
  }
  const release = (): void => {
    claim.isReleased = true
  }
  try {
    await gateway.pay(proof, offer, { accept, release })
  } catch (error) {
    if (claim.isTaken) throw new PaymentInUseError(JUST_NOW_MS)
    if (!claim.attempt) throw error
    const claimed = { payment: claim.payment, attempt: claim.attempt }
    await resolveFailure(charge, claimed, claim.isReleased, meaningOf(error))
  }
  if (!claim.attempt) throw new Error('mppx has made a payment without a claim')
  return { payment: claim.payment, attempt: claim.attempt }
}

/** The payment of an earlier use that has no answer yet; if there is none, a new payment. */
async function settleCharge(charge: Charge, checkNode: (gateway: Gateway) => Promise<void>): Promise<Settled> {
  const standing = await charge.ledger.standing(charge.payment)
  if (standing.kind === 'in use') throw new PaymentInUseError(standing.forMs)
  if (standing.kind === 'refused')
    throw new RefusedPayment({ kind: 'invalid-challenge', detail: standing.detail, isFinal: true })
  await checkNode(charge.gateway)
  if (standing.kind === 'new') return makePayment(charge, 0)
  const { attempt, hashes } = standing
  return (await earlierPayment(charge, attempt, hashes)) ?? makePayment(charge, attempt)
}

/** Makes payments. A payment is recorded in the ledger before anything moves, and the chain decides its result. */
export function createSettlement(terms: PaymentTerms, ledger: Ledger, screen: Screen): Settlement {
  /** By challenge; with the end of its use, once that is known. */
  const inUse = new Map<string, Promise<void> | null>()
  const checkNode = createNodeCheck()

  /** One use of a challenge at a time. */
  async function settleAlone(gateway: Gateway, proof: Proof, offer: Offer, use: Use): Promise<Settled> {
    await inUse.get(proof.challengeId)
    if (inUse.has(proof.challengeId)) throw new PaymentInUseError(JUST_NOW_MS)
    inUse.set(proof.challengeId, null)
    try {
      await use.admit(gateway, proof, offer)
      const payment = paymentOf(terms, proof, offer, gateway.chainId)
      return await settleCharge({ ledger, gateway, offer, proof, payment }, checkNode).catch((error: unknown) => {
        const meaning = meaningOf(error)
        if (meaning instanceof RefusedPayment) use.refused(proof, meaning.refusal)
        throw meaning
      })
    } catch (error) {
      inUse.delete(proof.challengeId)
      throw meaningOf(error)
    }
  }

  return {
    settle: async (gateway, offer, authorization, network) => {
      const use = await screen.begin(network)
      const proof = await readProofFor(offer, gateway, authorization, terms.challengeSecret).catch((error: unknown) => {
        throw error instanceof RefusedPayment ? use.refusalOf(error) : error
      })
      try {
        const settled = await settleAlone(gateway, proof, offer, use)
        use.clear()
        return settled
      } catch (error) {
        if (!(error instanceof RefusedPayment || error instanceof TooManyPaymentsError)) use.clear()
        throw error
      }
    },
    release: ({ challenge_id }, recorded) => {
      inUse.set(
        challenge_id,
        recorded.finally(() => inUse.delete(challenge_id)),
      )
    },
  }
}
