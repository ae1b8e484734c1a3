import type { FactPosition } from '../../clickhouse/chain/blocks.js'
import type { Facts } from '../../clickhouse/facts/facts.js'
import type { HeldTransfer, VirtualForward } from '../../clickhouse/flows/transfers.js'
import { CUSTODIANS, type Transfer } from '../../clickhouse/holders/transfers.js'
import { isVirtualAddress } from '../chain/addresses.js'
import type { ChainEvent } from '../chain/event-types.js'
import { readTransfer } from '../chain/events.js'
import type { BlockWithLogs } from '../sources/blocks.js'
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

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`
const isCustodian = (address: string): boolean => (CUSTODIANS as readonly string[]).includes(address)

/**
 * Every transfer of a stable in a block, in log order. Which of them are fees and which are forwards is taken from the
 * block's other facts.
 */
export function transfersOf(
  { number, time, logs }: Pick<BlockWithLogs, 'number' | 'time' | 'logs'>,
  { fees_paid = [], virtual_forwards = [] }: Partial<Facts>,
  isStable: (address: string) => boolean,
): Transfer[] {
  const kinds = new Map<number, Transfer['kind']>([
    ...virtual_forwards.map(({ log_index }) => [log_index, 'forward'] as const),
    ...fees_paid.map(({ log_index }) => [log_index, 'fee'] as const),
  ])
  const kindOf = (sender: string, recipient: string): Transfer['kind'] =>
    sender === ZERO_ADDRESS
      ? 'mint'
      : recipient === ZERO_ADDRESS
        ? 'burn'
        : isCustodian(sender) || isCustodian(recipient)
          ? 'custody'
          : 'transfer'
  const transfers: Transfer[] = []
  for (const log of logs) {
    const transfer = readTransfer(log)
    if (!transfer || !isStable(log.address)) continue
    const { from, to, amount } = transfer
    transfers.push({
      stable: log.address,
      kind: kinds.get(log.logIndex) ?? kindOf(from, to),
      sender: from,
      recipient: to,
      amount_raw: amount.toString(),
      block_number: number,
      log_index: log.logIndex,
      block_time: time,
    })
  }
  return transfers
}
