/** Whether an account holds a role of a genesis token at the end of a block, as the token was asked. */
export type RoleProbe = {
  stable: string
  account: string
  role: string
  role_name: string
  has_role: boolean
  block_number: number
  block_time: number
}
