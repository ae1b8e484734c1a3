import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashPassword } from './engine/access/password.js'
import { readUsers } from './engine/access/users.js'
import { keptSecret } from './kept-secret.js'

const PASSWORD_BYTES = 18

/** A ClickHouse user and password, as environment variables of a process. */
type Account = { CLICKHOUSE_USER: string; CLICKHOUSE_PASSWORD: string }

/** The ClickHouse user of each part: a part has only the rights that its work needs. */
export type Accounts = {
  /** Runs migrations: every right. */
  owner: Account
  /** Ingest, jobs and the API's own records: reads, inserts and deletes rows. */
  writer: Account
  /** The API: reads, and changes the settings of its queries. */
  reader: Account
}

/**
 * The accounts of the embedded engine, and the users file that the engine reads, which holds only password hashes. The
 * first start generates the passwords and saves each in its own file in `dataDir`; `owner` may bring a password. The
 * users in `usersFile` are added. Throws if that file is invalid.
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
  // Replaced in one step: an engine that is restarting may read the file at this moment.
  await writeFile(`${file}.new`, JSON.stringify({ users }, null, 2), { mode: 0o600 })
  await rename(`${file}.new`, file)
  const password = owner.password ?? (await kept('clickhouse'))
  return {
    accounts: { owner: { CLICKHOUSE_USER: owner.user, CLICKHOUSE_PASSWORD: password }, writer, reader },
    usersFile: file,
  }
}
