import type { ClickHouseClient } from '@clickhouse/client'
import type { DepthSample } from '../../clickhouse/depth/depth.js'
import { DEPTH_SIZES } from '../../clickhouse/peg/price.js'
import type { PegSample } from '../../clickhouse/peg/samples.js'
import { type Random, randomFor } from '../../local/chain/random.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin, type Tick } from './rows.js'

/** Times of blocks from `start` on for `seconds`: mostly seconds apart, some in the same second, some after a stall. */
export function blockTimes(seed: number, start: number, seconds: number): number[] {
  const random = randomFor(seed, 'block times')
  const times: number[] = []
  for (let at = start; at < start + seconds; at += random.chance(0.02) ? random.int(60, 900) : random.int(0, 40))
    times.push(at)
  return times
}

/** What a token costs where it sells for `sell`: nobody sells it, or it costs as much, or more, also by an odd number. */
const wildAsk = (random: Random, sell: number): number | null =>
  random.chance(0.1) ? null : sell + random.pick([0, 100, 101, 2501])

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
    const asks = randomFor(seed, 'wild asks', index)
    return pegSamples(stableAddress(index + 1), ticks, firstBlock).map((sample) =>
      sample.sell_micros === null ? sample : { ...sample, buy_micros: wildAsk(asks, sample.sell_micros) },
    )
  }).flat()
}

/** The same samples with stretches of blocks, long and short, in which nobody quotes a stable. */
export function withDrySpells(seed: number, samples: readonly PegSample[]): PegSample[] {
  const random = randomFor(seed, 'dry spells')
  const left = new Map<string, number>()
  return samples.map((sample) => {
    const before = left.get(sample.stable) ?? 0
    const dry = before > 0 ? before - 1 : random.chance(0.04) ? random.int(1, 20) : 0
    left.set(sample.stable, dry)
    return dry === 0 ? sample : { ...sample, status: 'no_liquidity', sell_micros: null, buy_micros: null }
  })
}

/**
 * What each size sells for and costs in the first block of each minute: mostly about as much as one token, sometimes less or more, sometimes
 * nothing.
 */
export function wildDepths(seed: number, samples: readonly PegSample[]): DepthSample[] {
  const random = randomFor(seed, 'wild depths')
  const asks = randomFor(seed, 'wild depth asks')
  const before = new Map<string, number>()
  return samples.flatMap(({ stable, block_number, block_time, sell_micros }) => {
    const minute = Math.floor(block_time / 60)
    if (before.get(stable) === minute) return []
    before.set(stable, minute)
    return DEPTH_SIZES.map((size_tokens): DepthSample => {
      const price = random.chance(0.8) ? (sell_micros ?? 990_000) : 1_000_000 + random.int(-6000, 6000)
      const sell_status = random.chance(0.9)
        ? 'quoted'
        : random.pick(['no_liquidity', 'no_liquidity', 'failed'] as const)
      const sell_raw = price * size_tokens + (random.int(-30, 30) * size_tokens) / 20
      const ask = wildAsk(asks, price)
      return {
        ...{ stable, block_number, block_time, size_tokens, sell_status },
        sell_raw: sell_status === 'quoted' ? `${sell_raw}` : null,
        buy_status: ask === null ? 'no_liquidity' : 'quoted',
        buy_raw: ask === null ? null : `${ask * size_tokens}`,
      }
    })
  })
}

/** Inserts samples, perhaps with those of depth, with their stables and the blocks at `times`. */
export async function addMarket(
  clickhouse: ClickHouseClient,
  samples: PegSample[],
  times: readonly number[],
  firstBlock = 1,
  depths: DepthSample[] = [],
): Promise<void> {
  const stables = [...new Set(samples.map(({ stable }) => stable))]
  if (firstBlock === 1)
    await addFacts(clickhouse, { stablecoins: stables.map((stable, i) => stablecoin(i, { stable })) })
  await addFacts(clickhouse, { samples, depths })
  await addBlocks(clickhouse, times, firstBlock)
}
