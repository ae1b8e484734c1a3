import type { Coverage } from '../peg/coverage.js'

/** The roles of TIP-20 and what each allows, in the order in which they are told. */
export const TRACKED_ROLES = [
  { name: 'DEFAULT_ADMIN_ROLE', powers: 'grant and revoke other roles' },
  { name: 'ISSUER_ROLE', powers: 'mint and burn' },
  { name: 'PAUSE_ROLE', powers: 'pause transfers' },
  { name: 'UNPAUSE_ROLE', powers: 'resume transfers' },
  { name: 'BURN_BLOCKED_ROLE', powers: 'mark addresses burn-blocked' },
]

const rank = new Map(TRACKED_ROLES.map(({ name }, i) => [name, i]))

/** Holders by role, in the order of the tracked ones and then by id; within a role in the order given. */
export function inRoleOrder<Holder extends { role: string }>(holders: readonly Holder[]): Holder[] {
  const rankOf = ({ role }: Holder): number => rank.get(role) ?? rank.size
  return [...holders].sort((a, b) => rankOf(a) - rankOf(b))
}

/** How much is known of who holds the roles of a stable that came to be like this. */
export function rolesCoverage({ is_genesis, is_covered }: { is_genesis: boolean; is_covered: boolean }): Coverage {
  if (is_genesis)
    return {
      status: 'partial',
      message:
        'There from the first block: its first roles were given without a log, and the chain cannot list who holds one. ' +
        'Accounts that are seen to administer stables were asked.',
    }
  if (is_covered) return { status: 'complete', message: 'From the logs of all blocks since the stable was made.' }
  return {
    status: 'partial',
    message: 'Some blocks since the stable was made are not in: changes in these are missing.',
  }
}
