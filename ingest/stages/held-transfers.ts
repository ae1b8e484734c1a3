import type { FactPosition } from '../../clickhouse/chain/position.js'
import type { HeldTransfer } from '../../clickhouse/flows/held-transfers.js'
import type { ChainEvent } from '../chain/event-types.js'
import { type EventBlock, rowsOf } from './position.js'

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

/** The transfers that receive policies held back, and what became of held ones, in log order. */
export const heldTransfers = (block: EventBlock, events: readonly ChainEvent[]): HeldTransfer[] =>
  rowsOf(block, events, change)
