/** Value that moved from one stable to another within a window. `volume_micros` is 1e-6 USD as a decimal string. */
export type FlowEdge = {
  from: string
  to: string
  from_address: string
  to_address: string
  volume_micros: string
  tx_count: number
  unpriced_count: number
}

/** 1e-6 USD as USD with six decimals. */
export function usd(micros: bigint): string {
  const digits = micros.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}

const byVolume = <Item extends { volume: bigint; key: string }>(a: Item, b: Item): number =>
  a.volume === b.volume ? (a.key < b.key ? -1 : 1) : a.volume < b.volume ? 1 : -1

/**
 * The directed graph of `edges`, volumes in USD with six decimals. Edges by volume, nodes by what they sent and
 * received together, largest first, then by address. Two stables of the same symbol stay two nodes.
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
        address: key,
        inbound_usd: usd(inbound),
        outbound_usd: usd(outbound),
      })),
  }
}
