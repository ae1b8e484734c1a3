import { z } from 'zod'

/** USD with six decimals. */
export const Usd = z.string().regex(/^\d+\.\d{6}$/)
export const Count = z.int().nonnegative()

/** The directed graph as domain/flow-graph.ts makes it. */
export const FlowGraph = {
  edges: z.array(
    z.object({
      from: z.string().meta({ description: 'Symbol of the stable that was given' }),
      to: z.string().meta({ description: 'Symbol of the stable that was got' }),
      from_address: z.string(),
      to_address: z.string(),
      volume_usd: Usd,
      tx_count: Count,
      unpriced_count: Count.meta({ description: 'Movements without a USD value, which the volume leaves out' }),
    }),
  ),
  nodes: z.array(z.object({ symbol: z.string(), address: z.string(), inbound_usd: Usd, outbound_usd: Usd })),
}
