import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'

const measured = integerText.nullable()

/** Every stable that exists at `at`, with its newest supply by then and the block of it; null where none was read. */
export const suppliesAt = defineQuery({
  name: 'supplies_at',
  params: z.object({ at: z.date() }),
  row: z.object({ stable: z.string(), supply_raw: measured, state_block_number: measured }),
  sql: `
    SELECT stable, toString(newest.supply_raw) AS supply_raw, toString(newest.block_number) AS state_block_number
    FROM (SELECT stable FROM stablecoins WHERE block_time <= {at: DateTime}) AS known
    LEFT JOIN
    (
        SELECT stable, supply_raw, block_number FROM state_reads
        WHERE (stable, block_time) IN (SELECT stable, max(block_time) FROM state_reads WHERE block_time <= {at: DateTime} GROUP BY stable)
        ORDER BY state_reads.block_number DESC LIMIT 1 BY stable
    ) AS newest USING stable
    ORDER BY stable
    SETTINGS join_use_nulls = 1`,
})
