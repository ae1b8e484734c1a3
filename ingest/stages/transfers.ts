import type { FactPosition } from '../../clickhouse/chain/blocks.js'
import type { HeldTransfer, VirtualForward } from '../../clickhouse/flows/transfers.js'
import { isVirtualAddress } from '../chain/addresses.js'
import type { ChainEvent } from '../chain/event-types.js'
import { type EventBlock, position, rowsOf } from './rows.js'

function change(event: ChainEvent): Omit<HeldTransfer, keyof FactPosition> | null {
  switch (event.name) {
    case 'TransferBlocked': {
      const { token, receiver, blockedNonce, amount, receipt } = event.args
      return {
        kind: 'held',
        stable: token,
        receiver,
        blocked_nonce: blockedNonce.toString(),
        amount_raw: amount.toString(),
        originator: null,
        caller: null,
        recipient: null,
        receipt,
      }
    }
    case 'ReceiptClaimed':
    case 'ReceiptBurned': {
      const { token, receiver, blockedNonce, amount, originator, caller } = event.args
      return {
        kind: event.name === 'ReceiptClaimed' ? 'claimed' : 'burned',
        stable: token,
        receiver,
        blocked_nonce: blockedNonce.toString(),
        amount_raw: amount.toString(),
        originator,
        caller,
        recipient: event.name === 'ReceiptClaimed' ? event.args.to : null,
        receipt: null,
      }
    }
    default:
      return null
  }
}

/** The transfers that receive policies blocked, and what became of them, in log order. */
export const heldTransfers = (block: EventBlock, events: readonly ChainEvent[]): HeldTransfer[] =>
  rowsOf(block, events, change)

/**
 * The transfers that virtual addresses forwarded, in log order. Each appears as two Transfers of the same amount, to
 * the virtual address and from it, in one transaction; only the end points have balances.
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
