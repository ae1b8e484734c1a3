import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../../store/define-query.js'
import { insertRows } from '../../store/insert.js'
import { type BreakTracks, breakList } from '../breaks.js'
import { type AgreedBreak, agreedPrices, continueTracks, type TrackStates, trackStatesAt } from './tracks.js'

/** A break as stored; the columns are described in the migration. Times in unix seconds. */
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

const keyOf = ({ stable, severity, started_at, started_block }: StoredBreak | AgreedBreak): string =>
  `${stable} ${severity} ${started_at} ${started_block}`

/**
 * Writes what a slot, whose samples are later than `after`, has found and knows. Deletes what slots of earlier revisions
 * have found from there on, except what is found again. A repeat replaces the rows with the same: it has a token of its
 * own, because an engine that is killed between a token and its rows would take the repeat for a duplicate.
 */
export async function insertTracks(
  clickhouse: ClickHouseClient,
  { breaks, states }: { breaks: readonly AgreedBreak[]; states: TrackStates },
  { after, at, revision }: { after: Date; at: Date; revision: number },
): Promise<void> {
  const slot_at = at.getTime() / 1000
  const keys = new Set(breaks.map(keyOf))
  const outdated = await outdatedBreaks(clickhouse, { revision, after })
  const rows = [
    ...outdated.filter((row) => !keys.has(keyOf(row))).map((row) => ({ ...row, is_deleted: 1 })),
    ...breaks.map((found) => ({ ...stored(found), is_deleted: 0 })),
  ]
  const token = `${slot_at}:${revision}:${randomUUID()}`
  await insertRows(
    clickhouse,
    'agreed_breaks',
    rows.map((row) => ({ ...row, revision, slot_at })),
    token,
  )
  await insertRows(clickhouse, 'peg_track_states', [{ slot_at, revision, states: JSON.stringify(states) }], token)
}

/** The agreed tracks. What a break in progress is at a time is found by going on from the slot before it. */
export const AGREED_LIST: BreakTracks = {
  list: breakList('agreed_breaks'),
  maximum: async (clickhouse, { stable, severity, to, ...start }, options) => {
    const newest = await trackStatesAt(clickhouse, { at: to }, options)
    const before = newest?.states[stable]
    if (!newest || !before) return null
    const range = { from: newest.slot_at, to: to.getTime() / 1000, only: stable }
    const { breaks } = continueTracks({ [stable]: before }, await agreedPrices(clickhouse, range, options))
    const found = breaks.find((one) => one.severity === severity && one.started_block === start.started_block)
    return found ? stored(found).max_deviation_micros : null
  },
}
