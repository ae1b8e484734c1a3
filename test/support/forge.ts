import { concatHex, encodeAbiParameters, type Hex, numberToHex } from 'viem'

const byte = (value: number): Hex => numberToHex(value, { size: 1 })

/**
 * Code of a contract that emits any log with `topicCount` topics, 1 to 4. Calldata: the topics, then the log's data.
 */
export const forgeCode = (topicCount: number): Hex =>
  concatHex([
    // The data is everything after the topics. It is copied to memory; its size stays on the stack.
    ...(['0x60', byte(32 * topicCount), '0x80360380916000'] as const),
    '0x37',
    // The topics, last first.
    ...Array.from({ length: topicCount }, (_, i): Hex => concatHex(['0x60', byte(32 * (topicCount - 1 - i)), '0x35'])),
    byte(0x80 + topicCount),
    ...(['0x6000', byte(0xa0 + topicCount), '0x00'] as const),
  ])

/** Calldata for this contract. */
export const forgeCall = (topics: readonly Hex[], data: Hex): Hex => concatHex([...topics, data])

/** A valid value of an ABI type, as large as it allows: `account` for addresses and true for booleans. */
export function largestOf(type: string, account: Hex): unknown {
  if (type === 'address') return account
  if (type === 'bool') return true
  if (type === 'string') return 'forged'
  if (type === 'bytes') return '0xff'
  const [, kind, digits] = /^(uint|int|bytes)(\d+)$/.exec(type) ?? []
  const size = Number(digits)
  if (kind === 'bytes') return `0x${'ff'.repeat(size)}`
  const value = 2n ** BigInt(kind === 'int' ? size - 1 : size) - 1n
  return size <= 48 ? Number(value) : value
}

/** One word or more in ABI encoding. */
export const encoded = (type: string, value: unknown): Hex => encodeAbiParameters([{ type }], [value])
