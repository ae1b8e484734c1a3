import { createHash } from 'node:crypto'
import { Challenge, Credential, PaymentRequest } from 'mppx'
import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { RefusedPayment } from './refused-payment.js'
import { readSignedTransaction, type SignedTransaction, unsafeNumberOf } from './signed-transaction.js'

/** A credential for one of our challenges, not yet checked against the chain. */
export type Proof = {
  credential: Credential.Credential
  challengeId: string
  /** Identifies the payment, however it is encoded. */
  digest: string
  mode: 'pull' | 'push'
  /** Lower case; empty if the credential does not name it. */
  payer: string
  /** Whose signature a transaction has, in lower case; null for a hash, and for other signatures than secp256k1. */
  signer: () => string | null
  txHash: Hex
  /** The token that the challenge asks for; lower case. */
  currency: Address
  scope: string
  nonce: string
}

const Payload = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hash'), hash: z.string().regex(/^0x[0-9a-fA-F]{64}$/) }),
  z.object({ type: z.literal('transaction'), signature: z.string().regex(/^0x7[68][0-9a-fA-F]+$/) }),
])

const PAYER = /^did:pkh:eip155:\d+:(0x[0-9a-fA-F]{40})$/

/** What mppx calls the scope of a challenge. */
const Meta = z.object({ _mppx_scope: z.string(), nonce: z.string() })

const malformed = (detail: string, cause?: unknown) =>
  new RefusedPayment({ kind: 'malformed-credential', detail }, cause)

/** The transaction of a payload. Throws RefusedPayment if it cannot be read, or cannot be sent as it was signed. */
async function readTransaction(serialized: Hex, chainId: number): Promise<SignedTransaction> {
  const unreadable = (cause: unknown): never => {
    throw new RefusedPayment({ kind: 'invalid-payload', detail: 'the transaction cannot be read' }, cause)
  }
  let unsafe: string | null = null
  try {
    unsafe = unsafeNumberOf(serialized)
  } catch (cause) {
    unreadable(cause)
  }
  if (unsafe !== null)
    throw new RefusedPayment({
      kind: 'number-too-large',
      detail: `the transaction’s ${unsafe} is 2^53 or more, and this service cannot send such a transaction as it was signed; nothing was sent. Sign one with a smaller ${unsafe}, or send it yourself and present its hash`,
    })
  const transaction = await readSignedTransaction(serialized).catch(unreadable)
  if (transaction.isAltered)
    throw new RefusedPayment({
      kind: 'number-too-large',
      detail:
        'the transaction has a field that this service cannot send as it was signed, such as a number of 2^53 or more; nothing was sent. Send it yourself and present its hash',
    })
  if (transaction.chainId !== chainId)
    throw new RefusedPayment({
      kind: 'verification-failed',
      detail: `the transaction is for chain ${transaction.chainId}; payments are made on chain ${chainId}`,
    })
  return transaction
}

/** Whether an Authorization header answers one of our challenges, with any content. */
export function isOurs(authorization: string, secretKey: string): boolean {
  try {
    return Challenge.verify(Credential.deserialize(authorization).challenge, { secretKey })
  } catch {
    return false
  }
}

/**
 * Parses an Authorization header with the scheme Payment. Throws RefusedPayment if it is not a credential, or answers a
 * challenge that is not ours: the id of a challenge proves all of its fields.
 */
export async function readProof(authorization: string, secretKey: string, chainId: number): Promise<Proof> {
  let credential: Credential.Credential
  try {
    credential = Credential.deserialize(authorization)
  } catch (cause) {
    throw malformed('the credential is not base64url-encoded JSON with a challenge and a payload', cause)
  }
  const { challenge, source } = credential
  if (!Challenge.verify(challenge, { secretKey }))
    throw new RefusedPayment({ kind: 'invalid-challenge', detail: 'the challenge was not issued by this service' })
  const meta = Meta.parse(PaymentRequest.deserialize(challenge.opaque ?? ''))
  const payload = Payload.safeParse(credential.payload)
  if (!payload.success)
    throw new RefusedPayment({
      kind: 'invalid-payload',
      detail: 'the payload must be a signed Tempo transaction or the hash of one',
    })
  const { data } = payload
  const claimed = (PAYER.exec(source ?? '')?.[1] ?? '').toLowerCase()
  const { hash, from, signer } =
    data.type === 'hash'
      ? { hash: data.hash.toLowerCase() as Hex, from: claimed, signer: () => null }
      : await readTransaction(data.signature as Hex, chainId)
  return {
    credential,
    challengeId: challenge.id,
    digest: createHash('sha256').update(`${challenge.id} ${data.type} ${hash}`).digest('hex'),
    mode: data.type === 'hash' ? 'push' : 'pull',
    payer: from,
    signer,
    txHash: hash,
    currency: `${challenge.request.currency}`.toLowerCase() as Address,
    scope: meta._mppx_scope,
    nonce: meta.nonce,
  }
}
