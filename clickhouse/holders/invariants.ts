import { z } from 'zod'
import { defineQuery, defineRow } from '../store/define-query.js'
import { integerText } from '../store/values.js'

const count = z.int().nonnegative()

/** Stables of which every transfer up to a block is stored. */
const Whole = z.object({ stables: z.array(z.string()), to_block: count })
const OF_WHOLE = 'stable IN {stables: Array(String)} AND block_number <= {to_block: UInt64}'

const ISSUED = `if(kind = 'mint', toInt256(amount_raw), -toInt256(amount_raw))`

/**
 * How often each stable's supply was read, how often it differs from what its transfers have minted and burned by then, which
 * is the sum of all balances, and the first block at which it does.
 */
export const suppliesAgainstBalances = defineQuery({
  name: 'supplies_against_balances',
  params: Whole,
  row: z.object({ stable: z.string(), reads: count, differing: count, first_block: count }),
  sql: `
    SELECT stable, toUInt32(countIf(is_read)) AS reads, toUInt32(countIf(is_wrong)) AS differing,
           toUInt32(minIf(number, is_wrong)) AS first_block
    FROM
    (
        SELECT stable, number, is_read,
               is_read AND supply != sum(change) OVER (PARTITION BY stable ORDER BY number, is_read ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS is_wrong
        FROM
        (
            SELECT stable, block_number AS number, true AS is_read, toInt256(supply_raw) AS supply, toInt256(0) AS change
            FROM state_reads WHERE ${OF_WHOLE}
            UNION ALL
            SELECT stable, block_number AS number, false AS is_read, toInt256(0) AS supply, sum(${ISSUED}) AS change
            FROM transfers WHERE ${OF_WHOLE} AND kind IN ('mint', 'burn') GROUP BY stable, block_number
        )
    )
    GROUP BY stable ORDER BY stable`,
})

const ACCOUNTS = (where: string) => `
        SELECT stable, account, sum(change) AS balance
        FROM transfers
        ARRAY JOIN [sender, recipient] AS account, [-toInt256(amount_raw), toInt256(amount_raw)] AS change
        WHERE ${where} AND account != '0x0000000000000000000000000000000000000000'
        GROUP BY stable, account`

const Account = z.object({ stable: z.string(), account: z.string(), balance: integerText })

/** The first ten accounts that have sent more than they had. */
export const negativeBalances = defineQuery({
  name: 'negative_balances',
  params: Whole,
  row: Account,
  sql: `
    SELECT stable, account, toString(balance) AS balance FROM (${ACCOUNTS(OF_WHOLE)}) AS accounts
    WHERE accounts.balance < 0 ORDER BY stable, account LIMIT 10`,
})

/** Some of all accounts that were ever in a transfer, with their balances, by a number that draws them. */
export const drawnBalances = defineQuery({
  name: 'drawn_balances',
  params: Whole.extend({ seed: z.int(), most: count }),
  row: Account,
  sql: `
    SELECT stable, account, toString(accounts.balance) AS balance FROM (${ACCOUNTS(OF_WHOLE)}) AS accounts
    ORDER BY cityHash64(stable, account, {seed: UInt32}), stable, account LIMIT {most: UInt32}`,
})

/** The stables of which balances are kept. */
export const keptStables = defineQuery({
  name: 'kept_stables',
  row: z.object({ stable: z.string() }),
  sql: 'SELECT DISTINCT stable FROM holder_snapshots ORDER BY stable',
})

/** How many accounts a snapshot has with another balance than all transfers up to its slot give; a missing one has 0. */
export const differingBalances = defineRow({
  name: 'differing_balances',
  params: z.object({ stable: z.string(), slot_at: count, snapshot_id: integerText }),
  row: z.object({ holders: count, differing: count }),
  sql: `
    SELECT toUInt32(countIf(kept_balance > 0)) AS holders, toUInt32(countIf(kept_balance != balance)) AS differing
    FROM
    (
        SELECT concat('0x', lower(hex(holder))) AS account, toInt256(balance_raw) AS kept_balance FROM holder_balances
        WHERE stable = {stable: String} AND slot_at = toDateTime({slot_at: UInt32}, 'UTC') AND snapshot_id = {snapshot_id: UInt64}
    ) AS kept
    FULL JOIN (${ACCOUNTS("stable = {stable: String} AND block_time <= toDateTime({slot_at: UInt32}, 'UTC')")}) AS accounts USING account`,
})
