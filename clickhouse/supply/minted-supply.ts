import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'

/** Mints minus burns of each stable in the blocks (after, to], in base units; stables without either are not there. */
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
