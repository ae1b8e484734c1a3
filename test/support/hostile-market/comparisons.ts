import { expect } from 'vitest'
import { expectedWindows } from '../../../oracle/peg-windows.js'
import type { Ledger } from './ledger.js'

/** Millionths of a dollar as they are published. */
export const dollars = (micros: bigint | null): string | null =>
  micros === null ? null : `${micros / 1_000_000n}.${`${micros % 1_000_000n}`.padStart(6, '0')}`

/** What is published of a market, and what its ledger has. */
export type Compared = { get: <Body>(path: string) => Promise<Body>; ledger: Ledger; listed: readonly string[] }

/** Compares the windows of /peg with the quotes of the node. */
export async function comparePeg({ get, ledger }: Compared, stable: string, at: number, block: number): Promise<void> {
  const prices = ledger.prices.get(stable) ?? []
  const samples = prices.slice(1).map((sell_micros, i) => ({
    stable,
    sell_micros,
    block_time: ledger.times[i + 1] as number,
    elapsed_seconds: Math.min(120, (ledger.times[i + 1] as number) - (ledger.times[i] as number)),
  }))
  const { windows, current } = await get<{
    windows: object[]
    current: { price_vs_refusd: number; block_number: number } | null
  }>(`stablecoins/${stable}/peg?as_of=${at}`)
  const expected = expectedWindows(samples as never, at)
  expect(windows, `windows of ${stable} at ${at}`).toEqual(expected.map((window) => expect.objectContaining(window)))
  const quoted = prices.findLastIndex((price, i) => i > 0 && i <= block && price !== null)
  if (current)
    expect([current.block_number, Math.round(current.price_vs_refusd * 1e6)], `${stable} at ${at}`).toEqual([
      quoted,
      prices[quoted],
    ])
}

type Graph = {
  edges: { from_address: string; to_address: string; volume_usd: string; tx_count: number }[]
  nodes: { address: string; inbound_usd: string; outbound_usd: string }[]
}

/** Compares the edges and nodes of [from, to) that have a listed stable with the flows of the ledger. */
export async function compareFlows({ get, ledger, listed }: Compared, path: string, from: number, to: number) {
  const edges = new Map<string, { volume: bigint; transactions: Set<string> }>()
  const nodes = new Map<string, { in: bigint; out: bigint }>()
  const node = (token: string) => {
    const found = nodes.get(token) ?? { in: 0n, out: 0n }
    nodes.set(token, found)
    return found
  }
  for (const { gave, got, usd_micros, time, tx } of ledger.flows) {
    if (time < from || time >= to) continue
    const key = `${gave.token} ${got.token}`
    const edge = edges.get(key) ?? { volume: 0n, transactions: new Set() }
    edges.set(key, edge)
    edge.volume += usd_micros ?? 0n
    edge.transactions.add(tx)
    node(gave.token).out += usd_micros ?? 0n
    node(got.token).in += usd_micros ?? 0n
  }
  const isListed = (...tokens: string[]) => tokens.some((token) => listed.includes(token))
  const graph = await get<Graph>(`stablecoins/${path}`)
  expect(
    Object.fromEntries(
      graph.edges
        .filter((e) => isListed(e.from_address, e.to_address))
        .map((e) => [`${e.from_address} ${e.to_address}`, `${e.volume_usd} ${e.tx_count}`]),
    ),
    `edges of ${path}`,
  ).toEqual(
    Object.fromEntries(
      [...edges]
        .filter(([key]) => isListed(...key.split(' ')))
        .map(([key, { volume, transactions }]) => [key, `${dollars(volume)} ${transactions.size}`]),
    ),
  )
  expect(
    Object.fromEntries(
      graph.nodes.filter((n) => isListed(n.address)).map((n) => [n.address, [n.inbound_usd, n.outbound_usd]]),
    ),
    `nodes of ${path}`,
  ).toEqual(
    Object.fromEntries(
      [...nodes].filter(([token]) => isListed(token)).map(([token, n]) => [token, [dollars(n.in), dollars(n.out)]]),
    ),
  )
}
