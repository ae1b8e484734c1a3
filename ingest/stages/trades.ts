import type { Movement } from './flows.js'
import { type Deal, type Dealings, groupsOf, isTwoSided, linkedDeals, type Net, netsOf, sumOf } from './parties.js'
import { routesOf } from './routes.js'

/** One side of a trade: what `account` gave and got (`net`), including what it paid or received for others. */
type Conversion = { account: string; net: Net; deals: readonly Deal[]; isClear: boolean }

/** TIP-20 amounts are uint128, so no balance can be larger. */
const MOST = 2n ** 128n - 1n

/** Accounts whose orders were filled and that swapped nothing. They mirror the taker: an order does not set out. */
function makersOf(deals: readonly Deal[]): Set<string> {
  const makers = new Set(deals.flatMap(({ swap }) => swap?.fills.map(({ maker }) => maker) ?? []))
  for (const { swap } of deals) if (swap) makers.delete(swap.account)
  return makers
}

/** The makers that transferred nothing either: they link no deals with each other. */
function idleMakersOf(deals: readonly Deal[]): Set<string> {
  const makers = makersOf(deals)
  for (const { changes, swap } of deals) if (!swap) for (const { account } of changes) makers.delete(account)
  return makers
}

/**
 * What was traded in linked deals, seen from the side that set out; null if nothing was traded. In this order:
 * - the starter, where it gave one token and got another: its own trade;
 * - where it only gave or only got, or did neither: everybody who only gave or only got, as one side. This is a payment
 *   that is converted on its way: one account pays, another one receives. Accounts that did both (exchangers), and
 *   makers, are on the other side;
 * - else the only account, apart from makers, that gave one token and got another.
 * Where several may have set out and the starter is not one of them, nobody knows who traded with whom: the first stands
 * for all, and the conversion is not clear.
 */
function conversionOf(deals: readonly Deal[], starter: string | null): Conversion | null {
  const nets = netsOf(deals)
  const starterNet = (starter === null ? undefined : nets.get(starter)) ?? new Map<string, bigint>()
  if (starter !== null && isTwoSided(starterNet)) return { account: starter, net: starterNet, deals, isClear: true }
  const makers = makersOf(deals)
  const traders = [...nets].filter(([account, net]) => account !== starter && !makers.has(account) && net.size > 0)
  const exchangers = traders.filter(([, net]) => isTwoSided(net))
  const payersAndReceivers = traders.filter(([, net]) => !isTwoSided(net))
  const paymentNet = sumOf([starterNet, ...payersAndReceivers.map(([, net]) => net)])
  if (isTwoSided(paymentNet)) {
    const hasStarter = starter !== null && starterNet.size > 0
    const payer = payersAndReceivers.find(([, net]) => [...net.values()].some((amount) => amount < 0n))
    const account = hasStarter ? starter : ((payer ?? payersAndReceivers[0])?.[0] as string)
    return { account, net: paymentNet, deals, isClear: hasStarter || exchangers.length === 0 }
  }
  const [exchanger] = exchangers
  return exchanger ? { account: exchanger[0], net: exchanger[1], deals, isClear: exchangers.length === 1 } : null
}

/** The tokens that a conversion gave. */
const tokensGiven = ({ net }: Conversion): string[] =>
  [...net].flatMap(([token, amount]) => (amount < 0n ? [token] : []))

/** The tokens that a conversion got. */
const tokensGot = ({ net }: Conversion): string[] => [...net].flatMap(([token, amount]) => (amount > 0n ? [token] : []))

/** The tokens that a conversion leads from and to, as a key. */
const pairKey = (conversion: Conversion): string =>
  `${tokensGiven(conversion).sort().join()} ${tokensGot(conversion).sort().join()}`

/**
 * The trades of the starter's conversions: joined where one gave what another got (hops of one trade), and then where they
 * lead between equal tokens (parts of one trade). Hops that on balance converted nothing were passed on by the starter: they
 * are judged as if it had taken no part.
 */
function starterTrades(conversions: readonly Conversion[], starter: string): Conversion[] {
  const given = new Set(conversions.flatMap(tokensGiven))
  const got = new Set(conversions.flatMap(tokensGot))
  const hopGroups = groupsOf(conversions, ({ net }) =>
    [...net.keys()].filter((token) => given.has(token) && got.has(token)),
  ).map((hops) => merged(hops, starter))
  const judgedWithoutStarter = hopGroups.flatMap(({ net, deals }) => {
    const conversion = isTwoSided(net) ? null : conversionOf(deals, null)
    return conversion ? [conversion] : []
  })
  const trades = groupsOf(
    hopGroups.filter(({ net }) => isTwoSided(net)),
    (conversion) => [pairKey(conversion)],
  )
  return [...trades.map((parts) => merged(parts, starter)), ...judgedWithoutStarter]
}

/** Several conversions as one, by `account`. */
const merged = (conversions: readonly Conversion[], account: string): Conversion => ({
  account,
  net: sumOf(conversions.map(({ net }) => net)),
  deals: conversions.flatMap(({ deals }) => deals),
  isClear: conversions.every(({ isClear }) => isClear),
})

/** `total` divided in proportion to `weights`; the last share takes the remainder. */
function divided(total: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((a, b) => a + b, 0n)
  const shares = weights.map((weight) => (total * weight) / sum)
  const remainder = total - shares.reduce((a, b) => a + b, 0n)
  return shares.map((share, i) => (i === shares.length - 1 ? share + remainder : share))
}

type TokenAmount = { token: string; amount: bigint }

/** The amounts of one side by flow: its own, or its single amount divided in proportion to the other side's. */
function shareOut(side: readonly TokenAmount[], otherSide: readonly TokenAmount[]): bigint[] {
  const [amounts, weights] = [side, otherSide].map((tokens) => tokens.map(({ amount }) => amount)) as [
    bigint[],
    bigint[],
  ]
  return amounts.length === 1 ? divided(amounts[0] ?? 0n, weights) : amounts
}

/**
 * The flows of a conversion: one, from the token given to the token got. Several tokens got for one, or one got for
 * several, make a flow each; the single amount is divided in proportion to the others, as all tokens have the same
 * decimals. Several for several make no flow, because nobody knows which was for which; neither does an amount that no
 * balance can hold.
 */
function flowsOfConversion({ account, net, deals, isClear }: Conversion, txHash: string): Movement[] {
  const sorted = [...net].sort(([a], [b]) => (a < b ? -1 : 1))
  const given = sorted.flatMap(([token, amount]) => (amount < 0n ? [{ token, amount: -amount }] : []))
  const got = sorted.flatMap(([token, amount]) => (amount > 0n ? [{ token, amount }] : []))
  if (given.length > 1 && got.length > 1) return []
  if ([...given, ...got].some(({ amount }) => amount > MOST)) return []
  const amountsIn = shareOut(given, got)
  const amountsOut = shareOut(got, given)
  // Flows have distinct positions, because lists continue after a position. There are at least as many logs as tokens.
  const logs = [...new Set(deals.map(({ logIndex }) => logIndex))].sort((a, b) => b - a)
  const kind = deals.some(({ swap }) => swap !== null) ? ('swap' as const) : ('transfer' as const)
  const route = routesOf(deals, account)
  return amountsIn.map((amountIn, i) => {
    const from_token = (given[i] ?? given[0])?.token as string
    const to_token = (got[i] ?? got[0])?.token as string
    return {
      kind,
      from_token,
      to_token,
      account,
      path: route(from_token, to_token),
      remote_chain: null,
      amountIn,
      amountOut: amountsOut[i] as bigint,
      isClear,
      logIndex: logs[i] as number,
      txHash,
    }
  })
}

/**
 * The account that set out: the transaction's signer, or else the payer of its fee, if it swapped or transferred
 * something; null if neither did. An idle maker did neither.
 */
function starterOf({ deals, payer }: Dealings, signer: string | null, idleMakers: ReadonlySet<string>): string | null {
  const parties = new Set(deals.flatMap(({ changes }) => changes.map(({ account }) => account)))
  const candidates = [signer, payer].filter((account) => account !== null)
  return candidates.find((account) => parties.has(account) && !idleMakers.has(account)) ?? null
}

/** Whether the trades of a transaction depend on who signed it. */
export function needsSigner({ deals }: Dealings): boolean {
  const swaps = deals.filter(({ swap }) => swap !== null).length
  return swaps > 0 ? deals.length > 1 : [...netsOf(deals).values()].some(isTwoSided)
}

/**
 * The trades of a transaction, each as one flow from the first token to the last, in log order. Every account counts by
 * what it gave and got on balance: an account that only passes tokens on has no part, and pools and makers only mirror
 * the traders. The trader is the starter: the `signer` of the transaction, or the payer of its fee if the signer took no
 * part. Deals that share no account apart from the starter are separate trades, unless one gave what another got: then
 * they are hops of one trade.
 */
export function tradesOf(dealings: Dealings, signer: string | null): Movement[] {
  const { deals, txHash } = dealings
  const idleMakers = idleMakersOf(deals)
  const starter = starterOf(dealings, signer, idleMakers)
  const notLinking = starter === null ? idleMakers : new Set([...idleMakers, starter])
  const conversions = linkedDeals(deals, notLinking).flatMap((linked) => conversionOf(linked, starter) ?? [])
  const byStarter = conversions.filter(({ account }) => account === starter)
  const byOthers = conversions.filter(({ account }) => account !== starter)
  const trades = starter === null ? conversions : [...starterTrades(byStarter, starter), ...byOthers]
  return trades.flatMap((conversion) => flowsOfConversion(conversion, txHash)).sort((a, b) => a.logIndex - b.logIndex)
}
