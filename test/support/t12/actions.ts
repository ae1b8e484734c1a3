import { type Hex, keccak256, pad, toHex } from 'viem'
import { Addresses } from 'viem/tempo'
import { encodedLog } from '../logs.js'

/** A log before it has a place in a block. */
export type BareLog = { address: string; topics: readonly string[]; data: string }

export const ZERO = `0x${'0'.repeat(40)}`
export const GUARD = Addresses.receivePolicyGuard.toLowerCase()
export const RESERVE = Addresses.tip20ChannelReserve.toLowerCase()
export const FEE_MANAGER = Addresses.feeManager.toLowerCase()
export const PORTAL = Addresses.zonePortal(7).toLowerCase()
export const roleOf = (name: string): Hex => keccak256(toHex(name))

type Moved = { token: string; amount: bigint }
/** A transfer that the receiver's own policy holds back. */
export type Hold = Moved & { from: string; to: string; nonce: bigint }
/** A payment channel; `deposit` and `settled` are what they are before the action. */
export type Channel = { id: string; token: string; payer: string; payee: string; deposit: bigint; settled: bigint }
type ZoneEvent = 'DepositMade' | 'WithdrawalProcessed' | 'DepositBounceBack' | 'RefundClaimed'

/** What an account does that no chain before T12 can do, or not all of it. */
export type Action =
  | { kind: 'role'; token: string; role: string; account: string; granted: boolean }
  /** `via` is the virtual address that passes the amount on, if the receiver is named by one. */
  | (Moved & { kind: 'mint'; to: string; via: string | null })
  | (Moved & { kind: 'transfer'; from: string; to: string; via: string | null })
  | (Moved & { kind: 'burn' | 'burn_blocked'; from: string })
  | (Moved & { kind: 'burn_at'; burner: string; from: string })
  | { kind: 'hold'; hold: Hold }
  | { kind: 'claim'; hold: Hold }
  | { kind: 'burn_receipt'; hold: Hold; caller: string }
  | { kind: 'open' | 'top_up' | 'settle'; channel: Channel; amount: bigint }
  | { kind: 'request_close' | 'cancel_close' | 'close'; channel: Channel }
  /** By LayerZero: burned by the bridge from the account, or minted to it. */
  | (Moved & { kind: 'sent' | 'received'; bridge: string; account: string })
  | (Moved & { kind: 'zone'; event: ZoneEvent; account: string })
  /** Events that move nothing. */
  | { kind: 'told'; logs: readonly BareLog[] }

const log = (...args: Parameters<typeof encodedLog>): BareLog => {
  const { address, topics, data } = encodedLog(...args)
  return { address, topics, data }
}
const tip20 = (name: string, token: string, args: Record<string, unknown>): BareLog => log('tip20', name, token, args)
export const transferLog = (token: string, from: string, to: string, amount: bigint): BareLog =>
  tip20('Transfer', token, { from, to, amount })

function holdLog(name: 'TransferBlocked' | 'ReceiptClaimed' | 'ReceiptBurned', hold: Hold, caller: string): BareLog {
  const { token, from: originator, to: receiver, nonce: blockedNonce, amount } = hold
  const args = { token, receiver, blockedNonce, amount, receiptVersion: 1, receipt: '0xab', blockedAt: 1n, originator }
  const ended = { recipient: receiver, recoveryAuthority: receiver, caller, to: receiver }
  return log('receivePolicyGuard', name, GUARD, { ...args, ...ended })
}

function channelLogs(action: Extract<Action, { channel: Channel }>): BareLog[] {
  const { id: channelId, token, payer, payee, deposit, settled } = action.channel
  const told = (name: string, args: Record<string, unknown> = {}): BareLog =>
    log('tip20ChannelReserve', name, RESERVE, { channelId, payer, payee, ...args })
  const paid = (from: string, to: string, amount: bigint): BareLog[] =>
    amount === 0n ? [] : [transferLog(token, from, to, amount)]
  switch (action.kind) {
    case 'open': {
      const salts = { salt: channelId, expiringNonceHash: channelId }
      const opened = { operator: ZERO, token, authorizedSigner: payer, ...salts, deposit: action.amount }
      return [...paid(payer, RESERVE, action.amount), told('ChannelOpened', opened)]
    }
    case 'top_up': {
      const args = { additionalDeposit: action.amount, newDeposit: deposit + action.amount }
      return [...paid(payer, RESERVE, action.amount), told('TopUp', args)]
    }
    case 'settle': {
      const total = settled + action.amount
      const args = { cumulativeAmount: total, deltaPaid: action.amount, newSettled: total }
      return [...paid(RESERVE, payee, action.amount), told('Settled', args)]
    }
    case 'request_close':
      return [told('CloseRequested', { closeGraceEnd: 1_900_000_000n })]
    case 'cancel_close':
      return [told('CloseRequestCancelled')]
    case 'close': {
      const closed = { settledToPayee: settled, refundedToPayer: deposit - settled }
      return [...paid(RESERVE, payer, deposit - settled), told('ChannelClosed', closed)]
    }
  }
}

function zoneLogs({ event, token, account, amount }: Extract<Action, { kind: 'zone' }>): BareLog[] {
  const [from, to] = event === 'DepositMade' ? [account, PORTAL] : [PORTAL, account]
  const hash = keccak256(toHex(event))
  const keys = { keyIndex: 0n, ephemeralPubkeyX: hash, ephemeralPubkeyYParity: 2, ciphertext: '0x01' }
  const sealed = { ...keys, nonce: pad('0x1', { size: 12 }), tag: pad('0x2', { size: 16 }) }
  const deposit = { newCurrentDepositQueueHash: hash, sender: account, netAmount: amount - 1n, fee: 1n }
  const refund = { tempoRefundRecipient: account, depositNumber: 1n, bouncebackFee: 0n, recipient: account }
  const args = { ...sealed, ...deposit, ...refund, token, amount, to: account, senderTag: hash, callbackSuccess: true }
  return [transferLog(token, from, to, amount), log('zonePortal', event, PORTAL, args)]
}

/** LayerZero's events are of no contract of the chain; their names and types are those of OFT. */
const OFT_TOPICS = {
  sent: keccak256(toHex('OFTSent(bytes32,uint32,address,uint256,uint256)')),
  received: keccak256(toHex('OFTReceived(bytes32,uint32,address,uint256)')),
}
const REMOTE_EID = 30_101n
const words = (...values: bigint[]): string =>
  `0x${values.map((value) => value.toString(16).padStart(64, '0')).join('')}`

function oftLogs({ kind, token, bridge, account, amount }: Extract<Action, { kind: 'sent' | 'received' }>): BareLog[] {
  const topics = [OFT_TOPICS[kind], keccak256(toHex(`${kind} ${amount}`)), pad(account as Hex)]
  const crossed = { address: bridge, topics, data: words(REMOTE_EID, ...(kind === 'sent' ? [amount] : []), amount) }
  const supplied: Action =
    kind === 'sent'
      ? { kind: 'burn_at', token, burner: bridge, from: account, amount }
      : { kind: 'mint', token, to: account, via: null, amount }
  return [...logsOf(supplied), crossed]
}

/**
 * The logs of an action in the order in which the chain emits them, without the fee. The order is that of the chain's public
 * sources.
 */
export function logsOf(action: Action): BareLog[] {
  switch (action.kind) {
    case 'role': {
      const { token, role, account, granted: hasRole } = action
      return [tip20('RoleMembershipUpdated', token, { role, account, sender: account, hasRole })]
    }
    case 'mint': {
      const { token, to, via, amount } = action
      const first = [transferLog(token, ZERO, via ?? to, amount), tip20('Mint', token, { to: via ?? to, amount })]
      return via === null ? first : [...first, transferLog(token, via, to, amount)]
    }
    case 'transfer': {
      const { token, from, to, via, amount } = action
      if (via === null) return [transferLog(token, from, to, amount)]
      return [transferLog(token, from, via, amount), transferLog(token, via, to, amount)]
    }
    case 'burn':
    case 'burn_blocked': {
      const { token, from, amount } = action
      const name = action.kind === 'burn' ? 'Burn' : 'BurnBlocked'
      return [transferLog(token, from, ZERO, amount), tip20(name, token, { from, amount })]
    }
    case 'burn_at': {
      const { token, burner, from, amount } = action
      return [transferLog(token, from, ZERO, amount), tip20('BurnAt', token, { burner, from, amount })]
    }
    case 'hold': {
      const { hold } = action
      return [transferLog(hold.token, hold.from, GUARD, hold.amount), holdLog('TransferBlocked', hold, hold.from)]
    }
    case 'claim': {
      const { hold } = action
      return [transferLog(hold.token, GUARD, hold.to, hold.amount), holdLog('ReceiptClaimed', hold, hold.to)]
    }
    case 'burn_receipt': {
      // The token burns from the guard, and names whose it was.
      const { token, to: from, amount } = action.hold
      const burned = tip20('BurnBlocked', token, { from, amount })
      return [transferLog(token, GUARD, ZERO, amount), burned, holdLog('ReceiptBurned', action.hold, action.caller)]
    }
    case 'sent':
    case 'received':
      return oftLogs(action)
    case 'zone':
      return zoneLogs(action)
    case 'told':
      return [...action.logs]
    default:
      return channelLogs(action)
  }
}
