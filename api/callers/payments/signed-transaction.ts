import { fromRlp, type Hex, isAddress, keccak256, toRlp } from 'viem'
import { Transaction } from 'viem/tempo'

/** A signed Tempo transaction, as far as payments read it. */
export type SignedTransaction = {
  /** In the canonical form that nodes return, because signatures can be encoded in several ways. */
  hash: Hex
  /** Whether viem, which mppx sends it with, makes another transaction of it than was signed. */
  isAltered: boolean
  chainId: number
  /** Who sends it, as the transaction says; lower case, empty if it does not. */
  from: string
  /** Whose signature it has, in lower case; null for other signatures than secp256k1. */
  signer: () => string | null
}

type Fields = readonly (Hex | Fields)[]

/** The position of the fee payer's signature. Before there is one, it is 0x00 or the sender's address. */
const FEE_PAYER_SIGNATURE = 11
const NO_SIGNATURE_YET = '0x00'
/** Fields that may be any uint64 on the chain, but are JavaScript numbers in viem and mppx, by position. */
const NUMBERS = [
  ['nonce', 7],
  ['validBefore', 8],
  ['validAfter', 9],
] as const

/** The fields as they were signed, with every digit. Throws if it is not RLP. */
function fieldsOf(serialized: Hex): Fields {
  const fields = fromRlp(`0x${serialized.slice(4)}`, 'hex') as Hex | Fields
  if (!Array.isArray(fields)) throw new Error('a transaction is a list of fields')
  return fields
}

const serializedWith = (prefix: string, fields: Fields): Hex => `${prefix}${toRlp(fields as never).slice(2)}` as Hex

/**
 * The field that has a number of 2^53 or more, null if none has. viem rounds such a number, and mppx sends what viem
 * makes of a transaction: that would be another one than was signed. Throws if the transaction cannot be read.
 */
export function unsafeNumberOf(serialized: Hex): string | null {
  const fields = fieldsOf(serialized)
  const isUnsafe = (field: Hex | Fields | undefined): boolean =>
    typeof field === 'string' && field !== '0x' && BigInt(field) > BigInt(Number.MAX_SAFE_INTEGER)
  return NUMBERS.find(([, position]) => isUnsafe(fields[position]))?.[0] ?? null
}

/**
 * Whose signature it is. The sender that the transaction names proves nothing, since it may be written in the place of
 * the fee payer's signature, and a passkey or an access key names its account.
 */
function signerOf(fields: Fields): string | null {
  const isNamed = isAddress(`${fields[FEE_PAYER_SIGNATURE]}`, { strict: false })
  const unnamed = fields.map((field, i) => (i === FEE_PAYER_SIGNATURE && isNamed ? NO_SIGNATURE_YET : field))
  const { from, signature } = Transaction.deserialize(
    serializedWith('0x76', unnamed) as Transaction.TransactionSerializedTempo,
  )
  return signature?.type === 'secp256k1' ? (from?.toLowerCase() ?? null) : null
}

/**
 * Reads a signed transaction. The hash is that of the fields as they were signed, whatever viem makes of them; only the
 * encoding of the signatures is viem's. Throws if it cannot be read.
 */
export async function readSignedTransaction(serialized: Hex): Promise<SignedTransaction> {
  const fields = fieldsOf(serialized)
  const transaction = Transaction.deserialize(serialized as Transaction.TransactionSerializedTempo)
  const canonical = (await Transaction.serialize(transaction)) as Hex
  const canonicalFields = fieldsOf(canonical)
  const signature = canonicalFields.at(-1) as Hex
  const feePayerSignature = canonicalFields[FEE_PAYER_SIGNATURE] as Hex
  const signed = fields.with(-1, signature).with(FEE_PAYER_SIGNATURE, feePayerSignature)
  const hash = keccak256(serializedWith(canonical.slice(0, 4), signed))
  return {
    hash,
    isAltered: hash !== keccak256(canonical),
    chainId: transaction.chainId,
    from: transaction.from?.toLowerCase() ?? '',
    signer: () => signerOf(fields),
  }
}
