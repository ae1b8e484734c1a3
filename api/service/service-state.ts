import { setMaxListeners } from 'node:events'
import type { ClickHouseClient } from '@clickhouse/client'
import { ingestDelays } from '../../clickhouse/chain/batches.js'
import { blockCountsSince, blockTotals, newestBlock } from '../../clickhouse/chain/blocks.js'
import { openGaps } from '../../clickhouse/chain/gaps.js'
import { chainHead } from '../../clickhouse/chain/heads.js'
import { newestVerifyRun } from '../../clickhouse/chain/verify-runs.js'
import { SLOT_JOBS } from '../../clickhouse/jobs/periods.js'
import { jobRuns, jobStatuses } from '../../clickhouse/jobs/runs.js'
import type { QuerySignal } from '../../clickhouse/store/define-query.js'
import { attemptTotals, dispatchDelays, pendingTotal, subscriptionCounts } from '../../clickhouse/webhooks/totals.js'

export type ServiceState = Awaited<ReturnType<typeof readState>>

/** The families of facts that every block is read for. */
const DATASETS = ['logs', 'pegs', 'state'] as const

const NO_DELAY = { count: 0, p50_seconds: null, p99_seconds: null }

const secondsBetween = (from: Date, to: Date): number => Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1000))

/** How far ingest and the jobs have come by `now`, and what is known to be missing. */
async function readState(clickhouse: ClickHouseClient, now: Date, options: { signal?: QuerySignal }) {
  const names = SLOT_JOBS.map(({ name }) => name)
  const [head, newest, totals, delays, statuses, runs, gaps, findings, webhooks] = await Promise.all([
    chainHead(clickhouse, options),
    newestBlock(clickhouse, options),
    blockTotals(clickhouse, options),
    ingestDelays(clickhouse, { now }, options),
    jobStatuses(clickhouse, { jobs: names }, options),
    jobRuns(clickhouse, { now }, options),
    openGaps(clickhouse, options),
    newestVerifyRun(clickhouse, options),
    readWebhooks(clickhouse, now, options),
  ])
  const slots = statuses.flatMap(({ last_slot_at }) => (last_slot_at ? [last_slot_at] : []))
  const oldest = new Date(Math.min(...slots.map((slot) => slot.getTime())))
  const counts = slots.length > 0 ? await blockCountsSince(clickhouse, { times: slots, oldest }, options) : null
  const blocksAfter = (slot: Date): number => counts?.[slots.indexOf(slot)] ?? 0
  // Without a head nobody knows what there is to be read; one that is older than the newest block is no news.
  const behindHead = head && newest ? Math.max(0, head.block_number - newest.block_number) : null

  const facts = DATASETS.map((family) => {
    const { delay_1h = NO_DELAY, delay_24h = NO_DELAY } = delays.find((row) => row.family === family) ?? {}
    return {
      dataset: family as string,
      newest_at: newest?.block_time ?? null,
      lag_blocks: behindHead,
      lag_seconds: newest && secondsBetween(newest.block_time, now),
      delay_1h,
      delay_24h,
    }
  })
  const derived = statuses.map(({ job, last_slot_at }) => {
    const { delay_1h = NO_DELAY, delay_24h = NO_DELAY } = runs.find((row) => row.job === job) ?? {}
    return {
      dataset: job,
      newest_at: last_slot_at,
      lag_blocks: last_slot_at && behindHead !== null ? behindHead + blocksAfter(last_slot_at) : null,
      lag_seconds: last_slot_at && secondsBetween(last_slot_at, now),
      delay_1h,
      delay_24h,
    }
  })
  return {
    at: now,
    head,
    newest_block: newest,
    datasets: [...facts, ...derived],
    missing_blocks: totals?.missing ?? 0,
    gaps,
    findings,
    jobs: statuses.map((status) => ({ ...status, runs: runs.find(({ job }) => job === status.job) ?? null })),
    webhooks,
  }
}

/** How webhooks are doing by `now`. */
async function readWebhooks(clickhouse: ClickHouseClient, now: Date, options: { signal?: QuerySignal }) {
  const [subscriptions, attempts, pending, dispatch] = await Promise.all([
    subscriptionCounts(clickhouse, options),
    attemptTotals(clickhouse, options),
    pendingTotal(clickhouse, options),
    dispatchDelays(clickhouse, { now }, options),
  ])
  return { subscriptions, attempts, pending, dispatch }
}

/** What was read is good for so long: both who shows it and who scrapes it ask over and over. */
const MAX_AGE_MS = 5000
/** Sooner than a scraper gives up, so that it learns at least that this cannot be read. */
const TIMEOUT_MS = 5000

/**
 * A function that reads the state of the service, at most once in a few seconds of `now`, and once for all who ask at
 * the same time. Rejects with QueryError.
 */
export function createServiceState(clickhouse: ClickHouseClient, now: () => Date) {
  let reading: { at: number; state: Promise<ServiceState> } | null = null
  return (): Promise<ServiceState> => {
    const at = now()
    if (reading && Math.abs(at.getTime() - reading.at) < MAX_AGE_MS) return reading.state
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    // One for each query; Node takes more than ten for a leak.
    setMaxListeners(0, signal)
    const state = readState(clickhouse, at, { signal })
    const own = { at: at.getTime(), state }
    reading = own
    state.catch(() => {
      if (reading === own) reading = null
    })
    return state
  }
}
