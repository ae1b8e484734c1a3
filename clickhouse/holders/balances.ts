import { z } from 'zod'
import { KnownAt, NEWEST_REVISION, SHOWN } from '../jobs/publications.js'
import { defineOptionalRow, defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { integerText } from '../store/values.js'
import { CUSTODIANS, ZONE_PORTAL_PREFIX } from './transfers.js'

const count = z.int().nonnegative()

/** Balances that are kept: those of a stable at `slot_at`, under the number `snapshot_id`. `supply` is their sum. */
export type Snapshot = { slot_at: number; snapshot_id: string; holder_count: number; supply: string }

/** What stands for the snapshot of a stable that has none: nobody holds anything before the first transfer. */
export const NO_SNAPSHOT: Snapshot = { slot_at: 0, snapshot_id: '0', holder_count: 0, supply: '0' }

/** A stable's newest snapshot at or before an instant; null if there is none. `slot_at` in unix seconds. */
export const newestSnapshot = defineOptionalRow({
  name: 'newest_holder_snapshot',
  params: z.object({ stable: z.string(), at: z.date(), known_at: KnownAt }),
  row: z.object({ slot_at: count, snapshot_id: integerText, holder_count: count, supply: integerText }),
  sql: `
    SELECT toUnixTimestamp(slot_at) AS slot_at, toString(snapshot_id) AS snapshot_id, toUInt32(holder_count) AS holder_count,
           toString(supply_raw) AS supply
    FROM holder_snapshots
    WHERE stable = {stable: String} AND holder_snapshots.slot_at <= {at: DateTime} AND ${SHOWN}
    ORDER BY holder_snapshots.slot_at DESC, ${NEWEST_REVISION} LIMIT 1`,
})

/**
 * A stable at an instant, the newest block that counts, the snapshot to begin with, and where a window begins that ends at the
 * instant.
 */
export const Held = z.object({
  stable: z.string(),
  at: z.date(),
  to_block: count,
  slot_at: count,
  snapshot_id: integerText,
  from: count,
})
/** The condition that a transfer is after a time in SQL and up to the instant and the newest block. */
const after = (time: string): string =>
  `stable = {stable: String} AND block_time > toDateTime(${time}, 'UTC') AND block_time <= {at: DateTime} AND block_number <= {to_block: UInt64}`

/**
 * What each account has at the instant, with what it has gained in the window. Amounts have 128 bits and wrap around: what is
 * sent is added as its complement, so that every sum of all of an account's transfers is right.
 */
export const BALANCES = `
    SELECT holder, kept.balance_raw + since AS balance, gained
    FROM
    (
        SELECT holder, balance_raw FROM holder_balances
        WHERE stable = {stable: String} AND slot_at = toDateTime({slot_at: UInt32}, 'UTC') AND snapshot_id = {snapshot_id: UInt64}
    ) AS kept
    FULL JOIN
    (
        SELECT toFixedString(unhex(substring(account, 3)), 20) AS holder,
               sumIf(amount, block_time > toDateTime({slot_at: UInt32}, 'UTC')) AS since,
               sumIf(amount, block_time > toDateTime({from: UInt32}, 'UTC')) AS gained
        FROM
        (
            SELECT account, amount, block_time FROM transfers
            ARRAY JOIN [sender, recipient] AS account, [bitNot(amount_raw) + 1, amount_raw] AS amount
            WHERE ${after('least({slot_at: UInt32}, {from: UInt32})')}
        )
        WHERE account != '0x0000000000000000000000000000000000000000'
        GROUP BY account
    ) AS changes USING holder`

/** Most of the largest holders that an answer has; shares are of ten and of as many. */
export const MOST_HOLDERS = 100

const IS_FOR_ITSELF = `holder NOT IN (${CUSTODIANS.map((address) => `unhex('${address.slice(2)}')`).join(', ')})`

/**
 * The sums from which the figures are made; the largest holders first, of equal ones by address. `rank_sum` is the sum of
 * each balance times its rank from the largest, `squares` of each squared. `gains` and `losses` are what accounts, without the
 * custodians, have more, or less, at the end of the window than at its start.
 */
export const holderSums = defineRow({
  name: 'holder_sums',
  params: Held,
  row: z.object({
    holder_count: count,
    sum: integerText,
    squares: integerText,
    rank_sum: integerText,
    top: z.array(z.object({ address: z.string(), balance: integerText })),
    new_holders: count,
    leaving_holders: count,
    gains: integerText,
    losses: integerText,
  }),
  // Rows are numbered as they come, in order: a window function takes longer than the rest. Texts are made of the largest only.
  sql: `
    SELECT toUInt32(countIf(balance > 0)) AS holder_count, toString(sum(toUInt256(balance))) AS sum,
           toString(sum(toUInt256(balance) * balance)) AS squares, toString(sum(toUInt256(balance) * rank)) AS rank_sum,
           arrayMap(one -> CAST((concat('0x', lower(hex(one.1))), toString(one.2)), 'Tuple(address String, balance String)'),
                    groupArrayIf((holder, balance), rank <= ${MOST_HOLDERS} AND balance > 0)) AS top,
           toUInt32(countIf(balance > 0 AND before = 0)) AS new_holders, toUInt32(countIf(balance = 0 AND before > 0)) AS leaving_holders,
           toString(sumIf(gained, balance > before AND ${IS_FOR_ITSELF})) AS gains,
           toString(sumIf(bitNot(gained) + 1, balance < before AND ${IS_FOR_ITSELF})) AS losses
    FROM
    (
        SELECT holder, balance, gained, balance + bitNot(gained) + 1 AS before, rowNumberInAllBlocks() + 1 AS rank
        FROM (SELECT holder, balance, gained FROM (${BALANCES}) ORDER BY balance DESC, holder)
    )`,
})

/** Smaller balances are dust, of which anybody may send some to any number of accounts: one token, in base units. */
const DUST_RAW = 1_000_000

/**
 * The sums over the holders of a token or more that are not among these contracts, nor a zone's portal. A pass of its own: a rank
 * is of those that count. Their addresses are not a subquery, with which the engine does not keep the order.
 */
export const sumsWithoutContracts = defineRow({
  name: 'holder_sums_without_contracts',
  params: Held.extend({ contracts: z.array(z.string()) }),
  row: z.object({ holder_count: count, sum: integerText, squares: integerText, rank_sum: integerText }),
  sql: `
    SELECT toUInt32(count()) AS holder_count, toString(sum(toUInt256(balance))) AS sum,
           toString(sum(toUInt256(balance) * balance)) AS squares, toString(sum(toUInt256(balance) * rank)) AS rank_sum
    FROM
    (
        SELECT balance, rowNumberInAllBlocks() + 1 AS rank
        FROM
        (
            SELECT balance FROM (${BALANCES})
            WHERE balance >= ${DUST_RAW} AND NOT startsWith(holder, unhex('${ZONE_PORTAL_PREFIX.slice('0x'.length)}'))
              AND holder NOT IN arrayMap(address -> toFixedString(unhex(substring(address, 3)), 20), {contracts: Array(String)})
            ORDER BY balance DESC
        )
    )`,
})

/**
 * What was minted and burned after the snapshot, and in the window; and what was transferred in the window between two
 * accounts. Fees and what goes to and from custodians are not, and what a virtual address passes on counts once. The sums may exceed 128 bits.
 */
export const transferSums = defineRow({
  name: 'transfer_sums',
  params: Held,
  row: z.object({
    minted_since: integerText,
    minted_seconds: integerText,
    transfer_count: count,
    transferred: integerText,
  }),
  sql: `
    WITH if(kind = 'mint', toInt256(amount_raw), if(kind = 'burn', -toInt256(amount_raw), toInt256(0))) AS issued,
         block_time > toDateTime({from: UInt32}, 'UTC') AND kind = 'transfer' AND sender != recipient AS is_counted
    SELECT toString(sumIf(issued, block_time > toDateTime({slot_at: UInt32}, 'UTC'))) AS minted_since,
           toString(sumIf(issued * (toUnixTimestamp(block_time) - {from: UInt32}), block_time > toDateTime({from: UInt32}, 'UTC'))) AS minted_seconds,
           toUInt32(countIf(is_counted)) AS transfer_count, toString(sumIf(toUInt256(amount_raw), is_counted)) AS transferred
    FROM transfers
    WHERE ${after('least({slot_at: UInt32}, {from: UInt32})')}`,
})

/**
 * What of the first supply of a stable that was read by an instant no transfer accounts for, in base units: tokens may exist
 * from the genesis block, which has no logs. Null if none was read.
 */
export const unexplainedSupply = defineOptionalRow({
  name: 'unexplained_supply',
  params: z.object({ stable: z.string(), at: z.date() }),
  row: onlyColumn('unexplained', integerText),
  sql: `
    WITH (SELECT (block_number, block_time, supply_raw) FROM state_reads WHERE stable = {stable: String} AND block_time <= {at: DateTime}
          ORDER BY state_reads.block_time, state_reads.block_number LIMIT 1) AS first
    SELECT toString(toInt256(first.3) - (
        SELECT sum(if(kind = 'mint', toInt256(amount_raw), if(kind = 'burn', -toInt256(amount_raw), toInt256(0)))) FROM transfers
        WHERE stable = {stable: String} AND block_time <= first.2 AND block_number <= first.1
    )) AS unexplained
    FROM (SELECT 1) WHERE first.1 > 0`,
})

/** The stables of which something was transferred in (from, at]. */
export const transferredStables = defineQuery({
  name: 'transferred_stables',
  params: z.object({ from: z.date(), at: z.date() }),
  row: onlyColumn('stable', z.string()),
  sql: `
    SELECT DISTINCT stable FROM transfers
    WHERE block_time > {from: DateTime} AND block_time <= {at: DateTime} ORDER BY stable`,
})

/** How many transfers of a stable there are in (from, at]; `from` in unix seconds. */
export const transferCount = defineRow({
  name: 'transfer_count',
  params: z.object({ stable: z.string(), from: count, at: z.date() }),
  row: onlyColumn('transfers', count),
  sql: `
    SELECT toUInt32(count()) AS transfers FROM transfers
    WHERE stable = {stable: String} AND block_time > toDateTime({from: UInt32}, 'UTC') AND block_time <= {at: DateTime}`,
})
