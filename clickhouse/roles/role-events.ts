import type { FactPosition } from '../chain/position.js'

/**
 * A change of who holds a role of a stable, or of which role gives it out. `role` is the chain's 32-byte id; `role_name`
 * is empty for an id that is none of the known ones. `account` is null for an `admin` row, `new_admin_role` for the others.
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
