import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../../store/define-query.js'
import { insertRows } from '../../store/insert.js'
import { type AllTracks, breaksOfAll } from '../all-breaks.js'
import { type BreakTracks, breakList } from '../breaks.js'
import { AGREED_PRICE } from './rules.js'
import { stablePrices } from './stable-prices.js'
import { type AgreedBreak, continueTracks, type TracksAtSlot, trackStatesAt } from './tracks.js'

/** A break as stored; the columns are described in clickhouse/schema. Times in unix seconds. */
const StoredBreak = z.object({
  stable: z.string(),
  severity: z.enum(['mild', 'severe']),
  started_at: z.int(),
  started_block: z.int(),
  confirmed_at: z.int(),
  ended_at: z.int().nullable(),
  ended_block: z.int().nullable(),
  direction: z.enum(['below', 'above']),
  max_deviation_micros: z.int(),
})
type StoredBreak = z.infer<typeof StoredBreak>

/** The breaks whose row is from a slot after `after` and a revision before `revision`. */
const outdatedBreaks = defineQuery({
  name: 'outdated_agreed_breaks',
  params: z.object({ revision: z.int(), after: z.date() }),
  row: StoredBreak,
  // The skip index finds only keys: applied to the rows as well, it might skip a newer row of a key.
  sql: `
    SELECT stable, severity, toUnixTimestamp(started_at) AS started_at, toUInt32(started_block) AS started_block,
           toUnixTimestamp(confirmed_at) AS confirmed_at, toUnixTimestamp(ended_at) AS ended_at,
           toUInt32(ended_block) AS ended_block, direction, max_deviation_micros
    FROM agreed_breaks FINAL
    WHERE revision < {revision: UInt32} AND slot_at > {after: DateTime}
      AND (stable, severity, started_at, started_block) IN
          (SELECT stable, severity, started_at, started_block FROM agreed_breaks WHERE slot_at > {after: DateTime})
    SETTINGS use_skip_indexes_if_final = 0`,
})

/** A break as its row has it. */
const stored = ({ kind: _, seen: __, max_deviation_bps, ...found }: AgreedBreak): StoredBreak => ({
  ...found,
  max_deviation_micros: Math.round(max_deviation_bps * 100),
})

type Key = Pick<StoredBreak, 'stable' | 'severity' | 'started_at' | 'started_block'>

const keyOf = ({ stable, severity, started_at, started_block }: Key): string =>
  `${stable} ${severity} ${started_at} ${started_block}`

/**
 * Writes what slots have found and know: of a break, what the last of them knows. `after` is the time after which the samples of
 * the first one begin. Deletes what slots of earlier revisions have found from there on, except what is found again. A repeat
 * replaces the rows with the same: it has a token of its own, because an engine that is killed between a token and its rows
 * would take the repeat for a duplicate.
 */
export async function insertTracks(
  clickhouse: ClickHouseClient,
  slots: readonly (TracksAtSlot & { at: Date })[],
  { after, revision }: { after: Date; revision: number },
): Promise<void> {
  const secondsOf = ({ at }: { at: Date }): number => at.getTime() / 1000
  const [first] = slots
  if (!first) return
  const newest = new Map(
    slots.flatMap((slot) =>
      slot.breaks.map(
        (found) => [keyOf(found), { ...stored(found), slot_at: secondsOf(slot), is_deleted: 0 }] as const,
      ),
    ),
  )
  const outdated = await outdatedBreaks(clickhouse, { revision, after })
  const rows = [
    ...outdated
      .filter((row) => !newest.has(keyOf(row)))
      .map((row) => ({ ...row, slot_at: secondsOf(first), is_deleted: 1 })),
    ...newest.values(),
  ]
  const token = `${secondsOf(first)}:${revision}:${randomUUID()}`
  await insertRows(
    clickhouse,
    'agreed_breaks',
    rows.map((row) => ({ ...row, revision })),
    token,
  )
  const states = slots.map((slot) => ({ slot_at: secondsOf(slot), revision, states: JSON.stringify(slot.states) }))
  await insertRows(clickhouse, 'peg_track_states', states, token)
}

/** The agreed tracks. What a break in progress is at a time is found by going on from the slot before it. */
export const AGREED_LIST: BreakTracks = {
  list: breakList('agreed_breaks'),
  maximum: async (clickhouse, { stable, severity, to, ...start }, options) => {
    const newest = await trackStatesAt(clickhouse, { at: to }, options)
    const before = newest?.states[stable]
    if (!newest || !before) return null
    const end = to.getTime() / 1000
    const range = { from: newest.slot_at, to: end, only: stable }
    const samples = await stablePrices(clickhouse, AGREED_PRICE, range, options)
    const [tracks] = continueTracks({ [stable]: before }, samples, [end])
    const found = tracks?.breaks.find((one) => one.severity === severity && one.started_block === start.started_block)
    return found ? stored(found).max_deviation_micros : null
  },
}

/** The agreed tracks of all stables. */
export const ALL_AGREED: AllTracks = {
  list: breaksOfAll('agreed_breaks'),
  maxima: async (clickhouse, { breaks, to }, options) => {
    const newest = await trackStatesAt(clickhouse, { at: to }, options)
    if (!newest) return breaks.map(() => null)
    const end = to.getTime() / 1000
    const samples = await stablePrices(clickhouse, AGREED_PRICE, { from: newest.slot_at, to: end }, options)
    const [tracks] = continueTracks(newest.states, samples, [end])
    const largest = new Map(tracks?.breaks.map((found) => [keyOf(found), stored(found).max_deviation_micros]))
    return breaks.map(
      ({ started_at, ...one }) => largest.get(keyOf({ ...one, started_at: started_at.getTime() / 1000 })) ?? null,
    )
  },
}
