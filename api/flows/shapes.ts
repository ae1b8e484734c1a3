import { z } from 'zod'
import { ANOMALY_KINDS } from '../../clickhouse/flows/scores.js'
import { stableSymbol } from '../../clickhouse/stablecoins/texts.js'
import { stableAddress } from '../../clickhouse/store/values.js'

/** USD with six decimals. */
export const Usd = z
  .string()
  .regex(/^\d+\.\d{6}$/)
  .meta({
    description:
      'USD with six decimals: of each flow the lesser of what was given and what was got, at the prices of its block',
  })
export const Count = z.int().nonnegative()
const Raw = z.string().regex(/^\d+$/)

/** The directed graph as clickhouse/flows/flows.ts makes it. */
export const FlowGraph = {
  edges: z
    .array(
      z.object({
        from: z.string().meta({ description: 'Symbol of the stable sent' }),
        to: z.string().meta({ description: 'Symbol of the stable received' }),
        from_address: z.string().meta({ description: 'Address of the stable sent' }),
        to_address: z.string().meta({ description: 'Address of the stable received' }),
        volume_usd: Usd,
        tx_count: Count.meta({ description: 'Distinct transactions' }),
        unvalued_count: Count.meta({ description: 'Flows without a USD value, which the volume leaves out' }),
        unvalued_in_raw: Raw.meta({ description: 'What they gave of the stable sent, in base units' }),
        unvalued_out_raw: Raw.meta({ description: 'What they got of the stable received, in base units' }),
      }),
    )
    .meta({ description: 'One for each pair of stables and direction, the largest volume first' }),
  nodes: z
    .array(
      z.object({
        symbol: stableSymbol,
        symbol_shared: z.boolean().meta({ description: 'Whether another node has the same symbol: go by the address' }),
        address: stableAddress,
        inbound_usd: Usd.meta({ description: 'Inflow, in USD with six decimals' }),
        outbound_usd: Usd.meta({ description: 'Outflow, in USD with six decimals' }),
      }),
    )
    .meta({ description: 'One for each stable that has an edge' }),
}

const dollars = z.number().nonnegative()

/** An anomaly as clickhouse/flows/anomalies.ts makes it. */
export const FlowAnomalyShape = z.object({
  from_token: z.string().meta({ description: 'Address of the stable sent' }),
  to_token: z.string().meta({ description: 'Address of the stable received' }),
  kind: z.enum(ANOMALY_KINDS).meta({
    description:
      'surge: more than usual, also for the windows with a flow; drop: less than usual; silence: no flow for longer than any silence of the week before, and improbably long',
  }),
  window_start: z.iso.datetime().meta({ description: 'Start of the 15-minute window' }),
  window_end: z.iso.datetime().meta({ description: 'End of the window, not included' }),
  observed_flow_usd: dollars.meta({ description: 'Flow in the window, in USD; 0 if there was none' }),
  baseline_mean_usd: dollars.meta({ description: 'Mean flow of the windows of the preceding seven days, in USD' }),
  baseline_stddev_usd: dollars.meta({ description: 'Population standard deviation of the same windows, in USD' }),
  z_score: z.number().meta({ description: 'Distance of the flow from the mean in standard deviations, signed' }),
  tx_count: Count.meta({ description: 'Distinct transactions in the window' }),
  detected_at: z.iso.datetime().meta({ description: 'The instant for which it was found: the end of the window' }),
  baseline_windows: Count.meta({ description: 'Windows in the baseline, including those without a flow' }),
  observations: Count.meta({ description: 'Windows in the baseline with a flow that has a USD value' }),
  active_mean_usd: dollars.meta({ description: 'Mean flow of those windows, in USD' }),
  active_stddev_usd: dollars.meta({ description: 'Population standard deviation of those windows, in USD' }),
  silent_windows: Count.nullable().meta({
    description: 'Of a silence: windows without a flow up to this one, included; else null',
  }),
  longest_silence_windows: Count.nullable().meta({
    description: 'Of a silence: windows in the longest one of the week before it; else null',
  }),
  silence_probability: z.number().nullable().meta({
    description: 'Of a silence: its probability, if windows were independent, by the week before it; else null',
  }),
})

const probability = z.number().min(0).max(1)

/** A score as clickhouse/flows/edge-scores.ts makes it. */
export const EdgeScoreShape = z.object({
  from: z.string().meta({ description: 'Symbol of the stable sent' }),
  to: z.string().meta({ description: 'Symbol of the stable received' }),
  from_address: z.string().meta({ description: 'Address of the stable sent' }),
  to_address: z.string().meta({ description: 'Address of the stable received' }),
  observed_usd: Usd.nullable().meta({
    description: 'Flow in the window, in USD with six decimals; null if none of its flows has a USD value',
  }),
  tx_count: Count.meta({ description: 'Distinct transactions in the window' }),
  baseline_windows: Count.nullable().meta({
    description:
      'Windows of the preceding seven days, from the first flow on, without those of unvalued flows; null if not wholly read',
  }),
  observations: Count.nullable().meta({ description: 'Those of them with a flow; null if not wholly read' }),
  active_share: probability
    .nullable()
    .meta({ description: 'observations / baseline_windows; null without a baseline' }),
  median_active_usd: dollars.nullable().meta({ description: 'Median of the observations, in USD; null without one' }),
  robust_z: z.number().nullable().meta({
    description:
      '0.6745 × (ln volume − median) / median absolute deviation, over the observations, or over those of its hour in four weeks if that is nearer to 0; null without a flow, or if not scored',
  }),
  tx_count_z: z.number().nullable().meta({
    description:
      'The same of the number of transactions, at most what chance alone allows; null without a flow, or if not scored',
  }),
  expected_low_usd: dollars.nullable().meta({
    description: 'If there is a flow: 95 of 100 volumes lie from here; null with fewer than 10 observations',
  }),
  expected_high_usd: dollars.nullable().meta({
    description: 'If there is a flow: 95 of 100 volumes lie up to here; null with fewer than 10 observations',
  }),
  activity_probability: probability.nullable().meta({
    description: 'Probability that the window has a flow, by its history; null with fewer than 10 observations',
  }),
  is_by_hour: z.boolean().meta({
    description: 'Whether activity_probability is that of the hour of the day, by the four weeks before',
  }),
  silent_windows: Count.nullable().meta({
    description: 'Windows without a flow up to this one, included; null if it has a flow or is not scored',
  }),
  p_value: probability.nullable().meta({
    description:
      'Probability of an outcome at least as unusual by its own history; an upper bound, by rank and a fitted tail; null if not scored',
  }),
  q_value: probability.nullable().meta({
    description:
      'The same, corrected for the number of edges whatever their dependence (Benjamini and Yekutieli); null if not scored',
  }),
  unusual: z.enum(ANOMALY_KINDS).nullable().meta({
    description:
      'What it is by the rule robust: surge: |robust_z| or tx_count_z of at least 3, a volume outside the expected range; drop: the same below; silence: the first window of one with a p_value of at most 0.001; null if usual or not scored',
  }),
  reasons: z.array(z.string()).meta({ description: 'Why, in plain English' }),
})

const window = FlowAnomalyShape.pick({
  from_token: true,
  to_token: true,
  window_start: true,
  window_end: true,
  observed_flow_usd: true,
  tx_count: true,
  detected_at: true,
})

/** An unusual flow as clickhouse/flows/edge-scores.ts makes it. */
export const UnusualFlowShape = z.object({
  ...window.shape,
  kind: z.enum(ANOMALY_KINDS).meta({ description: 'The `unusual` of its score' }),
  ...EdgeScoreShape.pick({
    median_active_usd: true,
    expected_low_usd: true,
    expected_high_usd: true,
    robust_z: true,
    tx_count_z: true,
    is_by_hour: true,
    silent_windows: true,
    p_value: true,
  }).shape,
})
