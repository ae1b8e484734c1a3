import { keccak256, toHex } from 'viem'
import { TRACKED_ROLES } from '../../clickhouse/roles/roles.js'

const NO_BYTES = `0x${'0'.repeat(64)}`

/** The names of TIP-20's roles by their ids. A role's id is the hash of its name, except for the one that grants the others. */
export const ROLE_NAMES: ReadonlyMap<string, string> = new Map(
  TRACKED_ROLES.map(({ name }) => [name === 'DEFAULT_ADMIN_ROLE' ? NO_BYTES : keccak256(toHex(name)), name]),
)
