import type { FactPosition } from '../../clickhouse/chain/blocks.js'
import type { ChainEvent } from '../chain/event-types.js'
import type { BlockWithLogs } from '../sources/blocks.js'

/** The part of a block that facts need. `time` is in unix seconds. */
export type EventBlock = Pick<BlockWithLogs, 'number' | 'time'>

/** The position of a fact: the columns that every row made from a log has. */
export const position = (block: EventBlock, event: Pick<ChainEvent, 'logIndex' | 'txHash'>): FactPosition => ({
  block_number: block.number,
  log_index: event.logIndex,
  block_time: block.time,
  tx_hash: event.txHash,
})

/** The rows that `read` makes from a block's events, in log order, with their positions; null means no row. */
export const rowsOf = <Row extends object>(
  block: EventBlock,
  events: readonly ChainEvent[],
  read: (event: ChainEvent) => Row | null,
): Array<Row & FactPosition> => {
  const rows: Array<Row & FactPosition> = []
  // Most events make no row of most tables, so nothing is allocated for them.
  for (const event of events) {
    const row = read(event)
    if (row !== null) rows.push({ ...row, ...position(block, event) })
  }
  return rows
}
