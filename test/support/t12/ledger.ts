import { type Action, type Channel, FEE_MANAGER, GUARD, type Hold, PORTAL, RESERVE, ZERO } from './actions.js'

type Sums = ReadonlyMap<string, bigint>
/** What went to another chain or came from it: one flow each. */
type Crossing = { token: string; account: string; isOut: boolean; sent: bigint; received: bigint }

/**
 * What the actions of T12 have changed, beside what the local chain's own state says: kept from the actions, never from logs.
 * Balances and supplies are differences from the local chain's. Keys are texts of their parts.
 */
export type Ledger = {
  /** By token and account. */
  balances: Sums
  /** By token. */
  supplies: Sums
  /** By kind of supply event and token. */
  issued: Sums
  /** Whether an account holds a role, by token, account and role. */
  roles: ReadonlyMap<string, boolean>
  holds: readonly Hold[]
  channels: readonly Channel[]
  crossings: readonly Crossing[]
  /** How many actions there were, and how many transactions with them. */
  steps: number
  deeds: number
}

export const EMPTY_LEDGER: Ledger = {
  balances: new Map(),
  supplies: new Map(),
  issued: new Map(),
  roles: new Map(),
  holds: [],
  channels: [],
  crossings: [],
  steps: 0,
  deeds: 0,
}

export const keyOf = (...parts: string[]): string => parts.join(' ')
const plus = (sums: Sums, key: string, amount: bigint): Sums => new Map(sums).set(key, (sums.get(key) ?? 0n) + amount)

/** Moves an amount between two accounts; the zero address stands for the supply. */
function moved(ledger: Ledger, token: string, from: string, to: string, amount: bigint): Ledger {
  let { balances, supplies } = ledger
  if (from === ZERO) supplies = plus(supplies, token, amount)
  else balances = plus(balances, keyOf(token, from), -amount)
  if (to === ZERO) supplies = plus(supplies, token, -amount)
  else balances = plus(balances, keyOf(token, to), amount)
  return { ...ledger, balances, supplies }
}

const supplied = (ledger: Ledger, kind: string, token: string, from: string, to: string, amount: bigint): Ledger => ({
  ...moved(ledger, token, from, to, amount),
  issued: plus(ledger.issued, keyOf(kind, token), amount),
})

function channelChanged(ledger: Ledger, action: Extract<Action, { channel: Channel }>): Ledger {
  const { channel } = action
  const { token, payer, payee } = channel
  const others = ledger.channels.filter(({ id }) => id !== channel.id)
  switch (action.kind) {
    case 'open':
    case 'top_up': {
      const deposited = { ...channel, deposit: channel.deposit + action.amount }
      return { ...moved(ledger, token, payer, RESERVE, action.amount), channels: [...others, deposited] }
    }
    case 'settle': {
      const paid = { ...channel, settled: channel.settled + action.amount }
      return { ...moved(ledger, token, RESERVE, payee, action.amount), channels: [...others, paid] }
    }
    case 'close':
      return { ...moved(ledger, token, RESERVE, payer, channel.deposit - channel.settled), channels: others }
    default:
      return ledger
  }
}

function crossed(ledger: Ledger, crossing: Crossing): Ledger {
  return { ...ledger, crossings: [...ledger.crossings, crossing] }
}

function changed(ledger: Ledger, action: Action): Ledger {
  switch (action.kind) {
    case 'role': {
      const { token, account, role, granted } = action
      return { ...ledger, roles: new Map(ledger.roles).set(keyOf(token, account, role), granted) }
    }
    case 'mint':
      return supplied(ledger, 'mint', action.token, ZERO, action.to, action.amount)
    case 'transfer':
      return moved(ledger, action.token, action.from, action.to, action.amount)
    case 'burn':
    case 'burn_blocked':
    case 'burn_at':
      return supplied(ledger, action.kind, action.token, action.from, ZERO, action.amount)
    case 'hold': {
      const { hold } = action
      return { ...moved(ledger, hold.token, hold.from, GUARD, hold.amount), holds: [...ledger.holds, hold] }
    }
    case 'claim':
    case 'burn_receipt': {
      const { token, to, amount, nonce } = action.hold
      const holds = ledger.holds.filter((hold) => hold.nonce !== nonce)
      if (action.kind === 'claim') return { ...moved(ledger, token, GUARD, to, amount), holds }
      return { ...supplied(ledger, 'burn_blocked', token, GUARD, ZERO, amount), holds }
    }
    case 'sent':
    case 'received': {
      const { token, account, amount } = action
      const isOut = action.kind === 'sent'
      const [kind, from, to] = isOut ? ['burn_at', account, ZERO] : ['mint', ZERO, account]
      const after = supplied(ledger, kind as string, token, from as string, to as string, amount)
      return crossed(after, { token, account, isOut, sent: amount, received: amount })
    }
    case 'zone': {
      const { token, account, amount, event } = action
      const isOut = event === 'DepositMade'
      const after = moved(ledger, token, isOut ? account : PORTAL, isOut ? PORTAL : account, amount)
      return crossed(after, { token, account, isOut, sent: amount, received: isOut ? amount - 1n : amount })
    }
    case 'told':
      return ledger
    default:
      return channelChanged(ledger, action)
  }
}

/** The ledger after one more action. */
export const after = (ledger: Ledger, action: Action): Ledger => ({
  ...changed(ledger, action),
  steps: ledger.steps + 1,
})

/** The ledger after a fee was paid. */
export const afterFee = (ledger: Ledger, token: string, payer: string, amount: bigint): Ledger =>
  moved(ledger, token, payer, FEE_MANAGER, amount)
