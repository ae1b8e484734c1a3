/** A row of the table of flows; times in unix seconds, values in millionths of a dollar. */
export type OracleFlow = {
  kind: string
  from_token: string
  to_token: string
  amount_in_raw: string
  amount_out_raw: string
  usd_micros: string | null
  block_time: number
  tx_hash: string
}

type Edge = { volume: bigint; transactions: Set<string>; unvalued: number; rawIn: bigint; rawOut: bigint }

const dollars = (micros: bigint): string => `${micros / 1_000_000n}.${`${micros % 1_000_000n}`.padStart(6, '0')}`

/** The flows of [from, to) by edge and by node, keyed by address, summed over all single flows. */
export function flowsOracle(flows: readonly OracleFlow[], from: number, to: number) {
  const edges = new Map<string, Edge>()
  const [inbound, outbound] = [new Map<string, bigint>(), new Map<string, bigint>()]
  for (const { kind, from_token, to_token, amount_in_raw, amount_out_raw, usd_micros, block_time, tx_hash } of flows) {
    if (kind === 'bridge' || block_time < from || block_time >= to) continue
    const key = `${from_token} ${to_token}`
    const edge = edges.get(key) ?? { volume: 0n, transactions: new Set(), unvalued: 0, rawIn: 0n, rawOut: 0n }
    edges.set(key, edge)
    const value = usd_micros === null ? 0n : BigInt(usd_micros)
    edge.volume += value
    edge.transactions.add(tx_hash)
    if (usd_micros === null) {
      edge.unvalued++
      edge.rawIn += BigInt(amount_in_raw)
      edge.rawOut += BigInt(amount_out_raw)
    }
    for (const [side, token] of [
      [outbound, from_token],
      [inbound, to_token],
    ] as const)
      side.set(token, (side.get(token) ?? 0n) + value)
  }
  const tokens = new Set([...inbound.keys(), ...outbound.keys()])
  return {
    edges: Object.fromEntries(
      [...edges].map(([key, { volume, transactions, unvalued, rawIn, rawOut }]) => [
        key,
        {
          volume_usd: dollars(volume),
          tx_count: transactions.size,
          unvalued_count: unvalued,
          unvalued_in_raw: `${rawIn}`,
          unvalued_out_raw: `${rawOut}`,
        },
      ]),
    ),
    nodes: Object.fromEntries(
      [...tokens].map((token) => [
        token,
        { inbound_usd: dollars(inbound.get(token) ?? 0n), outbound_usd: dollars(outbound.get(token) ?? 0n) },
      ]),
    ),
  }
}

/** The flows of each hour that overlaps [from, to), oldest first. A transaction counts once per edge. */
export function flowHoursOracle(flows: readonly OracleFlow[], from: number, to: number) {
  const hours = []
  for (let start = Math.floor(from / 3600) * 3600; start < to; start += 3600) {
    const { edges } = flowsOracle(flows, Math.max(start, from), Math.min(start + 3600, to))
    const figures = Object.values(edges)
    hours.push({
      hour_start: new Date(start * 1000).toISOString().replace('.000Z', 'Z'),
      volume_usd: dollars(figures.reduce((sum, { volume_usd }) => sum + BigInt(volume_usd.replace('.', '')), 0n)),
      tx_count: figures.reduce((sum, { tx_count }) => sum + tx_count, 0),
      unvalued_count: figures.reduce((sum, { unvalued_count }) => sum + unvalued_count, 0),
    })
  }
  return hours
}
