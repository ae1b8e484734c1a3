import { toEventSelector } from 'viem'
import {
  FEE_MANAGER,
  isVirtualAddress,
  RECEIVE_POLICY_GUARD,
  STABLECOIN_DEX,
  TIP20_CHANNEL_RESERVE,
  ZONE_PORTAL_PREFIX,
} from '../chain/addresses.js'
import { readTransfer } from '../chain/events.js'
import type { RawLog } from '../chain/rpc-answers.js'

/** A trade of one stable for another between two accounts, within a transaction and by transfers alone. */
export type Exchange = {
  /** The account that gave first: it gave `tokenIn` and received `tokenOut`. */
  account: string
  counterparty: string
  tokenIn: string
  tokenOut: string
  amountIn: bigint
  amountOut: bigint
  /** Of the last transfer of `tokenOut` between the two. */
  logIndex: number
  txHash: string
}

type Moved = { token: string; from: string; to: string; amount: bigint; logIndex: number }

const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const NO_ACCOUNT = new Set(
  [`0x${'0'.repeat(40)}`, STABLECOIN_DEX, FEE_MANAGER, RECEIVE_POLICY_GUARD, TIP20_CHANNEL_RESERVE].map(
    (address) => `0x${'0'.repeat(24)}${address.slice(2)}`,
  ),
)

/**
 * Whether a topic is an account that may trade: not a contract of the protocol, which has its own events, and not a
 * token.
 */
const isAccount = (topic: string, token: string): boolean =>
  !NO_ACCOUNT.has(topic) &&
  !topic.endsWith(token.slice(2)) &&
  !topic.startsWith(ZONE_PORTAL_PREFIX.slice(2), '0x'.length + 24)

/**
 * The transfers of a transaction between accounts. A transfer that a virtual address forwards goes from the first
 * sender to the last receiver.
 */
function transfersOf(logs: readonly RawLog[]): Moved[] {
  const transfers: Moved[] = []
  let pending: Moved | undefined
  for (const log of logs) {
    const [topic, from = '', to = ''] = log.topics
    if (topic !== TRANSFER || !isAccount(from, log.address) || !isAccount(to, log.address)) continue
    const args = readTransfer(log)
    if (!args) continue
    const moved = { token: log.address, ...args, logIndex: log.logIndex }
    const isPassedOn = pending?.to === moved.from && pending.token === moved.token && pending.amount === moved.amount
    if (pending && isPassedOn) moved.from = pending.from
    if (isVirtualAddress(moved.to)) pending = moved
    else {
      pending = undefined
      if (moved.from !== moved.to) transfers.push(moved)
    }
  }
  return transfers
}

/**
 * What two accounts traded, given all transfers between them in log order; null if it is not one stable for another.
 */
function exchangeOf(between: readonly Moved[], txHash: string): Exchange | null {
  const { from: account, to: counterparty } = between[0] as Moved
  const given = new Map<string, bigint>()
  for (const { token, from, amount } of between) {
    given.set(token, (given.get(token) ?? 0n) + (from === account ? amount : -amount))
  }
  const gave = [...given].filter(([, amount]) => amount > 0n)
  const got = [...given].filter(([, amount]) => amount < 0n)
  const [[tokenIn, amountIn] = []] = gave
  const [[tokenOut, received] = []] = got
  // With more than two tokens, it is unknown which was exchanged for which.
  if (gave.length !== 1 || got.length !== 1 || !tokenIn || !tokenOut || amountIn === undefined || !received) return null
  const last = between.findLast(({ token }) => token === tokenOut) as Moved
  return { account, counterparty, tokenIn, tokenOut, amountIn, amountOut: -received, logIndex: last.logIndex, txHash }
}

/**
 * The trades between two accounts within one transaction, in log order: one gives a stable and gets another from the
 * same counterparty. Amounts are net, so returned change does not count. Works on a block's raw `logs`: nearly all
 * transactions have fewer logs than the two transfers and the fee of a trade, and need no decoding.
 */
export function exchangesOf(logs: readonly RawLog[]): Exchange[] {
  const exchanges: Exchange[] = []
  for (let start = 0, end = 0; start < logs.length; start = end) {
    const { transactionHash } = logs[start] as RawLog
    while (end < logs.length && logs[end]?.transactionHash === transactionHash) end++
    if (end - start < 3) continue
    const byPair = new Map<string, Moved[]>()
    for (const moved of transfersOf(logs.slice(start, end))) {
      const pair = moved.from < moved.to ? moved.from + moved.to : moved.to + moved.from
      const between = byPair.get(pair)
      if (between) between.push(moved)
      else byPair.set(pair, [moved])
    }
    const found = [...byPair.values()].flatMap((between) => exchangeOf(between, transactionHash) ?? [])
    exchanges.push(...found.sort((a, b) => a.logIndex - b.logIndex))
  }
  return exchanges
}
