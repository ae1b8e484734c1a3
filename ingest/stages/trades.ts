import type { Movement } from './flows.js'
import { type Deal, type Dealings, groupsOf, isTwoSided, linkedDeals, type Net, netsOf, sumOf } from './parties.js'
import { routesOf } from './routes.js'

/** One side of what was traded: `net` is what `account`, with those for whom it paid or was paid, gave and got. */
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
 * What was traded in linked deals, seen from the side that set out; null if nothing was. In this order:
 * - the starter, where it gave one thing and got another;
 * - where it only gave or only got, or did neither: all who only gave or only got, together: a payment that is
 *   converted on its way. Those who did both, and makers, are on the other side;
 * - else the one account, apart from makers, that gave one thing and got another.
 * Where several did so without the starter, nobody knows who traded with whom: the first to give stands for them, and
 * the conversion is not clear.
 */
function conversionOf(deals: readonly Deal[], starter: string | null): Conversion | null {
  const nets = netsOf(deals)
  const own = (starter === null ? undefined : nets.get(starter)) ?? new Map<string, bigint>()
  if (starter !== null && isTwoSided(own)) return { account: starter, net: own, deals, isClear: true }
  const makers = makersOf(deals)
  const others = [...nets].filter(([account, net]) => account !== starter && !makers.has(account) && net.size > 0)
  const middle = others.filter(([, net]) => isTwoSided(net))
  const ends = others.filter(([, net]) => !isTwoSided(net))
  const outside = sumOf([own, ...ends.map(([, net]) => net)])
  if (isTwoSided(outside)) {
    const hasStarter = starter !== null && own.size > 0
    const giver = ends.find(([, net]) => [...net.values()].some((amount) => amount < 0n)) ?? ends[0]
    const account = hasStarter ? starter : (giver?.[0] as string)
    return { account, net: outside, deals, isClear: hasStarter || middle.length === 0 }
  }
  const [first] = middle
  return first ? { account: first[0], net: first[1], deals, isClear: middle.length === 1 } : null
}

/** What a conversion gave (-1) or got (1), by token. */
const tokensOf = ({ net }: Conversion, sign: -1 | 1): string[] =>
  [...net].flatMap(([token, amount]) => (amount > 0n === sign > 0 ? [token] : []))

/**
 * The starter's conversions with those joined of which one gave what the other got, or that lead from the same token
 * to the same. A group that on balance converted nothing was passed on: then it is looked at without the starter.
 */
function joined(conversions: readonly Conversion[], starter: string): Conversion[] {
  const given = new Set(conversions.flatMap((one) => tokensOf(one, -1)))
  const got = new Set(conversions.flatMap((one) => tokensOf(one, 1)))
  const chains = groupsOf(conversions, ({ net }) =>
    [...net.keys()].filter((token) => given.has(token) && got.has(token)),
  ).map((parts) => together(parts, starter))
  const passedOn = chains.flatMap(({ net, deals }) => {
    const conversion = isTwoSided(net) ? null : conversionOf(deals, null)
    return conversion ? [conversion] : []
  })
  const own = chains.filter(({ net }) => isTwoSided(net))
  const sameEnds = groupsOf(own, (one) => [`${tokensOf(one, -1).sort().join()} ${tokensOf(one, 1).sort().join()}`])
  return [...sameEnds.map((parts) => together(parts, starter)), ...passedOn]
}

const together = (parts: readonly Conversion[], account: string): Conversion => ({
  account,
  net: sumOf(parts.map(({ net }) => net)),
  deals: parts.flatMap(({ deals }) => deals),
  isClear: parts.every(({ isClear }) => isClear),
})

/** `total` divided in proportion to `weights`; what rounding leaves goes to the last. */
function divided(total: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((a, b) => a + b, 0n)
  const shares = weights.map((weight) => (total * weight) / sum)
  const rest = total - shares.reduce((a, b) => a + b, 0n)
  return shares.map((share, i) => (i === shares.length - 1 ? share + rest : share))
}

/**
 * The flows of a conversion: one, from the token given to the token got. Where several were got for one, or one for
 * several, one for each of them; the one amount is divided in proportion to the others, as all tokens have the same
 * decimals. Several for several is left out, as is an amount that no balance can hold: which was for which is unknown.
 */
function flowsOfConversion({ account, net, deals, isClear }: Conversion, txHash: string): Movement[] {
  const sorted = [...net].sort(([a], [b]) => (a < b ? -1 : 1))
  const gave = sorted.flatMap(([token, amount]) => (amount < 0n ? [{ token, amount: -amount }] : []))
  const got = sorted.filter(([, amount]) => amount > 0n).map(([token, amount]) => ({ token, amount }))
  if (gave.length > 1 && got.length > 1) return []
  if ([...gave, ...got].some(({ amount }) => amount > MOST)) return []
  const ins =
    gave.length === 1
      ? divided(
          gave[0]?.amount ?? 0n,
          got.map(({ amount }) => amount),
        )
      : gave.map(({ amount }) => amount)
  const outs =
    got.length === 1
      ? divided(
          got[0]?.amount ?? 0n,
          gave.map(({ amount }) => amount),
        )
      : got.map(({ amount }) => amount)
  // Flows have distinct positions, because lists continue after a position. There are at least as many logs as tokens.
  const logs = [...new Set(deals.map(({ logIndex }) => logIndex))].sort((a, b) => b - a)
  const kind = deals.some(({ swap }) => swap !== null) ? ('swap' as const) : ('transfer' as const)
  const route = routesOf(deals, account)
  return ins.map((amountIn, i) => {
    const from_token = (gave[i] ?? gave[0])?.token as string
    const to_token = (got[i] ?? got[0])?.token as string
    return {
      kind,
      from_token,
      to_token,
      account,
      path: route(from_token, to_token),
      remote_chain: null,
      amountIn,
      amountOut: outs[i] as bigint,
      isClear,
      logIndex: logs[i] as number,
      txHash,
    }
  })
}

/** Of the transaction's signer and the payer of its fee, the first that swapped or transferred something. */
function starterOf({ deals, payer }: Dealings, signer: string | null, idle: ReadonlySet<string>): string | null {
  const parties = new Set(deals.flatMap(({ changes }) => changes.map(({ account }) => account)))
  return [signer, payer].find((one) => one !== null && parties.has(one) && !idle.has(one)) ?? null
}

/** Whether the trades of a transaction depend on who signed it. */
export function needsSigner({ deals }: Dealings): boolean {
  const swaps = deals.filter(({ swap }) => swap !== null).length
  return swaps > 0 ? deals.length > 1 : [...netsOf(deals).values()].some(isTwoSided)
}

/**
 * The trades of a transaction, each as one flow from the first token to the last, in log order. Every account counts by
 * what it gave and got on balance: who passes on has no part, and pools and makers only mirror the traders. The trader
 * is who set out: the `signer` of the transaction, or the payer of its fee if the signer took no part. Deals that have
 * no account in common but the starter are separate trades, unless one gave what another got: then they are hops.
 */
export function tradesOf(dealings: Dealings, signer: string | null): Movement[] {
  const { deals, txHash } = dealings
  const idle = idleMakersOf(deals)
  const starter = starterOf(dealings, signer, idle)
  const apart = starter === null ? idle : new Set([...idle, starter])
  const found = linkedDeals(deals, apart).flatMap((linked) => conversionOf(linked, starter) ?? [])
  const own = found.filter(({ account }) => account === starter)
  const others = found.filter(({ account }) => account !== starter)
  const conversions = starter === null ? found : [...joined(own, starter), ...others]
  return conversions
    .flatMap((conversion) => flowsOfConversion(conversion, txHash))
    .sort((a, b) => a.logIndex - b.logIndex)
}
