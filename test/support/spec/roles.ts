import { z } from 'zod'
import { address, count, coverageFields, timestamp, txHash } from './shapes.js'

/** The names and powers that the specification lists. */
const POWERS = {
  DEFAULT_ADMIN_ROLE: 'grant and revoke other roles',
  ISSUER_ROLE: 'mint and burn',
  PAUSE_ROLE: 'pause transfers',
  UNPAUSE_ROLE: 'resume transfers',
  BURN_BLOCKED_ROLE: 'mark addresses burn-blocked',
}

/** A coverage with the roles that are tracked, and the holders. */
export const roleFields = {
  coverage: z.strictObject({
    ...coverageFields,
    roles_tracked: z.tuple(
      Object.entries(POWERS).map(([name, powers]) =>
        z.strictObject({ name: z.literal(name), powers: z.literal(powers) }),
      ) as never,
    ),
  }),
  // The elements are beyond the specification.
  roles: z.array(
    z.union([
      z.strictObject({
        role: z.string(),
        account: address,
        granted_at: timestamp,
        granted_block: count,
        tx_hash: txHash,
        source: z.literal('event'),
      }),
      z.strictObject({
        role: z.string(),
        account: address,
        granted_at: z.null(),
        granted_block: z.null(),
        tx_hash: z.null(),
        source: z.literal('probe'),
      }),
    ]),
  ),
}

/** GET roles, now or, beyond the specification, with as_of. */
export const Roles = z.strictObject({ address, as_of: timestamp.optional(), ...roleFields })
