import type { ClickHouseClient } from '@clickhouse/client'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { CallOutcome } from '../clickhouse/chain/node-calls.js'
import { clickhouseProblem, countQueries, queryDurations } from '../clickhouse/store/query-metrics.js'
import { createNodeWatch } from './sinks/note-node.js'

export type IngestMetrics = ReturnType<typeof createIngestMetrics>

/** In seconds: from a call that a node on this machine answers to the longest timeout. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60]

/** The node counts as away if it has not answered for this long, in milliseconds; ingest asks it at least once a minute. */
const NODE_AWAY_MS = 120_000

/** Adds a gauge that is read when the metrics are, and omitted while it is null: 0 would be a value. */
function gauge(registry: Registry, name: string, help: string, read: () => number | null): void {
  const metric: Gauge = new Gauge({
    name: `plumbline_${name}`,
    help,
    registers: [registry],
    collect: () => {
      const value = read()
      if (value === null) metric.remove()
      else metric.set(value)
    },
  })
}

/** The metrics of a process that reads the chain: ingest, or a backfill. Unknown values are omitted. */
export function createIngestMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const calls = new Histogram({
    name: 'plumbline_rpc_duration_seconds',
    help: 'Time of a JSON-RPC call to the node, by method and outcome: ok, limited (asked too often), too_large, no_state (dropped), late or failed',
    labelNames: ['method', 'outcome'] as const,
    buckets: SECONDS,
    registers,
  })
  const retries = new Counter({
    name: 'plumbline_rpc_retries_total',
    help: 'Failed attempts of reads from the node that were repeated',
    registers,
  })
  const durations = queryDurations(registry)
  const node = createNodeWatch()
  let answeredAt: number | null = null
  return {
    registry,
    /** Counts the calls for `noteNode`, which records them in the database. */
    node,
    rpc: {
      called: (method: string, outcome: CallOutcome, seconds: number): void => {
        calls.observe({ method, outcome }, seconds)
        node.called(outcome)
        if (outcome === 'ok') answeredAt = Date.now()
      },
      retried: (): void => retries.inc(),
    },
    countQueries: (clickhouse: ClickHouseClient): void => countQueries(clickhouse, durations),
    /** Null if ClickHouse and the node answer, else which does not. */
    check: async (clickhouse: ClickHouseClient): Promise<string | null> => {
      if (answeredAt === null) return 'the node has not answered yet'
      const away = Date.now() - answeredAt
      if (away > NODE_AWAY_MS) return `the node has not answered for ${Math.round(away / 1000)} s`
      return clickhouseProblem(clickhouse)
    },
  }
}

/** How far ingest has come, in addition. */
export function createTipMetrics({ registry, node }: IngestMetrics) {
  const registers = [registry]
  let head: number | null = null
  let newest: number | null = null
  let listCurrentAt: Date | null = null
  let unknownBooks: number | null = null
  gauge(registry, 'ingest_head_block', 'The newest block that may be read, as the node last reported it', () => head)
  gauge(registry, 'ingest_newest_block', 'The newest block that this process has written', () => newest)
  gauge(registry, 'ingest_head_lag_blocks', 'Blocks between them', () =>
    head === null || newest === null ? null : Math.max(0, head - newest),
  )
  gauge(registry, 'token_list_age_seconds', 'Time since the token list in use was the newest', () =>
    listCurrentAt === null ? null : (Date.now() - listCurrentAt.getTime()) / 1000,
  )
  gauge(
    registry,
    'exchange_unknown_books',
    'Books and tokens of the exchange about which logs contradict each other',
    () => unknownBooks,
  )
  const refused = new Counter({
    name: 'plumbline_token_list_refused_total',
    help: 'Times that TOKEN_LIST was wrong or could not be read, so that the last good list stayed, by reason',
    labelNames: ['reason'] as const,
    registers,
  })
  const blocks = new Counter({ name: 'plumbline_ingest_blocks_total', help: 'Blocks written', registers })
  const batches = new Counter({ name: 'plumbline_ingest_batches_total', help: 'Batches written', registers })
  const changes = new Counter({
    name: 'plumbline_ingest_chain_changes_total',
    help: 'Times that the chain no longer matched what was read, and was compared with the database',
    registers,
  })
  return {
    headSeen: (block: number): void => {
      head = block
    },
    booksUnknown: (count: number): void => {
      unknownBooks = count
    },
    chainChanged: (): void => {
      changes.inc()
      node.chainChanged()
    },
    /** When the token list in use last was the newest. */
    tokenListCurrent: (at: Date): void => {
      listCurrentAt = at
    },
    tokenListRefused: (reason: 'wrong' | 'unreachable'): void => refused.inc({ reason }),
    written: (block: number, count: number): void => {
      newest = block
      blocks.inc(count)
      batches.inc()
    },
  }
}
export type TipMetrics = ReturnType<typeof createTipMetrics>

/** How far a backfill of `total` blocks has come, in addition. Returns the function that counts blocks that are stored. */
export function createBackfillMetrics({ registry }: IngestMetrics, total: number): (blocks: number) => void {
  const startedAt = Date.now()
  let done = 0
  gauge(registry, 'backfill_blocks', 'Blocks that this backfill reads', () => total)
  gauge(registry, 'backfill_done_blocks', 'Blocks that it has stored or found to be unavailable', () => done)
  gauge(registry, 'backfill_eta_seconds', 'Time until it ends, at its speed so far', () =>
    done === 0 ? null : (((Date.now() - startedAt) / 1000) * (total - done)) / done,
  )
  return (blocks) => {
    done = blocks
  }
}
