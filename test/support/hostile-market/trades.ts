import { toEventSelector } from 'viem'
import { Addresses } from 'viem/tempo'

export type RawReceipt = {
  transactionHash: string
  from: string
  status: string
  logs: { address: string; topics: string[]; data: string }[]
}
type Amount = { token: string; amount: bigint }
/** What somebody gave for what in one transaction. Not clear: who traded with whom cannot be known. */
export type Trade = { tx: string; gave: Amount; got: Amount; isClear: boolean }

type Changes = Map<string, Map<string, bigint>>

const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
/** TIP-20: the chain gives addresses with this beginning to tokens only. */
const TOKENS = '0x20c000000000000000000000'
const PROTOCOL = new Set([`0x${'0'.repeat(40)}`, Addresses.feeManager.toLowerCase()])

type Moved = Amount & { from: string; to: string }

/** Every transfer of a transaction, in order, with mints, burns and fees. Of a reverted one only its fee is left. */
export function transfersOf({ logs }: RawReceipt): Moved[] {
  return logs.flatMap(({ address, topics: [event, from = '', to = ''], data }) => {
    if (event !== TRANSFER || !address.toLowerCase().startsWith(TOKENS)) return []
    const [a, b] = [from, to].map((topic) => `0x${topic.slice(26)}`.toLowerCase()) as [string, string]
    return [{ token: address.toLowerCase(), from: a, to: b, amount: BigInt(data) }]
  })
}

/** The transfers of a transaction between accounts and the exchange: not fees, mints and burns. */
const movesOf = (receipt: RawReceipt): Moved[] =>
  transfersOf(receipt).filter(({ from, to }) => !PROTOCOL.has(from) && !PROTOCOL.has(to))

/** Transfers and swaps in groups without a common account except the signer; what each account got (or gave) in each. */
function dealsOf(moves: readonly Moved[], signer: string): Changes[] {
  const groups: Changes[] = []
  const add = (changes: readonly [account: string, token: string, amount: bigint][]): void => {
    const linked = groups.filter((group) => changes.some(([account]) => account !== signer && group.has(account)))
    const into: Changes = linked[0] ?? new Map()
    if (linked.length === 0) groups.push(into)
    for (const other of linked.slice(1)) {
      groups.splice(groups.indexOf(other), 1)
      for (const [account, net] of other) for (const [token, amount] of net) change(into, account, token, amount)
    }
    for (const [account, token, amount] of changes) change(into, account, token, amount)
  }
  // An account pays the exchange before the exchange pays it: the nth payment is for the nth swap.
  const paid = new Map<string, Moved[]>()
  for (const move of moves) {
    const { from, to, token, amount } = move
    if (to === Addresses.stablecoinDex) paid.set(from, [...(paid.get(from) ?? []), move])
    else if (from === Addresses.stablecoinDex) {
      const given = paid.get(to)?.shift()
      if (given)
        add([
          [to, given.token, -given.amount],
          [to, token, amount],
        ])
    } else if (from !== to)
      add([
        [from, token, -amount],
        [to, token, amount],
      ])
  }
  return groups
}

function change(changes: Changes, account: string, token: string, amount: bigint): void {
  const net = changes.get(account) ?? new Map<string, bigint>()
  changes.set(account, net)
  net.set(token, (net.get(token) ?? 0n) + amount)
}

const side = (net: ReadonlyMap<string, bigint>, sign: 1n | -1n): Amount[] =>
  [...net].flatMap(([token, amount]) => (amount * sign > 0n ? [{ token, amount: amount * sign }] : []))

type Net = Map<string, bigint>
const isTwoSided = (net: Net): boolean => side(net, 1n).length > 0 && side(net, -1n).length > 0

function sumOf(nets: readonly Net[]): Net {
  const sum: Changes = new Map()
  for (const net of nets) for (const [token, amount] of net) change(sum, 'all', token, amount)
  return sum.get('all') ?? new Map()
}

/** What was converted in a group, seen from who set out. `isOwn`: by the signer, of whose groups several may be one. */
function conversionOf(group: Changes, signer: string): { net: Net; isClear: boolean; isOwn: boolean } | null {
  const own = group.get(signer) ?? new Map()
  if (isTwoSided(own)) return { net: own, isClear: true, isOwn: true }
  const others = [...group].filter(([account]) => account !== signer).map(([, net]) => net)
  const both = others.filter(isTwoSided)
  // A payment that somebody converts on its way: all who only gave or only got are its ends.
  const ends = sumOf([own, ...others.filter((net) => !isTwoSided(net))])
  const takesPart = [...own.values()].some((amount) => amount !== 0n)
  if (isTwoSided(ends)) return { net: ends, isClear: takesPart || both.length === 0, isOwn: takesPart }
  return both[0] ? { net: both[0], isClear: both.length === 1, isOwn: false } : null
}

/** Whether two conversions of the signer are one: one gives what the other gets, or both have the same ends. */
function isOneTrade(a: Net, b: Net): boolean {
  const tokens = (net: Net, sign: 1n | -1n): string[] => side(net, sign).map(({ token }) => token)
  const share = (some: string[], others: string[]): boolean => some.some((token) => others.includes(token))
  const ends = (net: Net): string => [tokens(net, -1n), tokens(net, 1n)].map((one) => one.sort().join()).join(' ')
  return share(tokens(a, -1n), tokens(b, 1n)) || share(tokens(a, 1n), tokens(b, -1n)) || ends(a) === ends(b)
}

/**
 * What was traded in a transaction, each trade from its first token to its last. Its signer is the trader, with what it
 * gave and got on balance; without the signer, the one account that gave one thing and got another. One amount for
 * several is divided in proportion to them; several for several are left out.
 */
export function tradesOf(receipt: RawReceipt): Trade[] {
  const signer = receipt.from.toLowerCase()
  const found = dealsOf(movesOf(receipt), signer).flatMap((group) => conversionOf(group, signer) ?? [])
  const trades = found.filter(({ isOwn }) => !isOwn)
  for (const own of found.filter(({ isOwn }) => isOwn)) {
    const at = trades.findIndex((trade) => trade.isOwn && isOneTrade(trade.net, own.net))
    const [joined] = at < 0 ? [] : trades.splice(at, 1)
    trades.push(joined ? { ...own, net: sumOf([joined.net, own.net]) } : own)
  }
  const byToken = (a: Amount, b: Amount): number => (a.token < b.token ? -1 : 1)
  return trades.flatMap(({ net, isClear }) => {
    const [gave, got] = [side(net, -1n).sort(byToken), side(net, 1n).sort(byToken)]
    if (gave.length === 0 || got.length === 0 || (gave.length > 1 && got.length > 1)) return []
    const count = Math.max(gave.length, got.length)
    const parts = (one: Amount[], many: Amount[]): Amount[] =>
      one.length === count ? one : divided(one[0] as Amount, many)
    const [ins, outs] = [parts(gave, got), parts(got, gave)]
    return ins.map((given, i) => ({ tx: receipt.transactionHash, gave: given, got: outs[i] as Amount, isClear }))
  })
}

/** An amount in parts proportional to others; the last part has what rounding leaves. */
function divided({ token, amount }: Amount, others: readonly Amount[]): Amount[] {
  const total = others.reduce((sum, other) => sum + other.amount, 0n)
  const parts = others.map((other) => (amount * other.amount) / total)
  const rest = amount - parts.reduce((sum, part) => sum + part, 0n)
  return parts.map((part, i) => ({ token, amount: i === parts.length - 1 ? part + rest : part }))
}

/** How much of each token changed hands on balance in a transaction: who passes on has no part. */
export function trulyMoved(receipt: RawReceipt): Map<string, bigint> {
  const nets: Changes = new Map()
  for (const { from, to, token, amount } of movesOf(receipt)) {
    change(nets, from, token, -amount)
    change(nets, to, token, amount)
  }
  const moved = new Map<string, bigint>()
  for (const net of nets.values())
    for (const [token, amount] of net) if (amount > 0n) moved.set(token, (moved.get(token) ?? 0n) + amount)
  return moved
}
