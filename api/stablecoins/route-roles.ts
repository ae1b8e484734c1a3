import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { stableAddress } from '../../clickhouse/store/values.js'
import { AsOfQuery } from '../answers/as-of-query.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { PastEcho, readMoment } from '../answers/moment.js'
import { querySignal } from '../answers/query-signal.js'
import { problemResponses } from '../http/problem.js'
import { Roles, readRoles } from './roles.js'
import { StableParams } from './stable-params.js'

const RolesResponse = z.object({ address: stableAddress, as_of: PastEcho, ...Roles.shape })

export const rolesRoute: FastifyPluginAsyncZod = async (app) => {
  const config = { cache: CACHE_POLICIES.roles }
  const schema = {
    tags: ['stablecoins'],
    operationId: 'getRoles',
    summary: 'Who may mint, pause and administer a stable, now or at any time',
    description: 'By the logs of the stable; for stables that are older than the logs, by asking the token.',
    params: StableParams,
    querystring: z.strictObject(AsOfQuery),
    response: { 200: RolesResponse, ...problemResponses(400, 404, 503) },
  }
  app.get('/stablecoins/:address/roles', { schema, config }, async (request, reply) => {
    const { address } = request.params
    const { at, as_of } = await readMoment(app, request, reply, address)
    const roles = await readRoles(app.clickhouse, { stable: address, at }, { signal: querySignal(request) })
    return { address, ...(as_of !== null && { as_of }), ...roles }
  })
}
