import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { JobStatus, jobStatuses } from '../../clickhouse/queries/job-statuses.js'
import { schemaVersion } from '../../clickhouse/queries/schema-version.js'
import { PlumblineError } from '../../domain/errors.js'
import { lateJobs, SLOT_JOBS } from '../../domain/jobs.js'
import { problemResponses } from '../problem.js'
import { querySignal } from '../query-signal.js'
import { DrainingError } from '../request-errors.js'

/** Redis is configured but does not answer. */
class RedisAwayError extends PlumblineError {
  constructor(cause: unknown) {
    super('redis does not answer', { retryable: true, cause })
  }
}

/** The database answers, but `npm run migrate` has not been run on it. */
class NoSchemaError extends PlumblineError {
  constructor(cause?: unknown) {
    super('the database has no schema', { retryable: true, cause })
  }
}

/**
 * Whether the process lives, and whether it can answer: it is not about to end, ClickHouse has the schema, and Redis is
 * there if configured.
 */
export const health: FastifyPluginAsyncZod = async (app) => {
  const tags = ['service']
  app.get(
    '/health/live',
    {
      schema: { tags, summary: 'The process is up', response: { 200: z.object({ status: z.literal('ok') }) } },
      config: { always: true },
    },
    async () => ({ status: 'ok' as const }),
  )

  const Ready = z.object({
    status: z.literal('ok'),
    clickhouse: z.literal('ok'),
    redis: z.enum(['ok', 'not_configured']),
    schema_version: z.int(),
    jobs: z.array(JobStatus).describe('how far each job has come; lag_seconds is behind the newest block'),
    detail: z.string().nullable().describe('what is wrong though requests can be answered'),
  })
  app.get(
    '/health/ready',
    {
      schema: { tags, summary: 'Requests can be answered', response: { 200: Ready, ...problemResponses(503) } },
      config: { always: true },
    },
    async (request) => {
      if (app.draining.aborted) throw new DrainingError()
      const signal = querySignal(request)
      const [schema] = await schemaVersion(app.clickhouse, {}, { signal }).catch((error) => {
        throw error instanceof PlumblineError && error.retryable ? error : new NoSchemaError(error)
      })
      if (!schema?.version) throw new NoSchemaError()
      const jobs = await jobStatuses(app.clickhouse, { jobs: SLOT_JOBS.map(({ name }) => name) }, { signal })
      const late = lateJobs(SLOT_JOBS, new Map(jobs.map(({ job, lag_seconds }) => [job, lag_seconds])))
      await app.redis?.ping().catch((error) => {
        throw new RedisAwayError(error)
      })
      return {
        status: 'ok' as const,
        clickhouse: 'ok' as const,
        redis: app.redis ? ('ok' as const) : ('not_configured' as const),
        schema_version: schema.version,
        jobs,
        detail: late.length === 0 ? null : `behind the chain for more than three runs: ${late.join(', ')}`,
      }
    },
  )
}
