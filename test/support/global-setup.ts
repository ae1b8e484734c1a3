import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import type { ClickHouseEnv } from '../../clickhouse/store/client.js'
import { spawnEmbedded } from '../../local/engine/spawn.js'
import { otherServer, type TestedServer } from '../../local/engine/test/global-setup.js'
import { OTHER_SETTINGS } from './other-settings.js'
import { startPool } from './pool/server.js'

declare module 'vitest' {
  interface ProvidedContext {
    clickhouseServer: Omit<ClickHouseEnv, 'CLICKHOUSE_DATABASE'>
    /**
     * Users with the rights that the API has under `npm start`, and one whose profile has other values for all settings that
     * change a result; on a server of one's own, the same user as above.
     */
    clickhouseUsers: Record<TestUser, Account>
    /** The server that lends databases and chains. */
    poolUrl: string
  }
}

type Account = Pick<ClickHouseEnv, 'CLICKHOUSE_USER' | 'CLICKHOUSE_PASSWORD'>
type TestUser = 'reader' | 'writer' | 'other'
type Server = TestedServer & { users?: Record<TestUser, Account> }

const PASSWORD = 'plumbline-test'

/** The embedded engine, with the users of `npm start`. */
async function embeddedServer(): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plumbline-test-'))
  const usersFile = join(dataDir, 'users.json')
  const user = (name: string, rights: object, settings: object = {}) => ({
    ...{ name, password_sha256_hex: createHash('sha256').update(PASSWORD).digest('hex'), ...rights },
    // Tests have few rows, and to hand them from thread to thread is a fifth of the engine's work. A drill does it.
    settings: { ...settings, ...(process.env.DRILL !== 'yes' && { max_threads: 1 }) },
  })
  const users = [
    user('tests', { access: 'own' }),
    user('tests_read', { access: 'read', readonly: 2 }),
    user('tests_write', { access: 'write' }),
    user('tests_other', { access: 'own' }, OTHER_SETTINGS),
  ]
  await writeFile(usersFile, JSON.stringify({ users }), { mode: 0o600 })
  const env = { CLICKHOUSE_USERS_FILE: usersFile }
  const server = await spawnEmbedded({ dataDir, port: 0, user: 'default', password: PASSWORD, env })
  const account = (name: string): Account => ({ CLICKHOUSE_USER: name, CLICKHOUSE_PASSWORD: PASSWORD })
  return {
    env: { CLICKHOUSE_URL: server.url, ...account('tests') },
    users: { reader: account('tests_read'), writer: account('tests_write'), other: account('tests_other') },
    kind: 'the embedded engine',
    stop: async () => {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server: Server = (await otherServer()) ?? (await embeddedServer())
  console.log(`integration tests use ClickHouse at ${server.kind}`)
  project.provide('clickhouseServer', server.env)
  project.provide('clickhouseUsers', server.users ?? { reader: server.env, writer: server.env, other: server.env })
  const pool = await startPool(server.env)
  project.provide('poolUrl', pool.url)
  return async () => {
    await pool.close()
    await server.stop()
  }
}
