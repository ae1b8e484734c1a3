import { MAX_SAMPLE_SECONDS, REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import type { PegSample } from '../../clickhouse/peg/samples.js'
import type { SampledStable } from '../knowledge/registry.js'
import type { BlockWithLogs } from '../sources/blocks.js'
import type { Quote } from '../sources/quotes.js'

const ANCHOR: Quote = { status: 'anchor', sellMicros: 1_000_000, buyMicros: 1_000_000 }
const NOT_USD: Quote = { status: 'not_usd', sellMicros: null, buyMicros: null }
const TOO_DEEP: Quote = { status: 'too_deep', sellMicros: null, buyMicros: null }

/** Whether the DEX is asked for quotes of a stable: not for the reference stable itself, nor for other currencies. */
export const isQuoted = ({ stable, currency }: Pick<SampledStable, 'stable' | 'currency'>): boolean =>
  stable !== REFERENCE_STABLE && currency === 'USD'

/**
 * One sample for each of `stables` in a block, in their order. `quotes` holds the quotes by address, except those of the
 * stables in `tooDeep`, which were not requested. A sample covers the time since the previous block; a stable's first
 * sample covers no time: in its block of creation, in the first one read with a list that has it, or in the first block.
 */
export function samplePeg(
  block: Pick<BlockWithLogs, 'number' | 'time' | 'parentTime'>,
  stables: readonly SampledStable[],
  quotes: ReadonlyMap<string, Quote>,
  tooDeep: ReadonlySet<string>,
  firstBlock: number,
): PegSample[] {
  return stables.map((stable) => {
    const { status, sellMicros, buyMicros } = isQuoted(stable)
      ? tooDeep.has(stable.stable)
        ? TOO_DEEP
        : (quotes.get(stable.stable) as Quote)
      : stable.stable === REFERENCE_STABLE
        ? ANCHOR
        : NOT_USD
    const isFirst = block.number <= Math.max(stable.sampled_from, firstBlock)
    return {
      stable: stable.stable,
      block_number: block.number,
      block_time: block.time,
      elapsed_seconds: isFirst ? 0 : Math.min(block.time - block.parentTime, MAX_SAMPLE_SECONDS),
      status,
      sell_micros: sellMicros,
      buy_micros: buyMicros,
    }
  })
}
