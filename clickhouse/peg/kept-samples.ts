import type { ClickHouseClient } from '@clickhouse/client'
import { LRUCache } from 'lru-cache'
import type { Ledger } from '../chain/ledger.js'
import type { QuerySignal } from '../store/define-query.js'
import { QuoteStatus } from './price.js'
import { type SamplesOfMinutes, samplesOfMinutes } from './samples.js'
import { KEPT_MS, settledFor } from './settled.js'

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
  const asked = { stable, minute_ends: [...minute_ends], around: [] }
  const { samples } = await samplesOfMinutes(clickhouse, asked, options)
  return samplesIn(minutesOf(samples).values(), until)
}

/** Those that a process keeps, for answers that were begun with a ledger, and the bytes that they take. */
export type KnownSamples = { given: (ledger: Ledger) => ReadSamples; bytes: () => number }

/** What a minute takes besides its samples, in bytes: its key and what the engine and the cache add. */
const MINUTE_BYTES = 500
/**
 * When a second answer needs one of the same ten minutes, in seconds, all of these are read: for a first one that would
 * take half as long again.
 */
const AROUND_SECONDS = 600
/** Most tens of minutes of which it is remembered that an answer has needed them. */
const MOST_TENS = 20_000

const NONE: Minute = new Uint32Array()

/**
 * Keeps minutes up to the last second of which everything is stored, up to `maxBytes`: as long as the ledger has the same
 * revision those samples do not change. `given` a ledger that was read before, an answer only needs a statement if one of
 * its minutes is not kept as far as it needs it.
 */
export function createKeptSamples(maxBytes: number): KnownSamples {
  const kept = new LRUCache<string, { minute: Minute; storedUntil: number; revision: string }>({
    maxSize: maxBytes,
    sizeCalculation: ({ minute }) => MINUTE_BYTES + minute.byteLength,
    ttl: KEPT_MS,
  })
  const needed = new LRUCache<string, true>({ max: MOST_TENS })
  return {
    bytes: () => kept.calculatedSize,
    given:
      (ledger) =>
      async (clickhouse, { stable, until, minute_ends }, options) => {
        const storedUntil = settledFor(ledger, stable)
        const found = new Map<number, Minute>()
        const missing: number[] = []
        for (const end of minute_ends) {
          const known = kept.get(`${stable} ${end}`)
          if (known?.revision === ledger.revision && known.storedUntil >= Math.min(end, until))
            found.set(end, known.minute)
          else missing.push(end)
        }
        if (missing.length === 0) return samplesIn(found.values(), until)
        const around = new Set<number>()
        const isAsked = new Map<number, boolean>()
        for (const end of missing) {
          const last = Math.ceil(end / AROUND_SECONDS) * AROUND_SECONDS
          if (!isAsked.has(last)) isAsked.set(last, needed.get(`${stable} ${last}`) ?? false)
          if (!isAsked.get(last)) continue
          for (let near = last - AROUND_SECONDS + 60; near <= last; near += 60)
            if (storedUntil(near - 60) > near - 60) around.add(near)
        }
        for (const end of missing) around.delete(end)
        for (const last of isAsked.keys()) needed.set(`${stable} ${last}`, true)
        const asked = { stable, minute_ends: missing, around: [...around] }
        const { samples, minute_ends: read } = await samplesOfMinutes(clickhouse, asked, options)
        const minutes = minutesOf(samples)
        for (const end of missing) found.set(end, minutes.get(end) ?? NONE)
        for (const end of read) {
          const stored = storedUntil(end - 60)
          if (stored > end - 60)
            kept.set(`${stable} ${end}`, {
              minute: minutes.get(end) ?? NONE,
              storedUntil: Math.min(end, stored),
              revision: ledger.revision,
            })
        }
        return samplesIn(found.values(), until)
      },
  }
}
