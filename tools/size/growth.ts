import { FLOW_WINDOW_SECONDS } from '../../clickhouse/flows/buckets.js'
import { PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'

/** What the rows of a table grow with. `stables`: with time, for each stable. `nothing`: so slowly that it does not matter. */
export type Driver = 'blocks' | 'samples' | 'transactions' | 'stables' | 'time' | 'nothing'

/**
 * How the rows of a table are counted in a stretch of the chain: by `column`, mostly a time; by `block_time` in the tables of
 * facts. Rows that there are once a period, `every` so many seconds of chain time, are counted a period. `merges`: merges make fewer rows of them.
 */
type Growth = { with: Exclude<Driver, 'nothing'>; column: string; every?: number; merges?: true }

const each = (tables: readonly string[], growth: Growth): Record<string, Growth> =>
  Object.fromEntries(tables.map((table) => [table, growth]))

/** Of the tables that grow. */
export const GROWTH: Readonly<Record<string, Growth>> = {
  blocks: { with: 'blocks', column: 'block_time' },
  ingest_batches: { with: 'blocks', column: 'from_block' },
  peg_samples: { with: 'samples', column: 'block_time' },
  peg_minutes: { with: 'stables', column: 'minute_end', every: 60, merges: true },
  depth_samples: { with: 'stables', column: 'block_time', every: 60 },
  risk_snapshots: { with: 'stables', column: 'slot_at', every: PERIOD_SECONDS.risk, merges: true },
  extended_snapshots: { with: 'stables', column: 'slot_at', every: PERIOD_SECONDS.risk, merges: true },
  flow_buckets: { with: 'stables', column: 'window_start', every: FLOW_WINDOW_SECONDS, merges: true },
  peg_quote_hours: { with: 'stables', column: 'hour', every: 3600, merges: true },
  reserve_snapshots: { with: 'stables', column: 'slot_at', every: PERIOD_SECONDS.reserves, merges: true },
  state_reads: { with: 'stables', column: 'block_time' },
  peg_events: { with: 'stables', column: 'started_at', merges: true },
  agreed_breaks: { with: 'stables', column: 'started_at', merges: true },
  flow_anomalies: { with: 'stables', column: 'window_start', merges: true },
  events: { with: 'stables', column: 'recorded_at' },
  ...each(
    [
      ...['fees_paid', 'supply_events', 'dex_orders', 'dex_order_flips', 'dex_order_ends', 'dex_fills', 'flows'],
      ...['role_events', 'role_probes', 'pause_events', 'policy_events', 'reward_distributions', 'reward_recipients'],
      ...[
        'reward_claims',
        'fee_elections',
        'fee_distributions',
        'fee_pool_events',
        'held_transfers',
        'virtual_forwards',
      ],
      ...['quote_token_proposals', 'logo_updates', 'transfers'],
    ],
    { with: 'transactions', column: 'block_time' },
  ),
  // A snapshot has at most four times as many rows as there were transfers since the one before.
  ...each(['holder_balances', 'holder_snapshots'], { with: 'transactions', column: 'slot_at' }),
  fee_choices: { with: 'transactions', column: 'span_start', merges: true },
  job_runs: { with: 'time', column: 'slot_at' },
  peg_track_states: { with: 'time', column: 'slot_at', every: PERIOD_SECONDS['peg-tracks'], merges: true },
  ...each(['payments', 'webhook_deliveries', 'webhook_fan_outs'], { with: 'time', column: 'recorded_at' }),
  webhook_attempts: { with: 'time', column: 'started_at' },
}

/** Tables that keep a row for each of a few things, or one. */
export const STILL: readonly string[] = [
  ...[
    'stablecoins',
    'quote_token_updates',
    'dex_pairs',
    'flow_edge_starts',
    'peg_windows',
    'chain_heads',
    'node_calls',
  ],
  ...[
    'chain_identity',
    'ingest_gaps',
    'ingest_rollbacks',
    'history_changes',
    'token_lists',
    'verify_runs',
    'retentions',
  ],
  ...['api_keys', 'api_key_uses', 'webhook_subscriptions', 'schema_migrations', 'job_leases'],
]

/** Tables that materialized views fill from the rows of another, in parts of their own. */
export const FILLED_BY: Readonly<Record<string, readonly string[]>> = {
  peg_samples: ['peg_minutes', 'peg_quote_hours'],
  flows: ['flow_buckets', 'flow_edge_starts'],
  fee_elections: ['fee_choices'],
}
