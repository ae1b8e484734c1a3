import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { defineExport, untrusted } from '../store/export.js'
import { integerText } from '../store/values.js'

/** The flows in [from, to), in unix seconds, after a position in the chain. */
const Range = { from: z.int(), to: z.int(), after_block: z.int(), after_log: z.int() }

const RANGE = `flows.block_time >= {from: UInt32} AND flows.block_time < {to: UInt32}
      AND (flows.block_number, flows.log_index) > ({after_block: UInt64}, {after_log: UInt32})`

/**
 * The last flow of a page, which is at `last_offset`, and the flow after it; one row or none if this is the last page.
 * Costs far less than the page itself, so that the response can contain the next cursor before its first row.
 */
export const flowPageEnd = defineQuery({
  name: 'flow_page_end',
  params: z.object({ ...Range, last_offset: z.int() }),
  row: z.object({ time: z.int(), block: integerText.transform(Number), log: z.int() }),
  sql: `
    SELECT toUnixTimestamp(block_time) AS time, block_number AS block, log_index AS log
    FROM flows
    WHERE ${RANGE}
    ORDER BY flows.block_time, flows.block_number, flows.log_index
    LIMIT 2 OFFSET {last_offset: UInt64}`,
})

const symbol = (token: string): string => untrusted(`transform(${token}, symbols.1, symbols.2, '')`)

/**
 * Flows in the order of the chain, up to and including a position. Amounts are base units; `usd_value` is null if
 * the flow is unvalued. A token that is not a known stable has an empty symbol; the other chain's side of a bridge
 * flow has no token.
 */
export const flowRows = defineExport({
  name: 'flow_rows',
  params: z.object({ ...Range, last_block: z.int(), last_log: z.int() }),
  // The symbols are looked up, not joined: a join would sort the rows instead of reading them in order.
  sql: `
    WITH (SELECT (groupArray(stable), groupArray(symbol)) FROM stablecoins) AS symbols
    SELECT toDateTime64(flows.block_time, 0, 'UTC') AS block_time, flows.block_number AS block_number, flows.log_index AS log_index,
           tx_hash, toString(flows.kind) AS kind,
           ${symbol('from_token')} AS from, ${symbol('to_token')} AS to,
           from_token AS from_address, to_token AS to_address, account,
           toString(amount_in_raw) AS amount_in, toString(amount_out_raw) AS amount_out,
           toDecimalString(toDecimal256(toInt256(usd_micros), 6) / 1000000, 6) AS usd_value,
           path, remote_chain
    FROM flows
    WHERE ${RANGE} AND (flows.block_number, flows.log_index) <= ({last_block: UInt64}, {last_log: UInt32})
    ORDER BY flows.block_time, flows.block_number, flows.log_index, flows.kind, from_token, to_token`,
})
