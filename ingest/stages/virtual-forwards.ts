import type { VirtualForward } from '../../clickhouse/flows/virtual-forwards.js'
import { isVirtualAddress } from '../chain/addresses.js'
import type { ChainEvent } from '../chain/event-types.js'
import { type EventBlock, position } from './position.js'

/**
 * The transfers that virtual addresses passed on, in log order. Each shows as two Transfers of one amount, to the
 * virtual address and from it, in one transaction; only the end points have balances.
 */
export function virtualForwards(block: EventBlock, events: readonly ChainEvent[]): VirtualForward[] {
  const forwards: VirtualForward[] = []
  let pending: (ChainEvent & { name: 'Transfer' }) | undefined
  for (const event of events) {
    if (event.name !== 'Transfer') continue
    const { from, to, amount } = event.args
    const isPassedOn =
      pending?.txHash === event.txHash &&
      pending.address === event.address &&
      pending.args.to === from &&
      pending.args.amount === amount
    if (pending && isPassedOn) {
      forwards.push({
        stable: event.address,
        sender: pending.args.from,
        virtual_address: from,
        recipient: to,
        amount_raw: amount.toString(),
        ...position(block, event),
      })
    }
    pending = isVirtualAddress(to) ? event : undefined
  }
  return forwards
}
