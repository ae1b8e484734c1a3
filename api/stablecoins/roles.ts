import type { ClickHouseClient } from '@clickhouse/client'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { inRoleOrder, RoleHolder, roleHolders, rolesCoverage, TRACKED_ROLES } from '../../clickhouse/roles/roles.js'
import { stablecoinCreation } from '../../clickhouse/stablecoins/stablecoins.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { AsOfQuery, PastEcho, readMoment } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { querySignal } from '../answers/query-signal.js'
import { Coverage } from '../answers/shapes.js'
import { problemResponses } from '../http/problem.js'
import { StableParams } from './stable.js'

/** Who holds the roles of a stable, as its own answer and the stable's say it. */
export const Roles = z.object({
  coverage: z
    .object({
      ...Coverage.shape,
      roles_tracked: z
        .array(
          z.object({
            name: z.string().meta({ description: 'Name of the role' }),
            powers: z.string().meta({ description: 'What it allows' }),
          }),
        )
        .meta({ description: 'The roles that the token standard has' }),
    })
    .meta({ description: 'How who holds a role is known' }),
  roles: z.array(RoleHolder).meta({ description: 'Who holds one, in the order of the tracked roles' }),
})

/** The roles of a known stable as of `at`. */
export async function readRoles(
  clickhouse: ClickHouseClient,
  params: { stable: string; at: Date },
  options: { signal: AbortSignal },
): Promise<z.infer<typeof Roles>> {
  const [holders, made] = await Promise.all([
    roleHolders(clickhouse, params, options),
    stablecoinCreation(clickhouse, { stable: params.stable }, options),
  ])
  return {
    coverage: { ...rolesCoverage(made ?? { is_genesis: true, is_covered: false }), roles_tracked: TRACKED_ROLES },
    roles: inRoleOrder(holders),
  }
}

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
