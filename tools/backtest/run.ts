import type { ClickHouseClient } from '@clickhouse/client'
import { MAX_DEPTH_SECONDS, type PriceOf } from '../../clickhouse/peg/agreed/prices.js'
import { PRICE_NUMBERS } from '../../clickhouse/peg/agreed/stable-prices.js'
import { BreakFinder, type FoundBreak } from '../../clickhouse/peg/hysteresis.js'
import { MAX_SAMPLE_SECONDS } from '../../clickhouse/peg/price.js'
import type { Detector } from './detectors.js'
import { pricesOf, type Range } from './prices.js'

/** What a detector found in the samples of a stable. */
export type StableRun = {
  stable: string
  breaks: FoundBreak[]
  samples: number
  /** Seconds that samples speak for. */
  measured_seconds: number
  /** Stretches of the range that no sample speaks for. */
  gaps: Range[]
}

/** Adds up which time of a range is measured. */
class Measured {
  samples = 0
  seconds = 0
  readonly gaps: Range[] = []
  #until: number
  readonly #range: Range
  readonly #most: number

  constructor(range: Range, mostSeconds: number) {
    this.#range = range
    this.#until = range.from
    this.#most = mostSeconds
  }

  /** A sample speaks for the time before it: since the sample before, at most `most` seconds. */
  add(time: number): void {
    this.samples++
    const from = Math.max(this.#until, time - this.#most)
    if (from > this.#until) this.gaps.push({ from: this.#until, to: from })
    this.seconds += time - from
    this.#until = time
  }

  end(): void {
    // The end of the range need not be the time of a block.
    if (this.#range.to - this.#until > this.#most) this.gaps.push({ from: this.#until, to: this.#range.to })
  }
}

/**
 * Runs detectors over the stored samples of a stable in a range, in one pass for each kind of price. In the order of the detectors.
 * The break of a detector begins in the range: one in progress at its start is found late. Rejects with QueryError.
 */
export async function runDetectors(
  clickhouse: ClickHouseClient,
  detectors: readonly Detector[],
  { stable, ...range }: Range & { stable: string },
  signal: AbortSignal,
): Promise<StableRun[]> {
  const finders = detectors.map((detector) => new BreakFinder(detector))
  /** A price is read once for all detectors that follow it. */
  const passes = new Map<string, PriceOf & { finders: BreakFinder[]; time: Measured }>()
  const keyOf = ({ price, size_tokens, agree_tokens }: PriceOf): string => `${price} ${size_tokens} ${agree_tokens}`
  for (const [i, { price, size_tokens, agree_tokens }] of detectors.entries()) {
    const followed = { price, size_tokens, agree_tokens }
    const time = new Measured(range, size_tokens === 1 ? MAX_SAMPLE_SECONDS : MAX_DEPTH_SECONDS)
    const pass = passes.get(keyOf(followed)) ?? { ...followed, finders: [], time }
    pass.finders.push(finders[i] as BreakFinder)
    passes.set(keyOf(followed), pass)
  }
  for (const { finders, time, ...followed } of passes.values()) {
    for await (const rows of pricesOf(clickhouse, { stable, ...followed, ...range }, signal)) {
      for (let at = 0; at < rows.length; at += PRICE_NUMBERS) {
        const [seconds, block, deviation] = [rows[at] as number, rows[at + 1] as number, rows[at + 2] as number]
        time.add(seconds)
        for (const finder of finders) finder.add(seconds, block, deviation)
      }
    }
    time.end()
  }
  return detectors.map((detector, i) => {
    const { samples, seconds, gaps } = (passes.get(keyOf(detector)) as { time: Measured }).time
    return { stable, breaks: (finders[i] as BreakFinder).found(), samples, measured_seconds: seconds, gaps }
  })
}
