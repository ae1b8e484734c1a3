import { z } from 'zod'
import type { FactPosition } from '../chain/blocks.js'
import { isRecent, recentFirstByStable } from '../chain/recent-first.js'
import { BUCKET_COLUMNS, SeriesParams } from '../peg/series.js'
import { defineQuery } from '../store/define-query.js'
import { defineExport } from '../store/export.js'
import { keptWhile } from '../store/read-memory.js'
import { together } from '../store/together.js'
import { blockNumber, blockTimestamp, integerText, logIndex, txHash } from '../store/values.js'

/** A supply cap of this many base units means that there is no cap. */
export const UNCAPPED = 2n ** 128n - 1n

/** What changes a stable's supply. The token logs a burn once: by its holder, by the policy's block, or by its bridge. */
export const SUPPLY_CHANGES = ['mint', 'burn', 'burn_blocked', 'burn_at'] as const
export const SUPPLY_CHANGE_TEXT =
  'burn: burned by its holder; burn_blocked: burned from an account that the policy blocks; burn_at: burned from any account by a holder of BURN_AT_ROLE, as bridges do'

/** An event that changes a stable's supply, or its cap. `amount_raw` is in base units, as a decimal string. */
export type SupplyEvent = FactPosition & {
  kind: (typeof SUPPLY_CHANGES)[number] | 'cap'
  stable: string
  account: string
  amount_raw: string
}

export const SupplyEventRow = z.object({
  kind: z.enum([...SUPPLY_CHANGES, 'cap']).meta({ description: `${SUPPLY_CHANGE_TEXT}; cap: the cap changed` }),
  account: z.string().meta({
    description: 'The receiver of a mint, the holder whose tokens were burned, or the account that set the cap',
  }),
  amount: integerText.meta({ description: 'In base units: 6 decimals; the new cap for kind cap' }),
  block_number: blockNumber,
  log_index: logIndex,
  block_timestamp: blockTimestamp,
  tx_hash: txHash,
})

const recentEvents = recentFirstByStable(
  defineQuery({
    name: 'recent_supply_events',
    params: z.object({ stables: z.array(z.string()), at: z.date(), recent_only: z.boolean() }),
    row: SupplyEventRow.extend({ stable: z.string() }),
    sql: `
    SELECT stable, kind, account, toString(amount_raw) AS amount, toUInt32(block_number) AS block_number, log_index,
           block_time AS block_timestamp, tx_hash
    FROM supply_events
    WHERE stable IN {stables: Array(String)} AND block_time <= {at: DateTime} AND ${isRecent('block_time', 'at')}
    ORDER BY stable DESC, block_time DESC, supply_events.block_number DESC, log_index DESC
    LIMIT 10 BY stable`,
  }),
  (rows) => rows.length === 10,
)

/** A stable's last ten changes of supply or cap up to `at`, newest first. */
export const recentSupplyEvents = keptWhile(['supply_events'], together('recent_supply_events', recentEvents))

const NO_CAP = `toUInt256('${UNCAPPED}')`

/**
 * A stable's supply by bucket, oldest first, one row per bucket: supply and cap at its end, and what was minted and
 * burned within (start, end], in base units. Supply and cap are null if the state had not been read yet; the cap is
 * also null if there is none.
 */
export const supplySeries = defineExport({
  name: 'supply_series',
  params: SeriesParams,
  sql: `
    SELECT ${BUCKET_COLUMNS},
           toString(supply) AS supply, toString(nullIf(cap, ${NO_CAP})) AS cap,
           toString(minted) AS minted, toString(burned) AS burned
    FROM
    (
        SELECT bucket, argMax(supply, position) AS supply, argMax(cap, position) AS cap, sum(minted) AS minted, sum(burned) AS burned
        FROM
        (
            -- The state that stood when the first bucket began counts as read in it.
            SELECT greatest(intDiv(toUnixTimestamp(block_time) - 1, {interval: UInt32}) * {interval: UInt32}, toInt64({first: UInt32})) AS bucket,
                   toNullable(supply_raw) AS supply, toNullable(cap_raw) AS cap, (block_time, block_number) AS position,
                   toUInt256(0) AS minted, toUInt256(0) AS burned
            FROM state_reads
            WHERE stable = {stable: String} AND block_time <= {end: UInt32}
              AND block_time >= (SELECT max(block_time) FROM state_reads WHERE stable = {stable: String} AND block_time <= {first: UInt32})
            UNION ALL
            SELECT intDiv(toUnixTimestamp(block_time) - 1, {interval: UInt32}) * {interval: UInt32}, NULL, NULL, (block_time, block_number),
                   if(kind = 'mint', amount_raw, 0), if(kind = 'mint', 0, amount_raw)
            FROM supply_events
            WHERE stable = {stable: String} AND block_time > {first: UInt32} AND block_time <= {end: UInt32} AND kind != 'cap'
        )
        GROUP BY bucket
        ORDER BY bucket WITH FILL FROM {first: UInt32} TO {end: UInt32} STEP {interval: UInt32} INTERPOLATE (supply, cap)
    )
    WHERE bucket < {end: UInt32}
    ORDER BY bucket`,
})

/** Mints minus burns of each stable in the blocks (after, to], in base units; no row for a stable without either. */
export const mintedSupply = defineQuery({
  name: 'minted_supply',
  params: z.object({ after: z.int(), to: z.int() }),
  row: z.object({ stable: z.string(), change_raw: integerText }),
  sql: `
    SELECT stable, toString(sum(if(kind = 'mint', toInt256(amount_raw), -toInt256(amount_raw)))) AS change_raw
    FROM supply_events
    WHERE kind != 'cap' AND block_number > {after: UInt64} AND block_number <= {to: UInt64}
    GROUP BY stable`,
})
