import type { ClickHouseClient } from '@clickhouse/client'
import type { QuerySignal } from '../../store/define-query.js'
import { streamOf } from '../../store/export.js'
import type { BreakFinder } from '../hysteresis.js'
import { REFERENCE_STABLE } from '../price.js'
import { type PriceOf, pricesSql } from './prices.js'

/** The numbers of a price: its time in unix seconds, its block, and its distance from 1 in millionths or UNQUOTED. */
export const PRICE_NUMBERS = 3
export const PRICE_BYTES = 4 * PRICE_NUMBERS

/** The prices of a stable in order of their blocks, the numbers of each in turn. */
export type StablePrices = { stable: string; prices: Int32Array }

/** In binary: a name, a count, and as many prices. */
const statement = (price: PriceOf): string => `
  SELECT toString(stable),
         arraySort(price -> bitOr(bitShiftLeft(toUInt64(price.1), 32), price.2),
                   groupArray((toUnixTimestamp(block_time), toUInt32(block_number), distance)))
  FROM (${pricesSql(price, `stable != '${REFERENCE_STABLE}' AND (stable = {only: String} OR {only: String} = '')`)})
  GROUP BY stable FORMAT RowBinary`

const never = new AbortController().signal

/**
 * The prices of every stable, or of `only`, after `from` up to and including `to`, in unix seconds. Without those of the
 * reference stable, which are 1 by definition. Rejects with QueryError.
 */
export async function stablePrices(
  clickhouse: ClickHouseClient,
  price: PriceOf,
  { from, to, only = '' }: { from: number; to: number; only?: string },
  { signal = never }: { signal?: QuerySignal } = {},
): Promise<StablePrices[]> {
  const query_params = { from, to, only }
  const stream = await streamOf(clickhouse, { name: 'stable_prices', sql: statement(price), query_params, signal })
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return decoded(Buffer.concat(chunks))
}

/** The prices in an answer. Throws if the answer ends before the last of them. */
function decoded(bytes: Buffer): StablePrices[] {
  let at = 0
  const size = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes.readUInt8(at++)
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }
  const part = (length: number): Buffer => {
    at += length
    if (at > bytes.length) throw new RangeError(`${length} bytes of prices were announced, and the answer has fewer`)
    return bytes.subarray(at - length, at)
  }
  const series: StablePrices[] = []
  while (at < bytes.length) {
    const stable = part(size()).toString()
    const priceBytes = part(size() * PRICE_BYTES)
    // A copy, since the numbers must be aligned. Times fit into 31 bits until 2038, and so do blocks.
    series.push({ stable, prices: new Int32Array(Uint8Array.from(priceBytes).buffer) })
  }
  return series
}

/** Reads the prices of a stable slot by slot. */
export class PriceCursor {
  #at = 0
  readonly #prices: Int32Array

  constructor(prices: Int32Array) {
    this.#prices = prices
  }

  /** Adds the prices that follow, up to and including a time, to each finder. Returns how many they were. */
  addUntil(end: number, finders: readonly BreakFinder[]): number {
    const prices = this.#prices
    const from = this.#at
    for (; this.#at < prices.length && (prices[this.#at] as number) <= end; this.#at += PRICE_NUMBERS)
      for (const finder of finders)
        finder.add(prices[this.#at] as number, prices[this.#at + 1] as number, prices[this.#at + 2] as number)
    return (this.#at - from) / PRICE_NUMBERS
  }
}
