import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

const count = z.int().nonnegative()

/**
 * How many users and validators have chosen a token for fees as of `at`, by the last choice of each account; in no order.
 * The zero address is no choice. The token need not be a known stable.
 */
export const feeElectionCounts = defineQuery({
  name: 'fee_election_counts',
  params: z.object({ at: z.date() }),
  row: z.object({ stable: z.string(), users_electing: count, validators_electing: count }),
  // One number for the place in the chain: to compare pairs takes more than twice as long.
  sql: `
    SELECT chosen AS stable, toUInt32(countIf(kind = 'user')) AS users_electing,
           toUInt32(countIf(kind = 'validator')) AS validators_electing
    FROM
    (
        SELECT kind, argMax(stable, toUInt128(block_number) * 4294967296 + log_index) AS chosen
        FROM fee_elections WHERE block_time <= {at: DateTime}
        GROUP BY kind, account
    )
    WHERE chosen != '0x0000000000000000000000000000000000000000'
    GROUP BY chosen`,
})
