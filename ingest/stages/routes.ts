import { type Deal, isTwoSided, type Net, netsOf } from './parties.js'

/** Where a token was led on to within a trade: by each swap's hops to the next one, by a pool to all that it paid. */
type Leads = ReadonlyMap<string, ReadonlyArray<readonly string[]>>

/**
 * More tokens than any real trade has. Beyond, no route is looked for: anybody can pay thousands of tokens of their own
 * in one transaction.
 */
const MOST_TOKENS = 20

function leadsOf(deals: readonly Deal[], trader: string): Leads {
  const leads = new Map<string, Array<readonly string[]>>()
  const add = (from: string, next: readonly string[]): void => {
    const nextTokens = leads.get(from)
    if (nextTokens) nextTokens.push(next)
    else leads.set(from, [next])
  }
  const swapped = new Set([trader])
  for (const { swap } of deals) {
    if (!swap) continue
    for (const swapper of [swap.account, ...swap.fills.map(({ maker }) => maker)]) swapped.add(swapper)
    swap.path.forEach((token, i) => {
      if (i > 0) add(swap.path[i - 1] as string, [token])
    })
  }
  const tokensOf = (net: Net, isGot: boolean): string[] =>
    [...net].flatMap(([token, amount]) => (amount > 0n === isGot ? [token] : []))
  for (const [account, net] of netsOf(deals)) {
    if (swapped.has(account) || !isTwoSided(net)) continue
    const paid = tokensOf(net, false)
    for (const gotToken of tokensOf(net, true)) add(gotToken, paid)
  }
  return leads
}

/**
 * Returns the way from one token to another through the swaps and pools of a trade, both included: the shortest, of
 * several the one by lowest addresses; only the two of them where the deals show no way, or have too many tokens.
 */
export function routesOf(deals: readonly Deal[], trader: string): (from: string, to: string) => string[] {
  const tokens = new Set(deals.flatMap(({ changes }) => changes.map(({ token }) => token)))
  const leads: Leads = tokens.size > MOST_TOKENS ? new Map() : leadsOf(deals, trader)
  return (from, to) => {
    const reached = new Map<string, string | null>([[from, null]])
    for (let frontier = [from]; frontier.length > 0 && !reached.has(to); ) {
      const next: string[] = []
      for (const end of frontier) {
        for (const token of new Set((leads.get(end) ?? []).flat())) {
          if (reached.has(token)) continue
          reached.set(token, end)
          next.push(token)
        }
      }
      frontier = next.sort()
    }
    if (!reached.has(to)) return [from, to]
    const route: string[] = []
    for (let token: string | null | undefined = to; token; token = reached.get(token)) route.unshift(token)
    return route
  }
}
