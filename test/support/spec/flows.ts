import { z } from 'zod'
import { CoverageSpec } from './shapes.js'

const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
const address = z.string().regex(/^0x[0-9a-f]{40}$/)
const usd = z.string().regex(/^\d+\.\d{6}$/)
const count = z.number().int().min(0)

const graph = {
  window_hours: z.number().int(),
  edges: z.array(
    z.strictObject({
      from: z.string().min(1),
      to: z.string().min(1),
      from_address: address,
      to_address: address,
      volume_usd: usd,
      tx_count: count,
      unvalued_count: count,
      unvalued_in_raw: z.string().regex(/^\d+$/),
      unvalued_out_raw: z.string().regex(/^\d+$/),
    }),
  ),
  nodes: z.array(z.strictObject({ symbol: z.string().min(1), address, inbound_usd: usd, outbound_usd: usd })),
}

/** The answer of GET /v1/stablecoins/flows, field by field as specified, and the additional fields. */
export const FlowsSpec = z.strictObject({ ...graph, coverage: CoverageSpec })

/** The answer of GET /v1/stablecoins/flows/history. */
export const FlowsHistorySpec = z.strictObject({
  from: timestamp,
  to: timestamp,
  ...graph,
  series: z.array(z.strictObject({ hour_start: timestamp, volume_usd: usd, tx_count: count, unvalued_count: count })),
  coverage: CoverageSpec,
})

const finite = z.number().refine(Number.isFinite)

/** The answer of GET /v1/stablecoins/flow-anomalies. */
export const FlowAnomaliesSpec = z.strictObject({
  anomalies: z.array(
    z.strictObject({
      from_token: address,
      to_token: address,
      window_start: timestamp,
      window_end: timestamp,
      observed_flow_usd: finite.min(0),
      baseline_mean_usd: finite.min(0),
      baseline_stddev_usd: finite.positive(),
      z_score: finite.refine((z) => Math.abs(z) > 3 - 1e-9),
      tx_count: count,
      detected_at: timestamp,
      baseline_windows: count.max(672),
      observations: count.min(10),
    }),
  ),
  scored_until: timestamp.nullable(),
  searched_until: timestamp.nullable(),
  coverage: CoverageSpec,
  next_cursor: z.string().min(1).nullable(),
})
