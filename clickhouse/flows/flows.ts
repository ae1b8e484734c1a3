import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import type { FactPosition } from '../chain/blocks.js'
import { symbolsOf } from '../stablecoins/stablecoins.js'
import { defineQuery, type ReadOptions } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { dateTime, integerText } from '../store/values.js'
import { FLOW_WINDOW_SECONDS, WINDOW_START, windowOf } from './buckets.js'

/**
 * A movement of value from one stable to another, or with `bridge` between this chain and `remote_chain`, where the token
 * is '' on the other chain's side. Amounts are base units as decimal strings.
 */
export type Flow = FactPosition & {
  kind: 'swap' | 'transfer' | 'bridge'
  from_token: string
  to_token: string
  account: string
  amount_in_raw: string
  amount_out_raw: string
  usd_micros: string | null
  path: string[]
  remote_chain: string | null
}

/** Value that moved from one stable to another within a window. `volume_micros` is 1e-6 USD. */
export type FlowEdge = {
  from: string
  to: string
  from_address: string
  to_address: string
  volume_micros: string
  tx_count: number
  unvalued_count: number
  unvalued_in_raw: string
  unvalued_out_raw: string
}

const sum = integerText.transform(BigInt)

/** The sums of an edge in a part of a window. */
const EdgePart = z.object({
  from_token: z.string(),
  to_token: z.string(),
  volume: sum,
  transactions: z.int(),
  unvalued: z.int(),
  raw_in: sum,
  raw_out: sum,
})
type EdgePart = z.output<typeof EdgePart>

/** The sums of edges over whole windows that begin in [from, to). */
const edgesOfWindows = defineQuery({
  name: 'flow_edges',
  params: z.object({ from: z.int(), to: z.int() }),
  row: EdgePart,
  sql: `
    SELECT from_token, to_token, toString(sum(volume_micros)) AS volume, toUInt32(sum(transaction_count)) AS transactions,
           toUInt32(sum(unvalued_count)) AS unvalued, toString(sum(unvalued_in_raw)) AS raw_in, toString(sum(unvalued_out_raw)) AS raw_out
    FROM flow_buckets FINAL
    WHERE window_start >= toDateTime({from: UInt32}, 'UTC') AND window_start < toDateTime({to: UInt32}, 'UTC')
    GROUP BY from_token, to_token`,
})

/** The edges of the flows in [from, whole_from) and in [whole_to, to), with the columns of `edgesOfWindows`. */
const edgesOfFlows = defineQuery({
  name: 'flow_edges_of_flows',
  params: z.object({ from: z.int(), whole_from: z.int(), whole_to: z.int(), to: z.int() }),
  row: EdgePart,
  sql: `
    SELECT from_token, to_token, toString(ifNull(sum(usd_micros), 0)) AS volume, toUInt32(uniqExact(tx_hash)) AS transactions,
           toUInt32(countIf(usd_micros IS NULL)) AS unvalued, toString(sumIf(toUInt256(amount_in_raw), usd_micros IS NULL)) AS raw_in,
           toString(sumIf(toUInt256(amount_out_raw), usd_micros IS NULL)) AS raw_out
    FROM flows
    WHERE kind != 'bridge'
      AND ((block_time >= toDateTime({from: UInt32}, 'UTC') AND block_time < toDateTime({whole_from: UInt32}, 'UTC'))
        OR (block_time >= toDateTime({whole_to: UInt32}, 'UTC') AND block_time < toDateTime({to: UInt32}, 'UTC')))
    GROUP BY from_token, to_token`,
})

/** The windows that lie whole in [from, to): they begin in [whole_from, whole_to). In unix seconds. */
export function wholeWindows(from: number, to: number): { whole_from: number; whole_to: number } {
  const whole_from = Math.min(windowOf(from + FLOW_WINDOW_SECONDS - 1), to)
  return { whole_from, whole_to: Math.max(windowOf(to), whole_from) }
}

/** The sums of each edge over all parts. */
function addParts(parts: readonly EdgePart[]): EdgePart[] {
  const edges = new Map<string, EdgePart>()
  for (const part of parts) {
    const key = `${part.from_token} ${part.to_token}`
    const edge = edges.get(key)
    if (!edge) edges.set(key, part)
    else
      edges.set(key, {
        ...part,
        volume: edge.volume + part.volume,
        transactions: edge.transactions + part.transactions,
        unvalued: edge.unvalued + part.unvalued,
        raw_in: edge.raw_in + part.raw_in,
        raw_out: edge.raw_out + part.raw_out,
      })
  }
  return [...edges.values()]
}

/**
 * The flows between each pair of stables in [from, to), as sums in 1e-6 USD; in no order. `tx_count` counts distinct
 * transactions. `unvalued_count` flows have no USD value and are not in the volume; what they gave and got is in
 * `unvalued_in_raw` and `unvalued_out_raw`, in base units. A token that is not a known stable
 * is named by its address. Bridge flows are left out, because only one of their ends is a stable on this chain.
 *
 * Whole 15-minute windows come from flow_buckets, the incomplete ones at both ends from the flows. A transaction has one time,
 * so the transaction counts add up. The sums are bit-identical to those over the flows.
 */
export async function flowEdges(
  clickhouse: ClickHouseClient,
  range: { from: Date; to: Date },
  options?: ReadOptions,
): Promise<FlowEdge[]> {
  const [from, to] = [range.from.getTime() / 1000, range.to.getTime() / 1000]
  const { whole_from, whole_to } = wholeWindows(from, to)
  const parts = await Promise.all([
    whole_from < whole_to ? edgesOfWindows(clickhouse, { from: whole_from, to: whole_to }, options) : [],
    from < whole_from || whole_to < to ? edgesOfFlows(clickhouse, { from, whole_from, whole_to, to }, options) : [],
  ])
  const edges = addParts(parts.flat())
  const tokens = [...new Set(edges.flatMap(({ from_token, to_token }) => [from_token, to_token]))]
  const symbols = await inParts(tokens, (stables) => symbolsOf(clickhouse, { stables }, options))
  const symbolOf = new Map(symbols.map(({ address, symbol }) => [address, symbol]))
  return edges.map(({ from_token, to_token, volume, transactions, unvalued, raw_in, raw_out }) => ({
    from: symbolOf.get(from_token) || from_token,
    to: symbolOf.get(to_token) || to_token,
    from_address: from_token,
    to_address: to_token,
    volume_micros: `${volume}`,
    tx_count: transactions,
    unvalued_count: unvalued,
    unvalued_in_raw: `${raw_in}`,
    unvalued_out_raw: `${raw_out}`,
  }))
}

/**
 * The flows of all edges together in each hour that [from, to) touches, oldest first, including hours without a flow.
 * Of the first and the last hour, only the part within [from, to) counts. Volumes are in 1e-6 USD. A transaction counts
 * once for each edge, so that the hours and the edges have the same total.
 */
export const flowHours = defineQuery({
  name: 'flow_hours',
  params: z.object({ from: z.date(), to: z.date() }),
  row: z.object({ hour_start: dateTime, volume_micros: integerText, tx_count: z.int(), unvalued_count: z.int() }),
  sql: `
    WITH toUInt32(toUnixTimestamp({from: DateTime})) AS range_from, toUInt32(toUnixTimestamp({to: DateTime})) AS range_to,
         least(toUInt32(intDiv(toUInt64(range_from) + ${FLOW_WINDOW_SECONDS - 1}, ${FLOW_WINDOW_SECONDS}) * ${FLOW_WINDOW_SECONDS}), range_to) AS whole_from,
         greatest(toUInt32(intDiv(range_to, ${FLOW_WINDOW_SECONDS}) * ${FLOW_WINDOW_SECONDS}), whole_from) AS whole_to
    SELECT hour_start, toString(volume) AS volume_micros, tx_count, unvalued_count
    FROM
    (
        SELECT toStartOfHour(window_start) AS hour_start, sum(micros) AS volume,
               toUInt32(sum(transactions)) AS tx_count, toUInt32(sum(unvalued)) AS unvalued_count
        FROM
        (
            SELECT window_start, volume_micros AS micros, transaction_count AS transactions, unvalued_count AS unvalued
            FROM flow_buckets FINAL
            WHERE window_start >= toDateTime(whole_from, 'UTC') AND window_start < toDateTime(whole_to, 'UTC')
            UNION ALL
            SELECT ${WINDOW_START} AS window_start, ifNull(sum(usd_micros), 0), uniqExact(tx_hash), countIf(usd_micros IS NULL)
            FROM flows
            WHERE kind != 'bridge'
              AND ((block_time >= toDateTime(range_from, 'UTC') AND block_time < toDateTime(whole_from, 'UTC'))
                OR (block_time >= toDateTime(whole_to, 'UTC') AND block_time < toDateTime(range_to, 'UTC')))
            GROUP BY from_token, to_token, window_start
        )
        GROUP BY hour_start
        ORDER BY hour_start
        WITH FILL FROM toStartOfHour(toDateTime(range_from, 'UTC')) TO toDateTime(range_to, 'UTC') STEP INTERVAL 1 HOUR
    )
    ORDER BY hour_start`,
})

/** 1e-6 USD as USD with six decimals. */
export function usd(micros: bigint): string {
  const digits = micros.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}

const byVolume = <Item extends { volume: bigint; key: string }>(a: Item, b: Item): number =>
  a.volume === b.volume ? (a.key < b.key ? -1 : 1) : a.volume < b.volume ? 1 : -1

/**
 * The directed graph of `edges`, volumes in USD with six decimals. Edges by volume, nodes by what they sent and
 * received together, largest first, then by address. Two stables of the same symbol stay two nodes, and are marked.
 */
export function flowGraph(edges: readonly FlowEdge[]) {
  const nodes = new Map<string, { symbol: string; inbound: bigint; outbound: bigint }>()
  const node = (address: string, symbol: string) => {
    const totals = nodes.get(address) ?? { symbol, inbound: 0n, outbound: 0n }
    nodes.set(address, totals)
    return totals
  }
  for (const edge of edges) {
    node(edge.from_address, edge.from).outbound += BigInt(edge.volume_micros)
    node(edge.to_address, edge.to).inbound += BigInt(edge.volume_micros)
  }
  const symbols = [...nodes.values()].map(({ symbol }) => symbol)
  const shared = new Set(symbols.filter((symbol, i) => symbols.indexOf(symbol) !== i))
  return {
    edges: edges
      .map((edge) => ({ edge, volume: BigInt(edge.volume_micros), key: edge.from_address + edge.to_address }))
      .sort(byVolume)
      .map(({ edge: { volume_micros, ...edge }, volume }) => ({ ...edge, volume_usd: usd(volume) })),
    nodes: [...nodes]
      .map(([key, { symbol, inbound, outbound }]) => ({ key, symbol, inbound, outbound, volume: inbound + outbound }))
      .sort(byVolume)
      .map(({ key, symbol, inbound, outbound }) => ({
        symbol,
        symbol_shared: shared.has(symbol),
        address: key,
        inbound_usd: usd(inbound),
        outbound_usd: usd(outbound),
      })),
  }
}

/** The edges of a graph that touch a stable, and the nodes at their ends, with their totals over all edges. */
export function graphOf({ edges, nodes }: ReturnType<typeof flowGraph>, stable: string): ReturnType<typeof flowGraph> {
  const ownEdges = edges.filter(({ from_address, to_address }) => from_address === stable || to_address === stable)
  const addresses = new Set(ownEdges.flatMap(({ from_address, to_address }) => [from_address, to_address]))
  return { edges: ownEdges, nodes: nodes.filter(({ address }) => addresses.has(address)) }
}
