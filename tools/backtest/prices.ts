import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { type PriceOf, pricesSql } from '../../clickhouse/peg/agreed/prices.js'
import { PRICE_BYTES } from '../../clickhouse/peg/agreed/stable-prices.js'
import { defineQuery, onlyColumn } from '../../clickhouse/store/define-query.js'
import { streamOf } from '../../clickhouse/store/export.js'

/** A stretch of time in unix seconds: after `from`, up to and including `to`. */
export type Range = { from: number; to: number }

/** The stables that had a price of their own in a range, by address. The reference stable has none: it is 1 by definition. */
export const pricedStables = defineQuery({
  name: 'priced_stables',
  params: z.object({ from: z.int(), to: z.int() }),
  row: onlyColumn('stable', z.string()),
  sql: `
    SELECT DISTINCT toString(stable) AS stable FROM peg_samples
    WHERE block_time > toDateTime({from: UInt32}, 'UTC') AND block_time <= toDateTime({to: UInt32}, 'UTC') AND status = 'quoted'
    ORDER BY stable`,
})

/** In binary: two UInt32 and an Int32. */
const statement = (price: PriceOf): string => `
  SELECT toUnixTimestamp(block_time), toUInt32(block_number), distance
  FROM (${pricesSql(price, 'stable = {stable: String}')})
  ORDER BY block_time, block_number FORMAT RowBinary`

/**
 * What a token of a stable sold for in a range, in order of the blocks: the time in unix seconds, the block and the distance
 * from 1 in millionths, or UNQUOTED, in turn. In binary, since a year has 31 million. Rejects with QueryError.
 */
export async function* pricesOf(
  clickhouse: ClickHouseClient,
  { stable, from, to, ...price }: Range & PriceOf & { stable: string },
  signal: AbortSignal,
): AsyncGenerator<Int32Array> {
  const stream = await streamOf(clickhouse, {
    name: 'backtest_prices',
    sql: statement(price),
    query_params: { stable, from, to },
    signal,
  })
  let unread: Buffer = Buffer.alloc(0)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([unread, chunk])
    const whole = bytes.length - (bytes.length % PRICE_BYTES)
    unread = bytes.subarray(whole)
    // A copy, since the numbers must be aligned. Times fit into 31 bits until 2038, and so do blocks.
    yield new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + whole))
  }
}
