import { z } from 'zod'
import { stableAddress, stableSymbol } from '../clickhouse/columns.js'

/** USD with six decimals. */
export const Usd = z
  .string()
  .regex(/^\d+\.\d{6}$/)
  .meta({ description: 'USD with six decimals, at the prices of each block' })
export const Count = z.int().nonnegative()

/** The directed graph as domain/flow-graph.ts makes it. */
export const FlowGraph = {
  edges: z
    .array(
      z.object({
        from: z.string().meta({ description: 'Symbol of the stable that was given' }),
        to: z.string().meta({ description: 'Symbol of the stable that was got' }),
        from_address: z.string().meta({ description: 'Address of the stable that was given' }),
        to_address: z.string().meta({ description: 'Address of the stable that was got' }),
        volume_usd: Usd,
        tx_count: Count.meta({ description: 'Distinct transactions' }),
        unpriced_count: Count.meta({ description: 'Movements without a USD value, which the volume leaves out' }),
      }),
    )
    .meta({ description: 'One for each pair of stables and direction, the largest volume first' }),
  nodes: z
    .array(
      z.object({
        symbol: stableSymbol,
        address: stableAddress,
        inbound_usd: Usd.meta({ description: 'What was got of it, in USD with six decimals' }),
        outbound_usd: Usd.meta({ description: 'What was given of it, in USD with six decimals' }),
      }),
    )
    .meta({ description: 'One for each stable that has an edge' }),
}
