import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { FlowAnomaly } from './x-flow-anomalies.js'

/** The anomalies of the window that begins at `window_start`, by their addresses. */
export const anomaliesOfWindow = defineQuery({
  name: 'anomalies_of_window',
  params: z.object({ window_start: z.date() }),
  row: FlowAnomaly,
  sql: `
    SELECT from_token, to_token, window_start, observed_flow_usd, baseline_mean_usd, baseline_stddev_usd, z_score, tx_count,
           bucket_count AS baseline_windows, observation_count AS observations
    FROM flow_anomalies FINAL
    WHERE window_start = {window_start: DateTime}
    ORDER BY from_token, to_token`,
})
