import { keccak256, toHex } from 'viem'

/** TIP-20: a role's id is the hash of its name, except for the role that grants the others. */
export const ROLE_NAMES: ReadonlyMap<string, string> = new Map([
  [`0x${'0'.repeat(64)}`, 'DEFAULT_ADMIN_ROLE'],
  ...['ISSUER_ROLE', 'PAUSE_ROLE', 'UNPAUSE_ROLE', 'BURN_BLOCKED_ROLE'].map(
    (name) => [keccak256(toHex(name)), name] as const,
  ),
])
