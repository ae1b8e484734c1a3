import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { STEADY_FAMILIES } from '../../clickhouse/chain/batches.js'
import { lateJobs, SLOT_JOBS } from '../../clickhouse/jobs/periods.js'
import { secondsBetween } from '../../clickhouse/jobs/progress.js'
import { isoSeconds } from '../../process/instants.js'
import type { ServiceState, ServiceStateReader } from './service-state.js'

/** Data that is older than this is an outage, in seconds. */
const OUTAGE_SECONDS = 180

/** A state that was read longer ago than this says nothing about now. */
const UNREAD_SECONDS = 60

type Verdict = { indicator: 'none' | 'minor' | 'major' | 'critical'; description: string }

/** The state of the service in the four steps of status pages, with the worst that is known in words. */
function verdictOf(
  { at, newest_block, catalogue, datasets, missing_blocks, unknown, jobs }: ServiceState,
  now: Date,
): Verdict {
  if (secondsBetween(at, now) > UNREAD_SECONDS)
    return { indicator: 'major', description: `The state of the service could not be read since ${isoSeconds(at)}` }
  if (catalogue && newest_block === null)
    return {
      indicator: 'major',
      description: `First start: the past is read up to block ${catalogue.block_number} of ${catalogue.to_block}`,
    }
  if (newest_block === null) return { indicator: 'critical', description: 'Nothing has been read yet' }
  const [oldest] = datasets
    .filter(({ dataset }) => STEADY_FAMILIES.some((family) => family === dataset))
    .map(({ lag_seconds }) => lag_seconds ?? Number.POSITIVE_INFINITY)
    .toSorted((a, b) => b - a)
  if (oldest !== undefined && oldest > OUTAGE_SECONDS)
    return { indicator: 'major', description: `The newest block that was read is ${oldest} seconds old` }
  const late = lateJobs(SLOT_JOBS, new Map(jobs.map(({ job, due_lag_seconds }) => [job, due_lag_seconds])))
  if (late.length > 0) return { indicator: 'minor', description: `Late: ${late.join(', ')}` }
  if (missing_blocks > 0) return { indicator: 'minor', description: `${missing_blocks} blocks of the past are missing` }
  if (unknown.length > 0)
    return { indicator: 'minor', description: `${unknown.length} kinds of events of the chain are not understood` }
  return { indicator: 'none', description: 'All data is up to date' }
}

/** The status in the shape that status tools read: that of Statuspage's status.json. */
export const statusPageRoute =
  ({ readOrLast }: ServiceStateReader): FastifyPluginAsync =>
  async (app) => {
    const schema = { hide: true, querystring: z.strictObject({}) }
    app.get('/api/v2/status.json', { schema }, async (_, reply) => {
      const state = await readOrLast()
      const url = app.linkTo('/')
      const page = { id: 'plumbline', name: 'Plumbline', url, time_zone: 'Etc/UTC', updated_at: state.at.toISOString() }
      return reply.header('cache-control', 'public, max-age=5').send({ page, status: verdictOf(state, app.now()) })
    })
  }
