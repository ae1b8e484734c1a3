import type { RoleEvent } from '../../clickhouse/roles/roles.js'
import type { ChainEvent } from '../chain/event-types.js'
import { ROLE_NAMES } from '../chain/role-names.js'
import type { SampledStable } from '../knowledge/registry.js'
import { type EventBlock, rowsOf } from './rows.js'

const roleName = (role: string): string => ROLE_NAMES.get(role) ?? ''

/** The role changes among a block's events, in log order, including grants of a role that the account already holds. */
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

/** The accounts that an event of a token links to a role: who granted, revoked or used it, and who got or lost it. */
function roleParties(event: ChainEvent): string[] {
  switch (event.name) {
    case 'RoleMembershipUpdated':
      return [event.args.sender, event.args.account]
    case 'RoleAdminUpdated':
      return [event.args.sender]
    case 'PauseStateUpdate':
    case 'SupplyCapUpdate':
    case 'TransferPolicyUpdate':
    case 'NextQuoteTokenSet':
    case 'LogoURIUpdated':
      return [event.args.updater]
    default:
      return []
  }
}

/** Those of the sampled stables (in order of creation) that existed before the first block. */
export function genesisStables(sampled: readonly SampledStable[]): string[] {
  const end = sampled.findIndex(({ block_number }) => block_number > 0)
  return sampled.slice(0, end === -1 ? sampled.length : end).map(({ stable }) => stable)
}

/**
 * The accounts whose roles in genesis tokens a block makes worth reading, each once: those that administer such a token
 * in this block, and the admins of stables created in it. `sampled` are the stables that are sampled at the block, in
 * order of creation. The result depends on the block alone, so reading it again makes the same requests.
 */
export function roleCandidates(
  blockNumber: number,
  events: readonly ChainEvent[],
  sampled: readonly SampledStable[],
): string[] {
  const candidates = new Set<string>()
  const genesis = genesisStables(sampled)
  for (const event of events) {
    if (genesis.includes(event.address)) for (const account of roleParties(event)) candidates.add(account)
  }
  // The newest come last.
  for (let i = sampled.length - 1; sampled[i]?.block_number === blockNumber; i--) {
    candidates.add((sampled[i] as SampledStable).admin)
  }
  return [...candidates]
}
