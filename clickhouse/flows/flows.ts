import { z } from 'zod'
import type { FactPosition } from '../chain/blocks.js'
import { defineQuery } from '../store/define-query.js'
import { dateTime, integerText } from '../store/values.js'
import { FLOW_WINDOW_SECONDS, WINDOW_START } from './buckets.js'

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

/**
 * SQL for a WITH clause. `parts` has the volume of each edge in each 15-minute window, or part of one, within [{from:
 * DateTime}, {to: DateTime}). Whole windows come from flow_buckets, the incomplete ones at both ends from the flows. A
 * transaction has one time, so the transaction counts of windows add up. The sums are bit-identical to those over the
 * flows.
 */
const FLOW_PARTS = `
  toUInt32(toUnixTimestamp({from: DateTime})) AS range_from, toUInt32(toUnixTimestamp({to: DateTime})) AS range_to,
  least(toUInt32(intDiv(toUInt64(range_from) + ${FLOW_WINDOW_SECONDS - 1}, ${FLOW_WINDOW_SECONDS}) * ${FLOW_WINDOW_SECONDS}), range_to) AS whole_from,
  greatest(toUInt32(intDiv(range_to, ${FLOW_WINDOW_SECONDS}) * ${FLOW_WINDOW_SECONDS}), whole_from) AS whole_to,
  parts AS
  (
      SELECT from_token, to_token, window_start, volume_micros AS micros, transaction_count AS transactions,
             unvalued_count AS unvalued, unvalued_in_raw AS raw_in, unvalued_out_raw AS raw_out
      FROM flow_buckets FINAL
      WHERE window_start >= toDateTime(whole_from, 'UTC') AND window_start < toDateTime(whole_to, 'UTC')
      UNION ALL
      SELECT from_token, to_token, ${WINDOW_START} AS window_start, ifNull(sum(usd_micros), 0),
             uniqExact(tx_hash), countIf(usd_micros IS NULL), sumIf(toUInt256(amount_in_raw), usd_micros IS NULL),
             sumIf(toUInt256(amount_out_raw), usd_micros IS NULL)
      FROM flows
      WHERE kind != 'bridge'
        AND ((block_time >= toDateTime(range_from, 'UTC') AND block_time < toDateTime(whole_from, 'UTC'))
          OR (block_time >= toDateTime(whole_to, 'UTC') AND block_time < toDateTime(range_to, 'UTC')))
      GROUP BY from_token, to_token, window_start
  )`

/** Value that moved from one stable to another within a window. `volume_micros` is 1e-6 USD. */
const FlowEdge = z.object({
  from: z.string(),
  to: z.string(),
  from_address: z.string(),
  to_address: z.string(),
  volume_micros: integerText,
  tx_count: z.int(),
  unvalued_count: z.int(),
  unvalued_in_raw: integerText,
  unvalued_out_raw: integerText,
})
export type FlowEdge = z.infer<typeof FlowEdge>

/**
 * The flows between each pair of stables in [from, to), as sums in 1e-6 USD; in no order. `tx_count` counts distinct
 * transactions. `unvalued_count` flows have no USD value and are not in the volume; what they gave and got is in
 * `unvalued_in_raw` and `unvalued_out_raw`, in base units. A token that is not a known stable
 * is named by its address. Bridge flows are left out, because only one of their ends is a stable on this chain.
 */
export const flowEdges = defineQuery({
  name: 'flow_edges',
  params: z.object({ from: z.date(), to: z.date() }),
  row: FlowEdge,
  sql: `
    WITH symbols AS (SELECT stable, symbol FROM stablecoins), ${FLOW_PARTS}
    SELECT if(source.symbol = '', from_token, source.symbol) AS from, if(target.symbol = '', to_token, target.symbol) AS to,
           from_token AS from_address, to_token AS to_address, volume_micros, tx_count, unvalued_count,
           unvalued_in_raw, unvalued_out_raw
    FROM
    (
        SELECT from_token, to_token, toString(sum(micros)) AS volume_micros,
               toUInt32(sum(transactions)) AS tx_count, toUInt32(sum(unvalued)) AS unvalued_count,
               toString(sum(raw_in)) AS unvalued_in_raw, toString(sum(raw_out)) AS unvalued_out_raw
        FROM parts
        GROUP BY from_token, to_token
    ) AS edges
    LEFT JOIN symbols AS source ON source.stable = edges.from_token
    LEFT JOIN symbols AS target ON target.stable = edges.to_token`,
})

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
    WITH ${FLOW_PARTS}
    SELECT hour_start, toString(volume) AS volume_micros, tx_count, unvalued_count
    FROM
    (
        SELECT toStartOfHour(window_start) AS hour_start, sum(micros) AS volume,
               toUInt32(sum(transactions)) AS tx_count, toUInt32(sum(unvalued)) AS unvalued_count
        FROM parts
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
    const known = nodes.get(address) ?? { symbol, inbound: 0n, outbound: 0n }
    nodes.set(address, known)
    return known
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
  const own = edges.filter(({ from_address, to_address }) => from_address === stable || to_address === stable)
  const ends = new Set(own.flatMap(({ from_address, to_address }) => [from_address, to_address]))
  return { edges: own, nodes: nodes.filter(({ address }) => ends.has(address)) }
}
