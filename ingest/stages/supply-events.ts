import type { SupplyEvent } from '../../clickhouse/supply/supply-events.js'
import type { ChainEvent } from '../chain/event-types.js'
import { type EventBlock, rowsOf } from './position.js'

function change(event: ChainEvent): Pick<SupplyEvent, 'kind' | 'account' | 'amount_raw'> | null {
  switch (event.name) {
    case 'Mint':
      return { kind: 'mint', account: event.args.to, amount_raw: event.args.amount.toString() }
    case 'Burn':
      return { kind: 'burn', account: event.args.from, amount_raw: event.args.amount.toString() }
    case 'BurnBlocked':
      return { kind: 'burn_blocked', account: event.args.from, amount_raw: event.args.amount.toString() }
    case 'SupplyCapUpdate':
      return { kind: 'cap', account: event.args.updater, amount_raw: event.args.newSupplyCap.toString() }
    default:
      return null
  }
}

/** The changes of supplies and caps among a block's events, in log order. */
export const supplyEvents = (block: EventBlock, events: readonly ChainEvent[]): SupplyEvent[] =>
  rowsOf(block, events, (event) => {
    const changed = change(event)
    return changed === null ? null : { ...changed, stable: event.address }
  })
