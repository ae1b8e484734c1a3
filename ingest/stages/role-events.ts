import { keccak256, toHex } from 'viem'
import type { RoleEvent } from '../../clickhouse/roles/role-events.js'
import type { ChainEvent } from '../chain/event-types.js'
import { type EventBlock, rowsOf } from './position.js'

/** TIP-20: a role's id is the hash of its name, but for the one that gives out the others. */
export const ROLE_NAMES: ReadonlyMap<string, string> = new Map([
  [`0x${'0'.repeat(64)}`, 'DEFAULT_ADMIN_ROLE'],
  ...['ISSUER_ROLE', 'PAUSE_ROLE', 'UNPAUSE_ROLE', 'BURN_BLOCKED_ROLE'].map(
    (name) => [keccak256(toHex(name)), name] as const,
  ),
])

const roleName = (role: string): string => ROLE_NAMES.get(role) ?? ''

/** The changes of roles among a block's events, in log order. A grant of a role that is held already is one too. */
export const roleEvents = (block: EventBlock, events: readonly ChainEvent[]): RoleEvent[] =>
  rowsOf(block, events, (event) => {
    if (event.name === 'RoleMembershipUpdated') {
      const { role, account, sender, hasRole } = event.args
      const kind = hasRole ? ('granted' as const) : ('revoked' as const)
      return { kind, stable: event.address, role, role_name: roleName(role), account, new_admin_role: null, sender }
    }
    if (event.name === 'RoleAdminUpdated') {
      const { role, newAdminRole: new_admin_role, sender } = event.args
      const kind = 'admin' as const
      return { kind, stable: event.address, role, role_name: roleName(role), account: null, new_admin_role, sender }
    }
    return null
  })
