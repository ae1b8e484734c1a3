import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { lateJobs, SLOT_JOBS } from '../../clickhouse/jobs/periods.js'
import { JobStatus, jobStatuses } from '../../clickhouse/jobs/runs.js'
import { dueLag, slotHistory } from '../../clickhouse/jobs/slots.js'
import { schemaVersion } from '../../clickhouse/schema/migrate.js'
import { PlumblineError } from '../../process/errors.js'
import { checkRedis } from '../../process/redis.js'
import { endpoint } from '../answers/endpoint.js'
import { DrainingError } from '../http/errors.js'

/** The database answers, but `npm run migrate` has not been run on it. */
class NoSchemaError extends PlumblineError {
  constructor(cause?: unknown) {
    super('the database has no schema', { retryable: true, cause })
  }
}

const OK = z.literal('ok').meta({ description: 'Always ok; a failure is a problem document' })

/** Whether the process is running. */
export const liveRoute = endpoint({
  path: '/health/live',
  tag: 'service',
  operationId: 'getLiveness',
  summary: 'The process is up',
  description: 'Liveness probe for process supervisors. Does not check ClickHouse or Redis.',
  about: 'now',
  response: z.object({ status: OK }),
  problems: [400],
  always: true,
  answer: () => ({ status: 'ok' as const }),
})

const Ready = z.object({
  status: OK,
  clickhouse: z.literal('ok').meta({ description: 'ClickHouse answers, and has the schema' }),
  redis: z.enum(['ok', 'not_configured']).meta({ description: 'Redis accepts writes, or none is configured' }),
  schema_version: z.int().meta({ description: 'Number of the newest migration that was run' }),
  jobs: z.array(JobStatus).meta({ description: 'How far each job has come' }),
  detail: z
    .string()
    .nullable()
    .meta({ description: 'What is wrong even though requests can be answered; null if nothing is' }),
})

/** The jobs that are late, except with slots that wait for facts which are not read. */
async function lateNow(
  app: FastifyInstance,
  lags: ReadonlyMap<string, number | null>,
  options: { signal: AbortSignal },
): Promise<string[]> {
  if (lateJobs(SLOT_JOBS, lags).length === 0) return []
  const history = await slotHistory(app.clickhouse, options)
  return lateJobs(
    SLOT_JOBS,
    new Map(SLOT_JOBS.map((job) => [job.name, dueLag(job, history, lags.get(job.name) ?? null)])),
  )
}

/**
 * Whether requests can be answered: the process is not shutting down, ClickHouse has the schema, and Redis accepts
 * writes if it is configured.
 */
export const readyRoute = endpoint({
  path: '/health/ready',
  tag: 'service',
  operationId: 'getReadiness',
  summary: 'Requests can be answered',
  description: 'Readiness probe for load balancers. Late jobs are reported, but do not make it fail.',
  about: 'now',
  response: Ready,
  always: true,
  answer: async ({ app, signal }) => {
    if (app.draining.aborted) throw new DrainingError()
    const schema_version = await schemaVersion(app.clickhouse, { signal }).catch((error) => {
      throw error instanceof PlumblineError && error.retryable ? error : new NoSchemaError(error)
    })
    if (schema_version === 0) throw new NoSchemaError()
    const jobs = await jobStatuses(app.clickhouse, { jobs: SLOT_JOBS.map(({ name }) => name) }, { signal })
    const lags = new Map(jobs.map(({ job, lag_seconds }) => [job, lag_seconds]))
    const late = await lateNow(app, lags, { signal })
    if (app.redis) await checkRedis(app.redis)
    return {
      status: 'ok' as const,
      clickhouse: 'ok' as const,
      redis: app.redis ? ('ok' as const) : ('not_configured' as const),
      schema_version,
      jobs,
      detail: late.length === 0 ? null : `behind the chain for more than three runs: ${late.join(', ')}`,
    }
  },
})
