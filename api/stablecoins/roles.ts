import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { RoleHolder, roleHolders } from '../../clickhouse/roles/role-holders.js'
import { inRoleOrder, rolesCoverage, TRACKED_ROLES } from '../../clickhouse/roles/roles.js'
import { creation } from '../../clickhouse/stablecoins/creation.js'
import { Coverage } from '../answers/shapes.js'

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
  const [holders, [made = { is_genesis: true, is_covered: false }]] = await Promise.all([
    roleHolders(clickhouse, params, options),
    creation(clickhouse, { stable: params.stable }, options),
  ])
  return {
    coverage: { ...rolesCoverage(made), roles_tracked: TRACKED_ROLES },
    roles: inRoleOrder(holders),
  }
}
