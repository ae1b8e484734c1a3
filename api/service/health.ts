import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { lateJobs, SLOT_JOBS } from '../../clickhouse/jobs/periods.js'
import { JobStatus, jobStatuses } from '../../clickhouse/jobs/runs.js'
import { schemaVersion } from '../../clickhouse/migrations/migrate.js'
import { PlumblineError } from '../../process/errors.js'
import { querySignal } from '../answers/query-signal.js'
import { DrainingError } from '../http/errors.js'
import { problemResponses } from '../http/problem.js'
import { NoQuery } from '../stablecoins/stable.js'

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
  const OK = z.literal('ok').meta({ description: 'Always ok; a failure is a problem document' })
  app.get(
    '/health/live',
    {
      schema: {
        tags,
        operationId: 'getLiveness',
        summary: 'The process is up',
        description: 'For whoever restarts processes. Asks nothing of ClickHouse and Redis.',
        querystring: NoQuery,
        response: { 200: z.object({ status: OK }), ...problemResponses(400) },
      },
      config: { always: true },
    },
    async () => ({ status: 'ok' as const }),
  )

  const Ready = z.object({
    status: OK,
    clickhouse: z.literal('ok').meta({ description: 'ClickHouse answers, and has the schema' }),
    redis: z.enum(['ok', 'not_configured']).meta({ description: 'Redis answers, or none is configured' }),
    schema_version: z.int().meta({ description: 'Number of the newest migration that was run' }),
    jobs: z.array(JobStatus).meta({ description: 'How far each job has come' }),
    detail: z
      .string()
      .nullable()
      .meta({ description: 'What is wrong though requests can be answered; null when nothing is' }),
  })
  app.get(
    '/health/ready',
    {
      schema: {
        tags,
        operationId: 'getReadiness',
        summary: 'Requests can be answered',
        description: 'For whoever routes requests to processes. Late jobs are told, but do not make it fail.',
        querystring: NoQuery,
        response: { 200: Ready, ...problemResponses(400, 503) },
      },
      config: { always: true },
    },
    async (request) => {
      if (app.draining.aborted) throw new DrainingError()
      const signal = querySignal(request)
      const schema_version = await schemaVersion(app.clickhouse, { signal }).catch((error) => {
        throw error instanceof PlumblineError && error.retryable ? error : new NoSchemaError(error)
      })
      if (schema_version === 0) throw new NoSchemaError()
      const jobs = await jobStatuses(app.clickhouse, { jobs: SLOT_JOBS.map(({ name }) => name) }, { signal })
      const late = lateJobs(SLOT_JOBS, new Map(jobs.map(({ job, lag_seconds }) => [job, lag_seconds])))
      await app.redis?.ping().catch((error) => {
        throw new RedisAwayError(error)
      })
      return {
        status: 'ok' as const,
        clickhouse: 'ok' as const,
        redis: app.redis ? ('ok' as const) : ('not_configured' as const),
        schema_version,
        jobs,
        detail: late.length === 0 ? null : `behind the chain for more than three runs: ${late.join(', ')}`,
      }
    },
  )
}
