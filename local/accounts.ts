import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashPassword } from './engine/access/password.js'
import { readUsers } from './engine/access/users.js'
import { keptSecret } from './kept-secret.js'

const PASSWORD_BYTES = 18

/** Someone who may log in to ClickHouse, as the variables of a process. */
type Account = { CLICKHOUSE_USER: string; CLICKHOUSE_PASSWORD: string }

/** Who each part is to ClickHouse, so that none can do more than its work needs. */
export type Accounts = {
  /** Migrations: everything. */
  owner: Account
  /** Ingest, jobs, and what the API keeps itself: read, insert and delete rows. */
  writer: Account
  /** The API: read, and set what a query needs. */
  reader: Account
}

/**
 * The accounts of the embedded engine and the file of users that it reads, which holds hashes only. Passwords are made
 * at the first start and kept in `dataDir`, in a file each. `owner` may bring his own; the users of `usersFile` come on
 * top. Throws when that file is wrong.
 */
export async function embeddedAccounts(
  dataDir: string,
  owner: { user: string; password: string | undefined },
  usersFile: string | undefined,
): Promise<{ accounts: Accounts; usersFile: string }> {
  const kept = async (name: string) => (await keptSecret(join(dataDir, `${name}.password`), PASSWORD_BYTES)).secret
  const writer = { CLICKHOUSE_USER: 'plumbline_write', CLICKHOUSE_PASSWORD: await kept('clickhouse-write') }
  const reader = { CLICKHOUSE_USER: 'plumbline_read', CLICKHOUSE_PASSWORD: await kept('clickhouse-read') }
  const entry = ({ CLICKHOUSE_USER, CLICKHOUSE_PASSWORD }: Account) => ({
    name: CLICKHOUSE_USER,
    ...hashPassword(CLICKHOUSE_PASSWORD),
  })
  const users = [
    { ...entry(writer), access: 'write' },
    { ...entry(reader), access: 'read', readonly: 2 },
    ...(usersFile === undefined ? [] : readUsers(usersFile)),
  ]
  const file = join(dataDir, 'clickhouse.users.json')
  // In one step, as an engine that is being started again may read it just now.
  await writeFile(`${file}.new`, JSON.stringify({ users }, null, 2), { mode: 0o600 })
  await rename(`${file}.new`, file)
  const password = owner.password ?? (await kept('clickhouse'))
  return {
    accounts: { owner: { CLICKHOUSE_USER: owner.user, CLICKHOUSE_PASSWORD: password }, writer, reader },
    usersFile: file,
  }
}
