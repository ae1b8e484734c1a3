import type { ClickHouseClient } from '@clickhouse/client'
import { ingestProgress } from '../../clickhouse/chain/batches.js'
import { blocksAfter } from '../../clickhouse/chain/blocks.js'
import type { HealthReadings } from '../../clickhouse/jobs/health.js'
import type { SlotJob } from '../../clickhouse/jobs/periods.js'
import { readProgress, secondsBetween } from '../../clickhouse/jobs/progress.js'
import { jobProgress } from '../../clickhouse/jobs/runs.js'
import { newestSampled } from '../../clickhouse/peg/samples.js'

/**
 * How far before the newest block to look for a sample at least, in seconds. The lag of an older one is "not known".
 */
const LOOK_BACK_SECONDS = 3600

/**
 * A component that advances by more chain time than this within this many seconds is catching up. Longer than the
 * minute between two checks.
 */
const PROGRESS_SECONDS = 300

/** The measurements of the service at `now`; null while there is no block. */
export async function readHealth(
  clickhouse: ClickHouseClient,
  jobs: readonly SlotJob[],
  { now, maxSamplingLagSeconds }: { now: Date; maxSamplingLagSeconds: number },
): Promise<HealthReadings | null> {
  const { newest_block: newest, blocks_to_head, ...progress } = await readProgress(clickhouse, jobs, now)
  if (!newest) return null

  const within_seconds = Math.max(LOOK_BACK_SECONDS, 2 * maxSamplingLagSeconds)
  const { sampled_at, has_stables } = await newestSampled(clickhouse, { within_seconds })
  const [afterSample = 0] = sampled_at ? await blocksAfter(clickhouse, [sampled_at]) : []
  const sampling = sampled_at
    ? { lag_seconds: secondsBetween(sampled_at, newest.block_time), lag_blocks: afterSample }
    : { lag_seconds: null, lag_blocks: null }

  const since = new Date(now.getTime() - PROGRESS_SECONDS * 1000)
  const isCatchingUp = (gained_seconds: number | null) => gained_seconds === null || gained_seconds > PROGRESS_SECONDS
  const gained = await ingestProgress(clickhouse, { since })
  const catchingUp = (await jobProgress(clickhouse, { since })).filter((job) => isCatchingUp(job.gained_seconds))
  const jobsCatchingUp = new Set(catchingUp.map(({ job }) => job))
  return {
    ingest: {
      lag_seconds: secondsBetween(newest.block_time, now),
      lag_blocks: blocks_to_head,
      is_catching_up: gained.has_moved && isCatchingUp(gained.gained_seconds),
    },
    sampling: has_stables ? sampling : null,
    jobs: progress.jobs.map(({ job, lag_seconds, due_lag_seconds, blocks_after }) => ({
      job,
      lag_seconds,
      due_lag_seconds,
      lag_blocks: blocks_after,
      is_catching_up: jobsCatchingUp.has(job),
    })),
    datasets: [
      { dataset: 'blocks', missing_blocks: progress.missing_blocks },
      ...progress.missing_facts.families.map(({ family, blocks }) => ({ dataset: family, missing_blocks: blocks })),
    ],
  }
}
