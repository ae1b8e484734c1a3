import type { ClickHouseClient } from '@clickhouse/client'
import type { Memories } from '../../process/memory.js'
import type { Ledger } from '../chain/ledger.js'
import type { QuerySignal } from '../store/define-query.js'
import { QuoteStatus } from './price.js'
import { type SamplesOfMinutes, samplesOfMinutes } from './samples.js'
import { createSettledParts } from './settled.js'

type Options = { signal?: QuerySignal }

/** A sample as the sums of windows need it; `at` in unix seconds. */
type SampleAt = {
  at: number
  elapsed_seconds: number
  block_number: number
  status: QuoteStatus
  sell_micros: number | null
  buy_micros: number | null
}

/** Reads a stable's samples up to `until`, in unix seconds, in the minutes that end at `minute_ends`; in no order. */
export type ReadSamples = (
  clickhouse: ClickHouseClient,
  asked: { stable: string; until: number; minute_ends: readonly number[] },
  options?: Options,
) => Promise<SampleAt[]>

const FIELDS = 6
/** No price is as large. */
const NO_PRICE = 0xffffffff
const STATUSES = QuoteStatus.options

/** The samples of one minute: their fields one after another. */
type Minute = Uint32Array

const minuteEnd = (at: number): number => Math.ceil(at / 60) * 60

/** The samples by the end of their minute. */
function minutesOf(samples: SamplesOfMinutes): Map<number, Minute> {
  const rows = new Map<number, number[]>()
  for (const [row, at] of samples.at.entries()) {
    const end = minuteEnd(at)
    const those = rows.get(end)
    if (those) those.push(row)
    else rows.set(end, [row])
  }
  return new Map(
    [...rows].map(([end, own]) => {
      const minute = new Uint32Array(own.length * FIELDS)
      for (const [i, row] of own.entries())
        minute.set(
          [
            samples.at[row] as number,
            samples.elapsed_seconds[row] as number,
            samples.block_number[row] as number,
            STATUSES.indexOf(samples.status[row] as QuoteStatus),
            samples.sell_micros[row] ?? NO_PRICE,
            samples.buy_micros[row] ?? NO_PRICE,
          ],
          i * FIELDS,
        )
      return [end, minute]
    }),
  )
}

const price = (value: number): number | null => (value === NO_PRICE ? null : value)

function samplesIn(minutes: Iterable<Minute>, until: number): SampleAt[] {
  const samples: SampleAt[] = []
  for (const minute of minutes)
    for (let i = 0; i < minute.length; i += FIELDS) {
      const at = minute[i] as number
      if (at > until) continue
      samples.push({
        at,
        elapsed_seconds: minute[i + 1] as number,
        block_number: minute[i + 2] as number,
        status: STATUSES[minute[i + 3] as number] as QuoteStatus,
        sell_micros: price(minute[i + 4] as number),
        buy_micros: price(minute[i + 5] as number),
      })
    }
  return samples
}

/** Reads all of them. */
export const readSamples: ReadSamples = async (clickhouse, { stable, until, minute_ends }, options) => {
  const request = { stable, minute_ends: [...minute_ends], around: [] }
  const { samples } = await samplesOfMinutes(clickhouse, request, options)
  return samplesIn(minutesOf(samples).values(), until)
}

/** What a minute takes besides its samples, in bytes: its key and what the engine and the cache add. */
const MINUTE_BYTES = 500
/**
 * When a second answer needs one of the same ten minutes, in seconds, all of these are read, which halves the time of
 * answers about instants close to each other; for a first one it would take half as long again.
 */
const AROUND_SECONDS = 600
/** Most tens of minutes of which it is kept that an answer has needed them. */
const MOST_TENS = 20_000

const NONE: Minute = new Uint32Array()

/**
 * Reads samples with a memory of up to `maxBytes`: `given` a ledger that was read before, an answer only needs a statement
 * if one of its minutes is not kept as far as it needs it.
 */
export function createEdgeSamples(memories: Memories, maxBytes: number): (ledger: Ledger) => ReadSamples {
  const kept = createSettledParts<Minute>(memories, {
    name: 'peg_samples',
    holds: 'the samples of a stable in a minute',
    maxBytes,
    bytesOf: ({ byteLength }) => MINUTE_BYTES + byteLength,
    seconds: 60,
    stepSeconds: 1,
  })
  const needed = memories.entries<string, 'yes'>({
    name: 'needed_minutes',
    holds: 'which ten minutes of a stable an answer has needed',
    until: 'always: it decides how much is read at once',
    max: MOST_TENS,
  })

  /** The minutes in the same tens as `missing` that are stored and that an earlier answer was near. */
  function around(stable: string, missing: readonly number[], settledUntil: (end: number) => number): number[] {
    const tens = new Set(missing.map((end) => Math.ceil(end / AROUND_SECONDS) * AROUND_SECONDS))
    const again = [...tens].filter((last) => needed.get(`${stable} ${last}`))
    for (const last of tens) needed.set(`${stable} ${last}`, 'yes')
    return again
      .flatMap((last) => Array.from({ length: AROUND_SECONDS / 60 }, (_, i) => last - AROUND_SECONDS + 60 * (i + 1)))
      .filter((end) => settledUntil(end) > end - 60 && !missing.includes(end))
  }

  return (ledger) =>
    async (clickhouse, { stable, until, minute_ends }, options) => {
      const { find, keep, settledUntil } = kept(ledger, stable)
      const minutes = new Map(minute_ends.map((end) => [end, find(end, until)]))
      const missing = minute_ends.filter((end) => minutes.get(end) === undefined)
      if (missing.length > 0) {
        const request = { stable, minute_ends: missing, around: around(stable, missing, settledUntil) }
        const { samples, minute_ends: read } = await samplesOfMinutes(clickhouse, request, options)
        const byEnd = minutesOf(samples)
        for (const end of missing) minutes.set(end, byEnd.get(end) ?? NONE)
        for (const end of read) keep(end, byEnd.get(end) ?? NONE)
      }
      return samplesIn(
        [...minutes.values()].map((minute) => minute ?? NONE),
        until,
      )
    }
}
