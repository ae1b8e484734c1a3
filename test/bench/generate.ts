import type { ClickHouseClient } from '@clickhouse/client'
import { FAMILIES, insertCommittedBatch } from '../../clickhouse/chain/batches.js'
import { insertFacts } from '../../clickhouse/facts/facts.js'
import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'

export type GeneratedSamples = {
  stables: number
  /** Samples of each stable. */
  samples: number
  perSecond: number
  /** Unix time of the last sample. */
  end: number
}

export const generatedStable = (i: number): string => `0x20c0${(i + 1).toString(16).padStart(36, '0')}`

/**
 * Fills a database with samples of a market in which every stable gets a new quote every 15 seconds or so, some basis
 * points from 1, and leaves the 10 bps band now and then. The same arguments give the same rows.
 */
export async function generateSamples(
  clickhouse: ClickHouseClient,
  { stables, samples, perSecond, end }: GeneratedSamples,
): Promise<void> {
  const start = end - Math.floor((samples - 1) / perSecond)
  await insertFacts(
    clickhouse,
    'stablecoins',
    Array.from({ length: stables }, (_, i) => ({
      stable: generatedStable(i),
      symbol: `G${i}`,
      name: `Generated ${i}`,
      currency: 'USD',
      truncated: [],
      quote_token: REFERENCE_STABLE,
      admin: '',
      block_number: 0,
      log_index: i,
      block_time: start,
      tx_hash: '',
    })),
    'generated',
  )
  for (let i = 0; i < stables; i++) {
    const quote = `cityHash64(intDiv(block, ${15 * perSecond}) + cityHash64(${i}, intDiv(block, ${7 * perSecond})) % 3, ${i})`
    await clickhouse.command({
      query: `
        INSERT INTO peg_samples (stable, block_number, block_time, elapsed_seconds, status, sell_micros, buy_micros)
        SELECT '${generatedStable(i)}', number + 1 AS block, toDateTime(${start} + intDiv(number, ${perSecond}), 'UTC'),
               number > 0 AND number % ${perSecond} = 0, 'quoted', price, price + 200
        FROM (SELECT number, number + 1 AS block, 1000000 + toInt32(${quote} % 9) * 100 - 600 - if(intDiv(block, ${3600 * perSecond}) % 5 = 0 AND block % ${3600 * perSecond} < ${600 * perSecond}, 1500, 0) AS price
              FROM numbers(${samples}))`,
      clickhouse_settings: { max_insert_block_size: '1048576', max_execution_time: 600 },
    })
  }
  const block = { block_hash: '', parent_hash: '', tx_count: 0, log_count: 0 }
  await insertFacts(
    clickhouse,
    'blocks',
    // History begins at the first of them.
    [
      { ...block, block_number: 1, block_time: start },
      { ...block, block_number: samples, block_time: end },
    ],
    'generated',
  )
  const batch = { track: 'tip', sequence_number: 1, from_block: 1, to_block: samples, last_hash: '', writer: '' }
  await insertCommittedBatch(clickhouse, { ...batch, families: FAMILIES, stables: [] })
}
