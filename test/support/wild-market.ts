import type { ClickHouseClient } from '@clickhouse/client'
import type { PegSample } from '../../clickhouse/peg/samples.js'
import { randomFor } from '../../local/chain/random.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin, type Tick } from './rows.js'

/** Times of blocks from `start` on for `seconds`: mostly seconds apart, some in the same second, some after a stall. */
export function blockTimes(seed: number, start: number, seconds: number): number[] {
  const random = randomFor(seed, 'block times')
  const times: number[] = []
  for (let at = start; at < start + seconds; at += random.chance(0.02) ? random.int(60, 900) : random.int(0, 40))
    times.push(at)
  return times
}

/** Samples of stables with all kinds of prices: long and short deviations, at the thresholds, and without quotes. */
export function wildSamples(seed: number, stables: number, times: readonly number[], firstBlock = 1): PegSample[] {
  return Array.from({ length: stables }, (_, index) => {
    const random = randomFor(seed, 'wild prices', index)
    let [mood, left] = [0, 0]
    const ticks = times.map((at): Tick => {
      if (left-- <= 0) [mood, left] = [random.pick([0, 500, 1000, 1001, 3000, 5000, 5001, 9000]), random.int(0, 25)]
      const price = 1_000_000 + (random.chance(0.3) ? 1 : -1) * Math.max(0, mood - random.int(0, 1))
      return { at, price: random.chance(0.1) ? random.pick(['no_liquidity', 'paused'] as const) : price }
    })
    return pegSamples(stableAddress(index + 1), ticks, firstBlock)
  }).flat()
}

/** Inserts samples with their stables and the blocks at `times`. */
export async function addMarket(
  clickhouse: ClickHouseClient,
  samples: PegSample[],
  times: readonly number[],
  firstBlock = 1,
): Promise<void> {
  const stables = [...new Set(samples.map(({ stable }) => stable))]
  if (firstBlock === 1)
    await addFacts(clickhouse, { stablecoins: stables.map((stable, i) => stablecoin(i, { stable })) })
  await addFacts(clickhouse, { samples })
  await addBlocks(clickhouse, times, firstBlock)
}
