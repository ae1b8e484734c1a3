import type { ClickHouseClient } from '@clickhouse/client'
import { insertFacts } from '../../clickhouse/facts/facts.js'
import { insertFlowAnomalies } from '../../clickhouse/flows/anomalies.js'
import { snapshotReserves } from '../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../jobs/snapshot/risk.js'
import { addBoard } from './board.js'
import { addMarketWebhooks } from './market-webhooks.js'
import { addFacts, flow, stateRead, supplyEvent, tokenList } from './rows.js'
import { runSlots, slotAt } from './slots.js'

const SIZES = [1000, 10_000, 100_000, 1_000_000]
const SNAPSHOTS = [
  { job: 'risk', periodSeconds: 300, task: snapshotRisk },
  { job: 'reserves', periodSeconds: 3600, task: snapshotReserves },
]

/**
 * The board's stables with something in every part of every view: depth, supply, risk, reserves, flows with an anomaly, and
 * webhooks. Returns the addresses of the stables.
 */
export async function addWholePage(clickhouse: ClickHouseClient, now: number) {
  const stables = await addBoard(clickhouse, now)
  const { gap, broken, twin } = stables
  const [minute, block] = [(ago: number) => now - ago * 60, (ago: number) => 24 * 60 - ago]
  const quarters = Array.from({ length: 48 }, (_, i) => 720 - 15 * i)
  const at = (ago: number) => ({ block_time: minute(ago), block_number: block(ago) })
  await addFacts(clickhouse, {
    lists: [tokenList()],
    states: quarters.map((ago) => stateRead(gap, { ...at(ago), supply_raw: `${(5000 - ago) * 1_000_000}` })),
    supplyEvents: quarters.map((ago, i) =>
      supplyEvent(gap, { ...at(ago), kind: i % 3 === 0 ? 'burn' : 'mint', amount_raw: `${(1 + i) * 1_000_000}` }),
    ),
    flows: [flow(1, 2, minute(30), at(30)), flow(3, 4, minute(20), at(20)), flow(4, 3, minute(10), at(10))],
  })
  await insertFacts(
    clickhouse,
    'depth_samples',
    quarters.flatMap((ago, i) =>
      SIZES.map((size_tokens, size) => {
        const quoted = (raw: number | null) => ({
          status: raw === null ? ('no_liquidity' as const) : ('quoted' as const),
          raw: raw === null ? null : String(raw),
        })
        const sell = quoted(i % 7 === 6 && size > 1 ? null : size_tokens * (1_000_000 - 200 * size * size))
        const buy = quoted(size === 3 ? null : size_tokens * (1_000_100 + 300 * size))
        return {
          ...{ stable: gap, size_tokens, ...at(ago) },
          ...{ sell_status: sell.status, sell_raw: sell.raw, buy_status: buy.status, buy_raw: buy.raw },
        }
      }),
    ),
    'depth',
  )
  for (const job of SNAPSHOTS)
    await runSlots(clickhouse, job, [slotAt(job.job, Math.floor(now / job.periodSeconds) * job.periodSeconds)])
  const score = {
    ...{ observed_micros: '9000000000', tx_count: 3, bucket_count: 672, observation_count: 600 },
    ...{ baseline_sum: '600000000', baseline_square_sum: '700000000000000' },
    ...{ silent_windows: 0, longest_silence: 4, usual_windows: 672, usual_active: 600 },
  }
  const window = { window_start: Math.floor(now / 900) * 900 - 900, revision: 0, is_deleted: 0 as const }
  await insertFlowAnomalies(
    clickhouse,
    [{ from_token: broken, to_token: twin, kind: 'surge', ...score, ...window }],
    'an anomaly',
  )
  await addMarketWebhooks(clickhouse, now)
  return stables
}
