import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { Coverage, coverageOf, withState } from '../../clickhouse/chain/coverage.js'
import type { Ledger } from '../../clickhouse/chain/ledger.js'
import { inRoleOrder, RoleHolder, roleHolders, rolesCoverage, TRACKED_ROLES } from '../../clickhouse/roles/roles.js'
import type { ReadOptions } from '../../clickhouse/store/define-query.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { allUntil, PastEcho } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import type { Creation } from '../answers/stable.js'

/** The role holders of a stable, in its own answer and in the stable's. */
export const Roles = z.object({
  coverage: z
    .object({
      ...Coverage.shape,
      roles_tracked: z
        .array(
          z.object({
            name: z.string().meta({ description: 'Name of the role' }),
            powers: z.string().meta({
              description: 'What it allows. Minting (ISSUER_ROLE) ends at the supply cap',
            }),
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
  { stable, at, ledger, since }: { stable: string; at: Date; ledger: Ledger; since: Creation | undefined },
  options: ReadOptions,
): Promise<z.infer<typeof Roles>> {
  const holders = await roleHolders(clickhouse, { stable, at }, options)
  const logs = coverageOf(ledger, { families: ['catalogue'], stable, since, ...allUntil(at) })
  const coverage = withState(logs, rolesCoverage({ is_genesis: since?.block_number === 0 }))
  return { coverage: { ...coverage, roles_tracked: TRACKED_ROLES }, roles: inRoleOrder(holders) }
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
  covers: ({ stable, at, since }) => ({ families: ['catalogue'], stable, since, ...allUntil(at) }),
  answer: async ({ app, stable, at, ledger, since, reads }) => ({
    address: stable,
    ...(await readRoles(app.clickhouse, { stable, at, ledger, since }, reads)),
  }),
})
