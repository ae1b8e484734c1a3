import { z } from 'zod'
import type { FactPosition } from '../chain/blocks.js'
import type { DataState } from '../chain/coverage.js'
import { defineQuery } from '../store/define-query.js'
import { keptWhile } from '../store/read-memory.js'
import { byStable, together } from '../store/together.js'
import { txHash } from '../store/values.js'

/** The roles of TIP-20 and what each allows, in the order in which they are listed. */
export const TRACKED_ROLES = [
  { name: 'DEFAULT_ADMIN_ROLE', powers: 'grant and revoke other roles' },
  { name: 'ISSUER_ROLE', powers: 'mint and burn' },
  { name: 'PAUSE_ROLE', powers: 'pause transfers' },
  { name: 'UNPAUSE_ROLE', powers: 'resume transfers' },
  {
    name: 'BURN_BLOCKED_ROLE',
    powers: 'burn from burn-blocked addresses, which are those that the transfer policy blocks',
  },
  { name: 'BURN_AT_ROLE', powers: 'burn from any address, whatever the transfer policy says' },
]

/**
 * A role of a stable was granted or revoked, or another role became its admin role. `role` is the chain's 32-byte id;
 * `role_name` is empty for an unknown id. `account` is null for an `admin` row, `new_admin_role` for the others.
 */
export type RoleEvent = FactPosition & {
  kind: 'granted' | 'revoked' | 'admin'
  stable: string
  role: string
  role_name: string
  account: string | null
  new_admin_role: string | null
  sender: string
}

/** Whether an account holds a role of a genesis token at the end of a block, according to a call to the token. */
export type RoleProbe = {
  stable: string
  account: string
  role: string
  role_name: string
  has_role: boolean
  block_number: number
  block_time: number
}

export const RoleHolder = z.object({
  role: z.string().meta({ description: 'Name of a known role; otherwise its 32-byte id' }),
  account: z.string().meta({ description: 'Address that holds the role' }),
  granted_at: z.iso.datetime().nullable().meta({ description: 'null for source probe: the grant has no log' }),
  granted_block: z.int().nullable().meta({ description: 'Height of the block of the grant; null for source probe' }),
  tx_hash: txHash.nullable().meta({ description: 'Hash of the transaction of the grant; null for source probe' }),
  source: z.enum(['event', 'probe']).meta({
    description: 'event: read from a log; probe: a call to the stable returned that the account holds the role',
  }),
})

const holdersOf = defineQuery({
  name: 'role_holders',
  params: z.object({ stables: z.array(z.string()), at: z.date() }),
  row: RoleHolder.extend({ stable: z.string() }),
  // arrayLastIndex counts from 1, and is 0 if nothing ever showed the contrary.
  sql: `
    WITH reports AS
    (
        SELECT stable, role, role_name, assumeNotNull(account) AS holder, kind = 'granted' AS holds, 'event' AS learned_from,
               block_number AS number, toInt64(log_index) AS place, block_time AS time, tx_hash AS hash
        FROM role_events
        WHERE stable IN {stables: Array(String)} AND block_time <= {at: DateTime} AND kind IN ('granted', 'revoked')
        UNION ALL
        SELECT stable, role, role_name, account, has_role, 'probe', block_number, toInt64(4294967296), block_time, ''
        FROM role_probes
        WHERE stable IN {stables: Array(String)} AND block_time <= {at: DateTime}
    )
    SELECT stable, if(name = '', id, name) AS role, holder AS account,
           if(source = 'event', toNullable(first.4), NULL) AS granted_at,
           if(source = 'event', toNullable(toUInt32(first.1)), NULL) AS granted_block,
           if(source = 'event', toNullable(first.5), NULL) AS tx_hash,
           first.6 AS source
    FROM
    (
        SELECT stable, reports.role AS id, any(role_name) AS name, holder,
               arraySort(report -> (report.1, report.2), groupArray((number, place, holds, time, hash, learned_from))) AS history,
               arrayLastIndex(report -> NOT report.3, history) AS last_denial,
               history[last_denial + 1] AS first
        FROM reports
        GROUP BY stable, id, holder
        HAVING last_denial < length(history)
    )
    ORDER BY stable, id, holder`,
})

/**
 * The holders of a stable's roles as of `at`, by role id and account. An account holds a role if the last event or
 * probe (at the end of a block) shows that it does. The grant is the first one after the last event or probe that shows
 * the contrary, so granting a role again changes nothing.
 */
export const roleHolders = keptWhile(
  ['role_events', 'role_probes'],
  together('role_holders', async (clickhouse, request: { stables: string[]; at: Date }, options) =>
    byStable(await holdersOf(clickhouse, request, options)),
  ),
)

const rank = new Map(TRACKED_ROLES.map(({ name }, i) => [name, i]))

/** Sorts holders by role, tracked roles first and in their order; otherwise keeps the order given. */
export function inRoleOrder<Holder extends { role: string }>(holders: readonly Holder[]): Holder[] {
  const rankOf = ({ role }: Holder): number => rank.get(role) ?? rank.size
  return [...holders].sort((a, b) => rankOf(a) - rankOf(b))
}

/** How complete the list of a stable's role holders can be at best, given how the stable was created. */
export function rolesCoverage({ is_genesis }: { is_genesis: boolean }): DataState {
  if (is_genesis)
    return {
      status: 'partial',
      message:
        'The stable is from the genesis block: its first roles were granted without a log, and the chain cannot list the ' +
        'holders of a role. Only accounts known to administer stables were checked.',
    }
  return { status: 'complete', message: 'From the logs of all blocks since the stable was created.' }
}

/** Every grant and revocation of the right to mint and burn a stable before a block, in the order of the chain. */
export const issuerRoleChanges = defineQuery({
  name: 'issuer_changes',
  params: z.object({ before_block: z.int() }),
  row: z.object({
    stable: z.string(),
    account: z.string(),
    granted: z.boolean(),
    block_number: z.int(),
    log_index: z.int(),
  }),
  sql: `
    SELECT stable, assumeNotNull(account) AS account, (kind = 'granted')::Bool AS granted, toUInt32(block_number) AS block_number, log_index
    FROM role_events
    WHERE role_name = 'ISSUER_ROLE' AND kind != 'admin' AND block_number < {before_block: UInt64}
    ORDER BY role_events.block_number, log_index`,
})
