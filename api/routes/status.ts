import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { Delay } from '../../clickhouse/queries/status/delays.js'
import { isoSeconds } from '../../domain/as-of.js'
import { lateJobs, SLOT_JOBS } from '../../domain/jobs.js'
import { problemResponses } from '../problem.js'
import type { ServiceState } from '../service-state.js'

const time = z.iso.datetime()
const count = z.int().nonnegative()

/** Of many gaps only the first are shown. */
const MOST_GAPS = 50

const DelayShape = Delay.meta({
  id: 'Delay',
  description:
    'How long after their time blocks (or slots of a job) were in, over a period. null where there were none',
})

const Status = z.object({
  at: time.meta({ description: 'The instant that the lags are about' }),
  head: z
    .object({ tag: z.string(), block_number: count, block_time: time, seen_at: time })
    .nullable()
    .meta({ description: 'The newest block that may be read, by the node’s last word; null before it was asked' }),
  newest_block: z
    .object({ block_number: count, block_time: time })
    .nullable()
    .meta({ description: 'The newest block that is in' }),
  datasets: z
    .array(
      z.object({
        dataset: z.string().meta({ description: 'A family of facts (logs, pegs, state), or what a job publishes' }),
        newest_at: time.nullable().meta({ description: 'It is true up to this instant' }),
        lag_blocks: count.nullable().meta({ description: 'Blocks up to the head that it does not know of yet' }),
        lag_seconds: count.nullable().meta({ description: 'Age of newest_at' }),
        delay_1h: DelayShape,
        delay_24h: DelayShape,
      }),
    )
    .meta({ description: 'How far each has come, and how fast it was in the last hour and the last day' }),
  gaps: z.object({
    missing_blocks: count.meta({ description: 'Blocks that are not in, though some before and after them are' }),
    declared_count: count,
    declared: z
      .array(z.object({ dataset: z.string(), from_block: count, to_block: count, reason: z.string() }))
      .meta({ description: `Ranges, both ends included, that could not be read; at most ${MOST_GAPS}` }),
  }),
  invariants: z
    .object({
      started_at: time,
      ended_at: time,
      findings: z.array(
        z.object({ what: z.string(), status: z.enum(['match', 'mismatch', 'not checked']), scope: z.string() }),
      ),
    })
    .nullable()
    .meta({ description: 'What the newest check of the database against the chain has found; null before the first' }),
  jobs: z.array(
    z.object({
      job: z.string(),
      period_seconds: count,
      last_slot_at: time.nullable(),
      last_success_at: time.nullable(),
      lag_seconds: z.int().nullable().meta({ description: 'How far last_slot_at is behind the newest block' }),
      is_late: z.boolean(),
      done_24h: count,
      failed_24h: count,
      median_ms_24h: count.nullable(),
    }),
  ),
})

const periods = new Map(SLOT_JOBS.map(({ name, period_seconds }) => [name, period_seconds]))
const iso = (instant: Date | null): string | null => instant && isoSeconds(instant)

function published(state: ServiceState): z.input<typeof Status> {
  const { at, head, newest_block, datasets, gaps, findings, jobs } = state
  const late = lateJobs(SLOT_JOBS, new Map(jobs.map(({ job, lag_seconds }) => [job, lag_seconds])))
  const [first] = findings
  return {
    at: isoSeconds(at),
    head: head && { ...head, block_time: isoSeconds(head.block_time), seen_at: isoSeconds(head.seen_at) },
    newest_block: newest_block && { ...newest_block, block_time: isoSeconds(newest_block.block_time) },
    datasets: datasets.map(({ newest_at, ...dataset }) => ({ ...dataset, newest_at: iso(newest_at) })),
    gaps: {
      missing_blocks: state.missing_blocks,
      declared_count: gaps.length,
      declared: gaps.slice(0, MOST_GAPS).map(({ family, ...range }) => ({ dataset: family, ...range })),
    },
    invariants: first
      ? {
          started_at: isoSeconds(first.started_at),
          ended_at: isoSeconds(first.ended_at),
          findings: findings.map(({ what, status, scope }) => ({ what, status, scope })),
        }
      : null,
    jobs: jobs.map(({ job, last_slot_at, last_success_at, lag_seconds, runs }) => ({
      job,
      period_seconds: periods.get(job) ?? 0,
      last_slot_at: iso(last_slot_at),
      last_success_at: iso(last_success_at),
      lag_seconds,
      is_late: late.includes(job),
      done_24h: runs?.done_24h ?? 0,
      failed_24h: runs?.failed_24h ?? 0,
      median_ms_24h: runs?.median_ms_24h ?? null,
    })),
  }
}

/** How far the service has come, what is missing, and whether what it has holds: for everybody to see. */
export const statusRoute =
  (readState: () => Promise<ServiceState>): FastifyPluginAsyncZod =>
  async (app) => {
    const schema = {
      tags: ['service'],
      summary: 'How far behind the chain each dataset is, gaps, checks and jobs',
      querystring: z.strictObject({}),
      response: { 200: Status, ...problemResponses(400, 503) },
    }
    app.get('/status', { schema }, async () => published(await readState()))
  }
