import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { KnownAt, NEWEST_REVISION, SHOWN } from '../jobs/publications.js'
import { defineQuery } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { integerText } from '../store/values.js'
import { hhiOf } from './figures.js'

const amount = integerText.transform(BigInt)

/**
 * Of each stable of which something was transferred: how many accounts have a balance, the sum of the balances, and what was
 * added to and removed from the sum of their squares. Only the accounts that have changed since a stable's newest snapshot are
 * added up; the others count as they were kept.
 */
const balanceSquares = defineQuery({
  name: 'balance_squares',
  params: z.object({ stables: z.array(z.string()), at: z.date(), known_at: KnownAt }),
  row: z.object({ stable: z.string(), n: z.int(), sum: amount, added: amount, removed: amount }),
  sql: `
    WITH
        snapshots AS
        (
            SELECT stable, slot_at, snapshot_id FROM holder_snapshots
            WHERE stable IN {stables: Array(String)} AND slot_at <= {at: DateTime} AND ${SHOWN}
            ORDER BY slot_at DESC, ${NEWEST_REVISION} LIMIT 1 BY stable
        ),
        changes AS
        (
            SELECT stable, toFixedString(unhex(substring(account, 3)), 20) AS holder, sum(amount) AS since
            FROM
            (
                SELECT stable, sender, recipient, amount_raw
                FROM transfers INNER JOIN (SELECT stable, slot_at FROM snapshots) AS kept_at USING stable
                -- Of each stable the days since its snapshot, which the order of the table finds at once.
                WHERE (stable, toDate(block_time)) IN
                      (
                          SELECT stable, toDate(arrayJoin(range(toUInt32(toDate(slot_at)), toUInt32(toDate({at: DateTime})) + 1)))
                          FROM snapshots
                      )
                  AND block_time > kept_at.slot_at AND block_time <= {at: DateTime}
                UNION ALL
                SELECT stable, sender, recipient, amount_raw FROM transfers
                WHERE stable IN {stables: Array(String)} AND stable NOT IN (SELECT stable FROM snapshots) AND block_time <= {at: DateTime}
            )
            ARRAY JOIN [sender, recipient] AS account, [bitNot(amount_raw) + 1, amount_raw] AS amount
            WHERE account != '0x0000000000000000000000000000000000000000'
            GROUP BY stable, account
        )
    SELECT stable, toInt32(sum(n)) AS n, toString(sum(toUInt256(plus)) - sum(toUInt256(minus))) AS sum,
           toString(sum(square_plus)) AS added, toString(sum(square_minus)) AS removed
    FROM
    (
        SELECT toString(stable) AS stable, toInt64(1) AS n, toUInt128(balance_raw) AS plus, toUInt128(0) AS minus,
               toUInt256(balance_raw) * balance_raw AS square_plus, toUInt256(0) AS square_minus
        FROM holder_balances WHERE (stable, slot_at, snapshot_id) IN (SELECT stable, slot_at, snapshot_id FROM snapshots)
        UNION ALL
        SELECT toString(stable) AS stable, toInt64(balance > 0) - toInt64(before > 0) AS n, balance AS plus, before AS minus,
               toUInt256(balance) * balance AS square_plus, toUInt256(before) * before AS square_minus
        FROM
        (
            SELECT stable, toUInt128(balance_raw) AS before, toUInt128(balance_raw + since) AS balance
            FROM changes
            LEFT JOIN
            (
                SELECT stable, holder, balance_raw FROM holder_balances
                WHERE (stable, slot_at, snapshot_id) IN (SELECT stable, slot_at, snapshot_id FROM snapshots)
                  AND holder IN (SELECT holder FROM changes)
            ) AS kept USING (stable, holder)
        )
    )
    GROUP BY stable`,
})

/** How concentrated a stable's supply is, in base units, and how many accounts hold it; the index is null if nobody does. */
export type Concentration = { holder_count: number; supply: bigint; hhi: number | null }

/**
 * The Herfindahl-Hirschman index of the holders of each of `stables` at an instant, in one statement for 2,000 of them. Every
 * transfer of theirs must be stored; a supply that was there before the first transfer is in none of the figures.
 */
export async function concentrations(
  clickhouse: ClickHouseClient,
  params: { stables: readonly string[]; at: Date },
): Promise<ReadonlyMap<string, Concentration>> {
  if (params.stables.length === 0) return new Map()
  const rows = await inParts(params.stables, (stables) => balanceSquares(clickhouse, { at: params.at, stables }))
  const found = new Map(rows.map((row) => [row.stable, row]))
  return new Map(
    params.stables.map((stable) => {
      const { n: holder_count = 0, sum = 0n, added = 0n, removed = 0n } = found.get(stable) ?? {}
      return [stable, { holder_count, supply: sum, hhi: hhiOf({ sum, squares: added - removed }) }]
    }),
  )
}
