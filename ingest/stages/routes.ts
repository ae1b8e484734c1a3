import { type Deal, isTwoSided, type Net, netsOf } from './parties.js'

/** The tokens that some part of a trade led on to, by token: the hops of its swaps, and what pools took and paid. */
function hopsOf(deals: readonly Deal[], trader: string): Map<string, Set<string>> {
  const hops = new Map<string, Set<string>>()
  const add = (from: string, to: string): void => {
    const next = hops.get(from)
    if (next) next.add(to)
    else hops.set(from, new Set([to]))
  }
  for (const { swap } of deals) {
    for (let i = 1; i < (swap?.path.length ?? 0); i++) add(swap?.path[i - 1] as string, swap?.path[i] as string)
  }
  const swapped = new Set(
    deals.flatMap(({ swap }) => (swap ? [swap.account, ...swap.fills.map((fill) => fill.maker)] : [])),
  )
  const isPool = ([account, net]: [string, Net]): boolean =>
    account !== trader && !swapped.has(account) && isTwoSided(net)
  for (const [, net] of [...netsOf(deals)].filter(isPool)) {
    for (const [taken, got] of net) for (const [paid, gave] of net) if (got > 0n && gave < 0n) add(taken, paid)
  }
  return hops
}

/**
 * The shortest way from one token to another through the swaps and pools of a trade, both included; only the two of
 * them where the deals show no way. Of several of one length, the one by lowest addresses.
 */
export function routeOf(deals: readonly Deal[], trader: string, from: string, to: string): string[] {
  const hops = hopsOf(deals, trader)
  const reached = new Map<string, string | null>([[from, null]])
  for (let ends = [from]; ends.length > 0 && !reached.has(to); ) {
    const next: string[] = []
    for (const end of ends) {
      for (const token of [...(hops.get(end) ?? [])].sort()) {
        if (reached.has(token)) continue
        reached.set(token, end)
        next.push(token)
      }
    }
    ends = next.sort()
  }
  if (!reached.has(to)) return [from, to]
  const route: string[] = []
  for (let token: string | null | undefined = to; token; token = reached.get(token)) route.unshift(token)
  return route
}
