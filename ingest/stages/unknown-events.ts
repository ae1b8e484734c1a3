import type { UnknownEvent } from '../../clickhouse/chain/unknown-events.js'
import { chainContract } from '../chain/contracts.js'
import type { ChainEvent } from '../chain/event-types.js'
import { topicsOf, unknownReason } from '../chain/events.js'
import type { BlockWithLogs } from '../sources/blocks.js'
import { type EventBlock, position } from './rows.js'

/**
 * The logs of the chain's own contracts in a block that this version does not understand, one row for each contract, topic
 * and reason, in the order of their first logs. `events` are what decodeLog returned for the block's logs, in their order.
 */
export function unknownEvents(
  block: Pick<BlockWithLogs, 'number' | 'time' | 'logs'>,
  events: ReadonlyArray<ChainEvent | null>,
): UnknownEvent[] {
  const rows = new Map<string, UnknownEvent>()
  for (const [i, log] of block.logs.entries()) {
    const reason = unknownReason(log, events[i] ?? null)
    if (reason === null) continue
    const { address: contract, topics, logIndex, transactionHash: txHash } = log
    const topic = topics[0] ?? ''
    const key = `${contract} ${topic} ${reason}`
    const row = rows.get(key)
    if (row) row.log_count++
    else {
      const emitter = chainContract(contract)?.emitter ?? 'other'
      rows.set(key, { emitter, contract, topic, reason, log_count: 1, ...position(block, { logIndex, txHash }) })
    }
  }
  return [...rows.values()]
}

/**
 * Events of the exchange that name an order, or a token, which no event that is understood has made; one row for each kind of
 * event, as of the block's first.
 */
export function withoutOrder(block: EventBlock, events: readonly ChainEvent[]): UnknownEvent[] {
  const names = [...new Set(events.map(({ name }) => name))]
  return names.map((name) => {
    const [first, ...others] = events.filter((event) => event.name === name) as [ChainEvent, ...ChainEvent[]]
    const [topic = ''] = topicsOf([name])
    const contract = first.address
    return {
      ...{ emitter: 'exchange', contract, topic, reason: 'order', log_count: 1 + others.length },
      ...position(block, first),
    }
  })
}
