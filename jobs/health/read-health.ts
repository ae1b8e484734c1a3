import type { ClickHouseClient } from '@clickhouse/client'
import { ingestProgress } from '../../clickhouse/chain/batches.js'
import { blockCountAfter, newestBlock } from '../../clickhouse/chain/blocks.js'
import { coveredRangesWithin } from '../../clickhouse/chain/covered-ranges.js'
import { declaredGaps, missingBlockCount, missingBlocks } from '../../clickhouse/chain/gaps.js'
import { chainHead } from '../../clickhouse/chain/heads.js'
import type { HealthReadings } from '../../clickhouse/jobs/health.js'
import type { SlotJob } from '../../clickhouse/jobs/periods.js'
import { jobProgress, jobStatuses } from '../../clickhouse/jobs/runs.js'
import { newestSampled } from '../../clickhouse/peg/samples.js'

/** How far back a sample is looked for at least, from the newest block, in seconds; an older one is "not known". */
const LOOK_BACK_SECONDS = 3600

/** What gets further than the clock in this time, in seconds, is catching up. More than the minute between two looks. */
const PROGRESS_SECONDS = 300

/** Ingest notes the head every few seconds; older than this, in seconds, it is "not known". */
const HEAD_IS_KNOWN_SECONDS = 60

const BEGINNING = new Date(0)

const seconds = (from: Date, to: Date): number => Math.floor((to.getTime() - from.getTime()) / 1000)

/** What is known of the service at `now`; null while there is no block at all. */
export async function readHealth(
  clickhouse: ClickHouseClient,
  jobs: readonly SlotJob[],
  { now, maxSamplingLagSeconds }: { now: Date; maxSamplingLagSeconds: number },
): Promise<HealthReadings | null> {
  const newest = await newestBlock(clickhouse)
  if (!newest) return null
  const blocksSince = (after: Date): Promise<number> => blockCountAfter(clickhouse, { after })

  const within_seconds = Math.max(LOOK_BACK_SECONDS, 2 * maxSamplingLagSeconds)
  const { sampled_at, has_stables } = await newestSampled(clickhouse, { within_seconds })
  const sampling = sampled_at
    ? { lag_seconds: seconds(sampled_at, newest.block_time), lag_blocks: await blocksSince(sampled_at) }
    : { lag_seconds: null, lag_blocks: null }

  const statuses = await jobStatuses(clickhouse, { jobs: jobs.map(({ name }) => name) })
  const jobLags = statuses.map(async ({ job, lag_seconds, last_slot_at }) => ({
    job,
    lag_seconds,
    lag_blocks: await blocksSince(last_slot_at ?? BEGINNING),
  }))
  const since = new Date(now.getTime() - PROGRESS_SECONDS * 1000)
  const isGaining = (gained_seconds: number | null) => gained_seconds === null || gained_seconds > PROGRESS_SECONDS
  const progress = await ingestProgress(clickhouse, { since })
  const gaining = (await jobProgress(clickhouse, { since })).filter((job) => isGaining(job.gained_seconds))
  const gainingJobs = new Set(gaining.map(({ job }) => job))
  return {
    ingest: {
      lag_seconds: seconds(newest.block_time, now),
      lag_blocks: await blocksToHead(clickhouse, newest.block_number, now),
      is_gaining: progress.has_moved && isGaining(progress.gained_seconds),
    },
    sampling: has_stables ? sampling : null,
    jobs: (await Promise.all(jobLags)).map((lag) => ({ ...lag, is_gaining: gainingJobs.has(lag.job) })),
    datasets: await datasetGaps(clickhouse),
  }
}

/** How many blocks the chain has after this one, by the head that ingest saw last; null where that is long ago. */
async function blocksToHead(clickhouse: ClickHouseClient, block: number, now: Date): Promise<number | null> {
  const head = await chainHead(clickhouse)
  if (!head || seconds(head.seen_at, now) > HEAD_IS_KNOWN_SECONDS) return null
  return Math.max(0, head.block_number - block)
}

/** The blocks that are missing, and those of which a family of facts was tried in vain and never read. */
async function datasetGaps(clickhouse: ClickHouseClient): Promise<HealthReadings['datasets']> {
  const missing_blocks = await missingBlockCount(clickhouse)
  const gaps = await declaredGaps(clickhouse)
  const from_block = Math.min(...gaps.map((gap) => gap.from_block))
  const to_block = Math.max(...gaps.map((gap) => gap.to_block))
  const covered = gaps.length === 0 ? [] : await coveredRangesWithin(clickhouse, { from_block, to_block })
  const families = ['logs', 'pegs', 'state'] as const
  return [
    { dataset: 'blocks', missing_blocks },
    ...families.map((family) => ({
      dataset: family,
      missing_blocks: missingBlocks(
        gaps.filter((gap) => gap.family === family),
        // What is in for some stables only is missing for the others.
        covered.filter((range) => range.family === family && range.stables.length === 0),
      ),
    })),
  ]
}
