import { setMaxListeners } from 'node:events'
import type { ClickHouseClient } from '@clickhouse/client'
import { ingestDelays, isOptional, newestCommittedBatch, STEADY_FAMILIES } from '../../clickhouse/chain/batches.js'
import { forkSchedule } from '../../clickhouse/chain/forks.js'
import { nodeCalls } from '../../clickhouse/chain/node-calls.js'
import { disagreedRanges, quoteAgreement } from '../../clickhouse/chain/quote-checks.js'
import { unknownEvents } from '../../clickhouse/chain/unknown-events.js'
import { newestVerifyRun } from '../../clickhouse/chain/verify-runs.js'
import { feesLetGoUntil } from '../../clickhouse/facts/retention.js'
import { SLOT_JOBS } from '../../clickhouse/jobs/periods.js'
import { countSlots, readProgress, secondsBetween } from '../../clickhouse/jobs/progress.js'
import { jobRuns } from '../../clickhouse/jobs/runs.js'
import type { ReadOptions } from '../../clickhouse/store/define-query.js'
import { readStorage } from '../../clickhouse/store/storage.js'
import {
  attemptTotals,
  dispatchDelays,
  droppedTotal,
  pendingTotal,
  subscriptionCounts,
} from '../../clickhouse/webhooks/totals.js'
import type { Memories } from '../../process/memory.js'

export type ServiceState = Awaited<ReturnType<typeof readState>>

const NO_DELAY = { count: 0, p50_seconds: null, p99_seconds: null }

/** The progress of ingest and of the jobs at `now`, and how many slots each job has to do. */
async function readProgressWithSlots(clickhouse: ClickHouseClient, now: Date, options: ReadOptions) {
  const { history, ...progress } = await readProgress(clickhouse, SLOT_JOBS, now, options)
  return { ...progress, slots: await countSlots(clickhouse, SLOT_JOBS, { history, now }, options) }
}

/** The state of the service at `now`, for /status and /metrics. */
async function readState(clickhouse: ClickHouseClient, now: Date, options: ReadOptions) {
  const [
    { slots, ...progress },
    newestBatch,
    delays,
    runs,
    findings,
    webhooks,
    storage,
    node,
    fees_let_go_until,
    unknown,
    forks,
    agreement,
    disagreed,
  ] = await Promise.all([
    readProgressWithSlots(clickhouse, now, options),
    newestCommittedBatch(clickhouse, { track: 'tip' }, options),
    ingestDelays(clickhouse, { now }, options),
    jobRuns(clickhouse, { now }, options),
    newestVerifyRun(clickhouse, options),
    readWebhooks(clickhouse, now, options),
    readStorage(clickhouse, options),
    nodeCalls(clickhouse, options),
    feesLetGoUntil(clickhouse, options),
    unknownEvents(clickhouse, options),
    forkSchedule(clickhouse, options),
    quoteAgreement(clickhouse, options),
    disagreedRanges(clickhouse, options),
  ])
  const { newest_block, blocks_to_head } = progress
  const optional = newestBatch?.families.filter(isOptional) ?? []
  const facts = [...STEADY_FAMILIES, ...optional].map((family) => {
    const { delay_1h = NO_DELAY, delay_24h = NO_DELAY } = delays.find((row) => row.family === family) ?? {}
    return {
      dataset: family,
      newest_at: newest_block?.block_time ?? null,
      lag_blocks: blocks_to_head,
      lag_seconds: newest_block && secondsBetween(newest_block.block_time, now),
      delay_1h,
      delay_24h,
    }
  })
  const derived = progress.jobs.map(({ job, last_slot_at, blocks_after }) => {
    const { delay_1h = NO_DELAY, delay_24h = NO_DELAY } = runs.find((row) => row.job === job) ?? {}
    return {
      dataset: job,
      newest_at: last_slot_at,
      lag_blocks: last_slot_at && blocks_to_head !== null ? blocks_to_head + blocks_after : null,
      lag_seconds: last_slot_at && secondsBetween(last_slot_at, now),
      delay_1h,
      delay_24h,
    }
  })
  return {
    ...progress,
    at: now,
    datasets: [...facts, ...derived],
    findings,
    jobs: progress.jobs.map((status) => ({
      ...status,
      ...(slots.get(status.job) ?? { waiting: null, due: null, catch_up: null }),
      runs: runs.find(({ job }) => job === status.job) ?? null,
    })),
    webhooks,
    storage,
    node,
    /** Logs of the chain's own contracts that ingest does not understand, by contract and topic, the newest first. */
    unknown,
    /** The forks as the node lists them; null if it does not. */
    forks,
    /** How the quotes of the exchange's books compare with the node's, and where they did not agree, oldest first. */
    agreement: { ...agreement, disagreed },
    /** In unix seconds; 0 if all were always kept. */
    fees_let_go_until,
  }
}

/** The state of webhooks at `now`. */
async function readWebhooks(clickhouse: ClickHouseClient, now: Date, options: ReadOptions) {
  const [subscriptions, attempts, dropped, pending, dispatch] = await Promise.all([
    subscriptionCounts(clickhouse, options),
    attemptTotals(clickhouse, options),
    droppedTotal(clickhouse, options),
    pendingTotal(clickhouse, options),
    dispatchDelays(clickhouse, { now }, options),
  ])
  return { subscriptions, attempts, dropped, pending, dispatch }
}

/** How long the state is reused: its readers poll it repeatedly. */
const MAX_AGE_MS = 5000
/** Shorter than the 10 s of a scraper, so that it at least learns that the state cannot be read. */
export const TIMEOUT_MS = 8000

/** How the state of the service is read. Both reject with QueryError. */
export type ServiceStateReader = {
  /** The state of at most a few seconds ago. */
  read: () => Promise<ServiceState>
  /** As `read`; while the state cannot be read, the last one that was, of the instant `at`. */
  readOrLast: () => Promise<ServiceState>
}

/** Reads the state of the service, at most once every few seconds, and once for all concurrent callers. */
export function createServiceState(
  clickhouse: ClickHouseClient,
  memories: Memories,
  now: () => Date,
): ServiceStateReader {
  const latest = memories.latest<ServiceState>({
    name: 'service_state',
    holds: 'the state of the service, for /status and /metrics',
    until: '5 s; for /status until it can be read again',
    read: () => {
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      // Each query adds a listener; Node warns of a leak above ten.
      setMaxListeners(0, signal)
      // How a replica is, is to be seen above all while it cannot catch up with the others.
      return readState(clickhouse, now(), { signal, mayLag: true })
    },
    nowMs: () => now().getTime(),
  })
  const read = () => latest.get((_, ageMs) => ageMs < MAX_AGE_MS)
  return {
    read,
    readOrLast: () =>
      read().catch((error) => {
        if (latest.value === null) throw error
        return latest.value
      }),
  }
}
