import { createHash } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME } from '../../process/instants.js'
import { defineQuery } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { insertRows } from '../store/insert.js'
import { integerText, unixSeconds } from '../store/values.js'

/** Later than anything that was published. */
const KNOWN_NOW = new Date(END_OF_TIME * 1000)

/** The parameter `known_at` of a read of what jobs have published; null or omitted: what is known by now. */
export const KnownAt = z
  .date()
  .nullish()
  .transform((instant) => instant ?? KNOWN_NOW)

const notRolledBack = (rollbacks: string): string =>
  `NOT arrayExists(rollback -> rollback.1 > revision AND rollback.2 <= slot_at,
                      (SELECT groupUniqArray((history_revisions.revision, kept_time)) FROM history_revisions WHERE ${rollbacks}))`

/**
 * The condition under which a row of a snapshot table was shown at the instant of the parameter `known_at`: it had been
 * published, and no rollback known by then had removed its inputs. `kept_time` is the time of the last block that a
 * rollback keeps, and blocks of that same second may have been removed. A backfill does not withdraw a row; its slot is
 * done again instead. A backfill may reach back for months, and the row is not wrong but incomplete.
 */
export const SHOWN = `published_at <= {known_at: DateTime64(3)}
      AND ${notRolledBack('is_rollback AND recorded_at <= {known_at: DateTime64(3)}')}`

/** The order in which the first of several shown rows of the same stable and slot is the one that counts. */
export const NEWEST_REVISION = 'revision DESC, published_at DESC'

/** What every row of a snapshot table has. Times in unix seconds. */
type Figures = { stable: string; slot_at: number; revision: number }

/** What publishing adds to a row. */
export type Published = { published_at: string; figures_hash: string }

/** A hash of everything that a row says, whichever revision says it. */
function hashOf({ revision: _, ...figures }: Figures): string {
  const text = JSON.stringify(Object.entries(figures).sort(([a], [b]) => (a < b ? -1 : 1)))
  return createHash('sha256').update(text).digest().readBigUInt64BE().toString()
}

/** Publishes the rows of a slot at an instant and resolves to how many of them were new. */
type Publish<Row> = (
  clickhouse: ClickHouseClient,
  rows: readonly Row[],
  slot: { at: Date; token: string },
  at: Date,
) => Promise<number>

/**
 * How a slot's rows are published in a snapshot table. A row is added if the slot shows nothing yet for its stable, or
 * something else; if it shows the same figures, they were published when they were first, and nothing is added. So a
 * repeat adds nothing, whenever the run before was killed, and a slot that is done again adds only what has changed. No
 * row is ever replaced. A row is published later than all other rows of its stable and slot, even if the clock was set
 * back.
 */
export function publisher<Row extends Figures>(table: string): Publish<Row> {
  const shown = defineQuery({
    name: `published_${table}`,
    params: z.object({ slot_at: z.date(), stables: z.array(z.string()) }),
    row: z.object({
      stable: z.string(),
      figures_hash: integerText,
      is_shown: z.boolean(),
      newest_ms: integerText.transform(Number),
    }),
    sql: `
      SELECT stable, toString(figures_hash) AS figures_hash, (${notRolledBack('is_rollback')})::Bool AS is_shown,
             toUnixTimestamp64Milli(max(published_at) OVER (PARTITION BY stable)) AS newest_ms
      FROM ${table}
      WHERE stable IN {stables: Array(String)} AND slot_at = {slot_at: DateTime}
      ORDER BY stable, ${NEWEST_REVISION}
      LIMIT 1 BY stable`,
  })
  return async (clickhouse, rows, slot, at) => {
    const stables = rows.map(({ stable }) => stable)
    const before = await inParts(stables, (part) => shown(clickhouse, { slot_at: slot.at, stables: part }))
    const rowOf = new Map(before.map((row) => [row.stable, row]))
    const changed = rows.flatMap((row) => {
      const before = rowOf.get(row.stable)
      const figures_hash = hashOf(row)
      if (before?.is_shown && before.figures_hash === figures_hash) return []
      const published_at = unixSeconds(new Date(Math.max(at.getTime(), (before?.newest_ms ?? 0) + 1)))
      return [{ ...row, published_at, figures_hash }]
    })
    // A repeat by another version of the program may have other figures: they must not pass for the first ones.
    const contents = createHash('sha256')
      .update(changed.map(({ figures_hash }) => figures_hash).join())
      .digest('hex')
    await insertRows(clickhouse, table, changed, `${slot.token}:${contents.slice(0, 16)}`)
    return changed.length
  }
}
