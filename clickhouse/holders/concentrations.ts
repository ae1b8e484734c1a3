import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { KnownAt, NEWEST_REVISION, SHOWN } from '../jobs/publications.js'
import { defineQuery } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { dateTime, integerText } from '../store/values.js'
import { hhiOf } from './figures.js'

const amount = integerText.transform(BigInt)

/** The newest snapshot of each stable up to an instant. */
const newestSnapshots = defineQuery({
  name: 'newest_holder_snapshots',
  params: z.object({ stables: z.array(z.string()), at: z.date(), known_at: KnownAt }),
  row: z.object({ stable: z.string(), slot_at: dateTime, snapshot_id: integerText }),
  sql: `
    SELECT stable, slot_at, toString(snapshot_id) AS snapshot_id FROM holder_snapshots
    WHERE stable IN {stables: Array(String)} AND slot_at <= {at: DateTime} AND ${SHOWN}
    ORDER BY slot_at DESC, ${NEWEST_REVISION} LIMIT 1 BY stable`,
})

/** What is added up of a stable's accounts: how many, their balances, and the squares that are added and removed. */
const Sums = z.object({ stable: z.string(), n: z.int(), sum: amount, added: amount, removed: amount })

const Snapshots = z.object({ kept: z.array(z.string()), slots: z.array(z.date()), ids: z.array(z.coerce.bigint()) })

const IN_SNAPSHOT = `(stable, slot_at, snapshot_id) IN
        (SELECT arrayJoin(arrayZip({kept: Array(String)}, {slots: Array(DateTime('UTC'))}, {ids: Array(UInt64)})))`

/** The sums over the balances of snapshots, as they were kept. */
const keptSquares = defineQuery({
  name: 'kept_balance_squares',
  params: Snapshots,
  row: Sums,
  sql: `
    SELECT stable, toInt32(count()) AS n, toString(sum(toUInt256(balance_raw))) AS sum,
           toString(sum(toUInt256(balance_raw) * balance_raw)) AS added, '0' AS removed
    FROM holder_balances WHERE ${IN_SNAPSHOT}
    GROUP BY stable`,
})

/** What the accounts that have changed since their stable's snapshot, or ever if it has none, change in these sums. */
const changedSquares = defineQuery({
  name: 'changed_balance_squares',
  params: Snapshots.extend({ stables: z.array(z.string()), at: z.date() }),
  row: Sums,
  sql: `
    WITH changes AS
        (
            SELECT stable, toFixedString(unhex(substring(account, 3)), 20) AS holder, sum(amount) AS since
            FROM
            (
                -- Of each stable the days since its snapshot, which the order of the table finds at once.
                SELECT stable, sender, recipient, amount_raw FROM transfers
                WHERE (stable, toDate(block_time)) IN
                      (
                          SELECT one.1, toDate(arrayJoin(range(toUInt32(toDate(one.2)), toUInt32(toDate({at: DateTime})) + 1)))
                          FROM (SELECT arrayJoin(arrayZip({kept: Array(String)}, {slots: Array(DateTime('UTC'))})) AS one)
                      )
                  AND block_time > transform(toString(stable), {kept: Array(String)}, {slots: Array(DateTime('UTC'))}, toDateTime(0, 'UTC'))
                  AND block_time <= {at: DateTime}
                UNION ALL
                SELECT stable, sender, recipient, amount_raw FROM transfers
                WHERE stable IN {stables: Array(String)} AND NOT has({kept: Array(String)}, stable) AND block_time <= {at: DateTime}
            )
            ARRAY JOIN [sender, recipient] AS account, [bitNot(amount_raw) + 1, amount_raw] AS amount
            WHERE account != '0x0000000000000000000000000000000000000000'
            GROUP BY stable, account
        )
    SELECT stable, toInt32(sum(toInt64(balance > 0) - toInt64(before > 0))) AS n,
           toString(toInt256(sum(toUInt256(balance))) - toInt256(sum(toUInt256(before)))) AS sum,
           toString(sum(toUInt256(balance) * balance)) AS added, toString(sum(toUInt256(before) * before)) AS removed
    FROM
    (
        SELECT toString(stable) AS stable, toUInt128(balance_raw) AS before, toUInt128(balance_raw + since) AS balance
        FROM changes
        LEFT JOIN
        (
            SELECT stable, holder, balance_raw FROM holder_balances
            WHERE ${IN_SNAPSHOT} AND holder IN (SELECT holder FROM changes)
        ) AS kept USING (stable, holder)
    )
    GROUP BY stable`,
})

/** How concentrated a stable's supply is, in base units, and how many accounts hold it; the index is null if nobody does. */
export type Concentration = { holder_count: number; supply: bigint; hhi: number | null }

/**
 * The Herfindahl-Hirschman index of the holders of each of `stables` at an instant, in three statements for 2,000 of them. Only
 * the accounts that have changed since a stable's newest snapshot are added up; the others count as they were kept. Every transfer of theirs must be stored; a supply that was there before the first transfer is in none of the figures.
 */
export async function concentrations(
  clickhouse: ClickHouseClient,
  params: { stables: readonly string[]; at: Date },
): Promise<ReadonlyMap<string, Concentration>> {
  if (params.stables.length === 0) return new Map()
  const { at } = params
  const rows = await inParts(params.stables, async (stables) => {
    const snapshots = await newestSnapshots(clickhouse, { stables, at })
    const kept = {
      kept: snapshots.map(({ stable }) => stable),
      slots: snapshots.map(({ slot_at }) => slot_at),
      ids: snapshots.map(({ snapshot_id }) => snapshot_id),
    }
    const [before, changes] = await Promise.all([
      snapshots.length > 0 ? keptSquares(clickhouse, kept) : [],
      changedSquares(clickhouse, { ...kept, stables, at }),
    ])
    return [...before, ...changes]
  })
  const sumsOf = new Map<string, Omit<z.output<typeof Sums>, 'stable'>>()
  for (const { stable, n, sum, added, removed } of rows) {
    const before = sumsOf.get(stable) ?? { n: 0, sum: 0n, added: 0n, removed: 0n }
    sumsOf.set(stable, {
      n: before.n + n,
      sum: before.sum + sum,
      added: before.added + added,
      removed: before.removed + removed,
    })
  }
  return new Map(
    params.stables.map((stable) => {
      const { n: holder_count = 0, sum = 0n, added = 0n, removed = 0n } = sumsOf.get(stable) ?? {}
      return [stable, { holder_count, supply: sum, hhi: hhiOf({ sum, squares: added - removed }) }]
    }),
  )
}
