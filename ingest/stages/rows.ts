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
): Array<Row & FactPosition> =>
  events.flatMap((event) => {
    const row = read(event)
    return row === null ? [] : [{ ...row, ...position(block, event) }]
  })
