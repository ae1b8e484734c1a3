import { z } from 'zod'
import { REFERENCE_STABLE } from '../peg/price.js'
import { type ByPegWindow, byPegWindow, LONGEST_PEG_WINDOW, PEG_WINDOWS } from '../peg/windows.js'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'
import { usd } from './flows.js'

const sum = integerText.transform(BigInt)

/**
 * Sums over the trades of a window: how many have a value, their tokens in base units, their value in millionths of a base unit of
 * the reference stable, and how many have none.
 */
const TradeSums = z.object({ trades: sum, base_raw: sum, value: sum, unvalued: sum })
type TradeSums = z.output<typeof TradeSums>

const NO_TRADES: TradeSums = { trades: 0n, base_raw: 0n, value: 0n, unvalued: 0n }

/** The fills of the longest window. */
const FILLS = `
  base = {stable: String} AND maker != taker AND block_time > {as_of: DateTime} - ${LONGEST_PEG_WINDOW} AND block_time <= {as_of: DateTime}`

const tradeSums = defineQuery({
  name: 'trade_sums_at',
  params: z.object({ stable: z.string(), as_of: z.date() }),
  row: TradeSums.extend({ seconds: z.int() }),
  sql: `
    SELECT seconds, toString(countIf(micros > 0)) AS trades, toString(sumIf(toUInt256(priced.base_raw), micros > 0)) AS base_raw,
           toString(sum(toUInt256(quote_raw) * micros)) AS value, toString(countIf(micros = 0)) AS unvalued
    FROM
    (
        SELECT fills.block_time AS block_time, base_raw, quote_raw,
               if(quote = '${REFERENCE_STABLE}', 1000000, prices.micros) AS micros
        FROM (SELECT block_number, block_time, quote, base_raw, quote_raw FROM dex_fills WHERE ${FILLS}) AS fills
        LEFT JOIN
        (
            SELECT stable AS token, block_number, ifNull(sell_micros, 0) AS micros FROM peg_samples
            WHERE stable IN (SELECT DISTINCT quote FROM dex_fills WHERE ${FILLS} AND quote != '${REFERENCE_STABLE}')
              AND block_time IN (SELECT DISTINCT block_time FROM dex_fills WHERE ${FILLS} AND quote != '${REFERENCE_STABLE}')
        ) AS prices ON prices.token = fills.quote AND prices.block_number = fills.block_number
    ) AS priced
    ARRAY JOIN [${PEG_WINDOWS.map(({ seconds }) => `toUInt32(${seconds})`).join(', ')}] AS seconds
    WHERE block_time > {as_of: DateTime} - seconds
    GROUP BY seconds`,
})

/**
 * The sums over a stable's trades in each peg window as of an instant. A trade is one fill of an order on the book of
 * the stable and its quote token, unless the order was the taker's own. Its value is the amount of the quote token at that
 * token's price in the sample of the block. Rejects with QueryError.
 */
export async function tradeSumsAt(...read: Parameters<typeof tradeSums>): Promise<ByPegWindow<TradeSums>> {
  const rows = await tradeSums(...read)
  return byPegWindow(({ seconds }) => rows.find((row) => row.seconds === seconds) ?? NO_TRADES)
}

/**
 * The volume-weighted average price, rounded to 8 decimals, halves up, with the trades that it is made of; null without any.
 * Trades without a value are only counted.
 */
export function volumeWeighted({ trades, base_raw, value, unvalued }: TradeSums) {
  return {
    vwap: base_raw === 0n ? null : Number((200n * value + base_raw) / (2n * base_raw)) / 1e8,
    trade_count: Number(trades),
    unvalued_trade_count: Number(unvalued),
    volume_tokens: Number(base_raw) / 1e6,
    volume_usd: usd(value / 1_000_000n),
  }
}
