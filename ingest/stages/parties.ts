import { toEventSelector } from 'viem'
import { RECEIVE_POLICY_GUARD, TIP20_CHANNEL_RESERVE, ZONE_PORTAL_PREFIX } from '../../clickhouse/holders/transfers.js'
import { FEE_MANAGER, isVirtualAddress, STABLECOIN_DEX } from '../chain/addresses.js'
import { readTransfer } from '../chain/events.js'
import type { RawLog } from '../chain/rpc-answers.js'
import type { Swap } from './swaps.js'

/** What an account got (positive) or gave (negative) of a token, in base units. */
type Change = { account: string; token: string; amount: bigint }

/**
 * A transfer between accounts, or a swap on the DEX: what it changed for each account. A swap changes its taker and the
 * makers of the orders that it filled; balances inside the DEX count as their owner's, so deposits and withdrawals
 * change nothing.
 */
export type Deal = { changes: readonly Change[]; swap: Swap | null; logIndex: number }

/** The deals of one transaction, in log order, and the account that paid its fee. */
export type Dealings = { txHash: string; deals: readonly Deal[]; payer: string | null }

/** What an account gave and got on balance, by token; tokens that net to nothing are left out. */
export type Net = ReadonlyMap<string, bigint>

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

type Moved = { token: string; from: string; to: string; amount: bigint; logIndex: number }

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
      if (moved.from !== moved.to && moved.amount > 0n) transfers.push(moved)
    }
  }
  return transfers
}

const ofTransfer = ({ token, from, to, amount, logIndex }: Moved): Deal => ({
  changes: [
    { account: from, token, amount: -amount },
    { account: to, token, amount },
  ],
  swap: null,
  logIndex,
})

const ofSwap = (swap: Swap): Deal => ({
  changes: [
    { account: swap.account, token: swap.path[0] as string, amount: -swap.amountIn },
    { account: swap.account, token: swap.path.at(-1) as string, amount: swap.amountOut },
    ...swap.fills.flatMap(({ maker, tokenIn, tokenOut, amountIn, amountOut }) => [
      { account: maker, token: tokenIn, amount: amountIn },
      { account: maker, token: tokenOut, amount: -amountOut },
    ]),
  ],
  swap,
  logIndex: swap.logIndex,
})

/** The account that paid a transaction's fee, which is its last log. */
function payerOf(last: RawLog | undefined): string | null {
  const fee = last ? readTransfer(last) : null
  return fee?.to === FEE_MANAGER ? fee.from : null
}

/**
 * The dealings of each transaction of a block that may hold a trade. `logs` are all logs of the block and `swaps` its
 * swaps, both in log order. Nearly all transactions have fewer logs than the two transfers and the fee of a trade, and
 * are skipped without decoding.
 */
export function dealingsOf(logs: readonly RawLog[], swaps: readonly Swap[]): Dealings[] {
  const dealings: Dealings[] = []
  const swapsOf = new Map<string, Swap[]>()
  for (const swap of swaps) swapsOf.set(swap.txHash, [...(swapsOf.get(swap.txHash) ?? []), swap])
  for (let start = 0, end = 0; start < logs.length; start = end) {
    const { transactionHash: txHash } = logs[start] as RawLog
    while (end < logs.length && logs[end]?.transactionHash === txHash) end++
    const txSwaps = swapsOf.get(txHash) ?? []
    if (txSwaps.length === 0 && end - start < 3) continue
    const transfers = transfersOf(logs.slice(start, end))
    if (txSwaps.length === 0 && new Set(transfers.map(({ token }) => token)).size < 2) continue
    const deals = [...transfers.map(ofTransfer), ...txSwaps.map(ofSwap)].sort((a, b) => a.logIndex - b.logIndex)
    dealings.push({ txHash, deals, payer: payerOf(logs[end - 1]) })
  }
  return dealings
}

/** What each account gave and got over all of these deals, in the order in which they first appear in them. */
export function netsOf(deals: readonly Deal[]): Map<string, Net> {
  const nets = new Map<string, Map<string, bigint>>()
  for (const { changes } of deals) {
    for (const { account, token, amount } of changes) {
      const net = nets.get(account) ?? new Map<string, bigint>()
      nets.set(account, net)
      net.set(token, (net.get(token) ?? 0n) + amount)
    }
  }
  for (const net of nets.values()) for (const [token, amount] of net) if (amount === 0n) net.delete(token)
  return nets
}

/** The sum of several nets. */
export function sumOf(nets: Iterable<Net>): Net {
  const sum = new Map<string, bigint>()
  for (const net of nets) for (const [token, amount] of net) sum.set(token, (sum.get(token) ?? 0n) + amount)
  for (const [token, amount] of sum) if (amount === 0n) sum.delete(token)
  return sum
}

/** Whether a net has both something given and something got. */
export const isTwoSided = (net: Net): boolean => {
  let [gave, got] = [false, false]
  for (const amount of net.values()) {
    if (amount < 0n) gave = true
    else got = true
  }
  return gave && got
}

/** The deals in groups that are linked by an account that takes part in each, other than those in `apart`. */
export function linkedDeals(deals: readonly Deal[], apart: ReadonlySet<string>): Deal[][] {
  return groupsOf(deals, ({ changes }) => changes.flatMap(({ account }) => (apart.has(account) ? [] : [account])))
}

/** The items in groups that are linked by a key which they share, in the order of their first items. */
export function groupsOf<Item>(items: readonly Item[], keysOf: (item: Item) => readonly string[]): Item[][] {
  const parent = items.map((_, i) => i)
  const root = (i: number): number => {
    let at = i
    while (parent[at] !== at) at = parent[at] as number
    parent[i] = at
    return at
  }
  const holder = new Map<string, number>()
  items.forEach((item, i) => {
    for (const key of keysOf(item)) {
      const linkedTo = holder.get(key)
      if (linkedTo === undefined) holder.set(key, i)
      else {
        const [a, b] = [root(i), root(linkedTo)]
        parent[Math.max(a, b)] = Math.min(a, b)
      }
    }
  })
  const groups = new Map<number, Item[]>()
  items.forEach((item, i) => {
    const group = groups.get(root(i))
    if (group) group.push(item)
    else groups.set(root(i), [item])
  })
  return [...groups.values()]
}
