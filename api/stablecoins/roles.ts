import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { inRoleOrder, RoleHolder, roleHolders, rolesCoverage, TRACKED_ROLES } from '../../clickhouse/roles/roles.js'
import { stablecoinCreation } from '../../clickhouse/stablecoins/stablecoins.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { PastEcho } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { Coverage } from '../answers/shapes.js'

/** The role holders of a stable, in its own answer and in the stable's. */
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
    .meta({ description: 'How the role holders are known' }),
  roles: z.array(RoleHolder).meta({ description: 'The role holders, in the order of the tracked roles' }),
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

export const rolesRoute = endpoint({
  path: '/stablecoins/:address/roles',
  tag: 'stablecoins',
  operationId: 'getRoles',
  summary: 'Who may mint, pause and administer a stable, now or at any time',
  description: 'From the logs of the stable; for stables that are older than the logs, from the token itself.',
  about: 'moment',
  response: RolesResponse,
  cache: CACHE_POLICIES.roles,
  answer: async ({ app, stable, at, signal }) => ({
    address: stable,
    ...(await readRoles(app.clickhouse, { stable, at }, { signal })),
  }),
})
