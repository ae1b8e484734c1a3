import { PlumblineError } from '../../process/errors.js'

/** A fact that its column cannot hold. ClickHouse would store it modulo the column's size, without an error. */
class FactTooLargeError extends PlumblineError {
  constructor(table: string, column: string, bits: number, row: Record<string, unknown>) {
    const { block_number: block, log_index: log } = row
    super(
      `${table}.${column} of block ${block}${log === undefined ? '' : `, log ${log}`} is ${row[column]}, which is not an unsigned integer of ${bits} bits: nothing of this batch is stored`,
      { retryable: false },
    )
  }
}

/** Digits of which every number fits into this many bits. */
const DIGITS_THAT_FIT = new Map([32, 64, 128, 256].map((bits) => [bits, `${2n ** BigInt(bits)}`.length - 1]))

const isInteger = (text: string): boolean => /^\d+$/.test(text)

/** Throws FactTooLargeError if a value of these rows does not fit into its column, whose size is in `columns` in bits. */
export function checkWidths(table: string, columns: Readonly<Record<string, number>>, rows: readonly object[]): void {
  for (const [column, bits] of Object.entries(columns)) {
    const fitting = DIGITS_THAT_FIT.get(bits) as number
    for (const row of rows as readonly Record<string, unknown>[]) {
      const value = row[column]
      if (value === null || value === undefined) continue
      const text = String(value)
      if (!isInteger(text) || (text.length > fitting && BigInt(text) >= 2n ** BigInt(bits)))
        throw new FactTooLargeError(table, column, bits, row)
    }
  }
}
