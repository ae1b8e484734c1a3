import { createHash } from 'node:crypto'
import { Challenge, Credential, PaymentRequest } from 'mppx'
import { type Hex, keccak256 } from 'viem'
import { Transaction } from 'viem/tempo'
import { z } from 'zod'
import { RefusedPayment } from './refused-payment.js'

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
  signer: () => Promise<string | null>
  txHash: Hex
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

/**
 * The transaction's hash in the canonical form that nodes return, because signatures can be encoded in several ways.
 */
async function readTransaction(
  serialized: Hex,
  chainId: number,
): Promise<Pick<Proof, 'payer' | 'signer'> & { hash: Hex }> {
  let transaction: Transaction.TransactionSerializableTempo
  let hash: Hex
  try {
    transaction = Transaction.deserialize(serialized as Transaction.TransactionSerializedTempo)
    hash = keccak256((await Transaction.serialize(transaction)) as Hex)
  } catch (cause) {
    throw new RefusedPayment({ kind: 'invalid-payload', detail: 'the transaction cannot be read' }, cause)
  }
  if (transaction.chainId !== chainId)
    throw new RefusedPayment({
      kind: 'verification-failed',
      detail: `the transaction is for chain ${transaction.chainId}; payments are made on chain ${chainId}`,
    })
  return { hash, payer: transaction.from?.toLowerCase() ?? '', signer: () => signerOf(transaction) }
}

/**
 * Whose signature a transaction has; null if that cannot be recovered from it. `from` proves nothing: it may be written
 * in the transaction, and a passkey or an access key names its account.
 */
async function signerOf(transaction: Transaction.TransactionSerializableTempo): Promise<string | null> {
  if (transaction.signature?.type !== 'secp256k1') return null
  const { from: _, ...unnamed } = transaction
  const serialized = await Transaction.serialize(unnamed as Transaction.TransactionSerializableTempo)
  const { from } = Transaction.deserialize(serialized as Transaction.TransactionSerializedTempo)
  return from?.toLowerCase() ?? null
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
  const { hash, payer, signer } =
    data.type === 'hash'
      ? { hash: data.hash.toLowerCase() as Hex, payer: claimed, signer: async () => null }
      : await readTransaction(data.signature as Hex, chainId)
  return {
    credential,
    challengeId: challenge.id,
    digest: createHash('sha256').update(`${challenge.id} ${data.type} ${hash}`).digest('hex'),
    mode: data.type === 'hash' ? 'push' : 'pull',
    payer,
    signer,
    txHash: hash,
    scope: meta._mppx_scope,
    nonce: meta.nonce,
  }
}
