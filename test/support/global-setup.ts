import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import type { ClickHouseEnv } from '../../clickhouse/store/client.js'
import { spawnEmbedded } from '../../local/engine/spawn.js'
import { startPool } from './pool/server.js'

declare module 'vitest' {
  interface ProvidedContext {
    clickhouseServer: Omit<ClickHouseEnv, 'CLICKHOUSE_DATABASE'>
    /** Users with the rights that the API has under `npm start`; on a server of one's own, the same user as above. */
    clickhouseUsers: Record<'reader' | 'writer', Account>
    /** The server that lends databases and chains. */
    poolUrl: string
  }
}

type Account = Pick<ClickHouseEnv, 'CLICKHOUSE_USER' | 'CLICKHOUSE_PASSWORD'>
type Server = {
  env: Omit<ClickHouseEnv, 'CLICKHOUSE_DATABASE'>
  users?: Record<'reader' | 'writer', Account>
  kind: string
  stop: () => Promise<unknown>
}

/** The image that docker-compose.yml runs. */
const CLICKHOUSE_IMAGE = 'clickhouse/clickhouse-server:26.8.2.7'

const PASSWORD = 'plumbline-test'

async function dockerServer(): Promise<Server> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer(CLICKHOUSE_IMAGE)
    .withEnvironment({ CLICKHOUSE_USER: 'plumbline', CLICKHOUSE_PASSWORD: PASSWORD })
    .withExposedPorts(8123)
    .withWaitStrategy(Wait.forHttp('/ping', 8123))
    .start()
  const url = `http://${container.getHost()}:${container.getMappedPort(8123)}`
  return {
    env: { CLICKHOUSE_URL: url, CLICKHOUSE_USER: 'plumbline', CLICKHOUSE_PASSWORD: PASSWORD },
    kind: `Docker (${CLICKHOUSE_IMAGE})`,
    stop: () => container.stop(),
  }
}

/** The embedded engine for the tests of a project; those of the engine itself use it as its owner, as it comes. */
async function embeddedServer(project: string): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plumbline-test-'))
  const usersFile = join(dataDir, 'users.json')
  const user = (name: string, rights: object) => ({
    ...{ name, password_sha256_hex: createHash('sha256').update(PASSWORD).digest('hex'), ...rights },
    // Tests have few rows, and to hand them from thread to thread is a fifth of the engine's work. A drill does it.
    settings: process.env.DRILL === 'yes' ? {} : { max_threads: 1 },
  })
  const users = [
    user('tests', { access: 'own' }),
    user('tests_read', { access: 'read', readonly: 2 }),
    user('tests_write', { access: 'write' }),
  ]
  await writeFile(usersFile, JSON.stringify({ users }), { mode: 0o600 })
  const env = { CLICKHOUSE_USERS_FILE: usersFile }
  const server = await spawnEmbedded({ dataDir, port: 0, user: 'default', password: PASSWORD, env })
  const account = (name: string): Account => ({ CLICKHOUSE_USER: name, CLICKHOUSE_PASSWORD: PASSWORD })
  return {
    env: { CLICKHOUSE_URL: server.url, ...account(project === 'integration' ? 'tests' : 'default') },
    users: { reader: account('tests_read'), writer: account('tests_write') },
    kind: 'the embedded engine',
    stop: async () => {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** The ClickHouse that the integration tests use: the one CLICKHOUSE_URL names, else Docker's, else the embedded one. */
async function startServer(project: string): Promise<Server> {
  const { CLICKHOUSE_URL, CLICKHOUSE_USER = 'default', CLICKHOUSE_PASSWORD = '' } = process.env
  if (CLICKHOUSE_URL) {
    return { env: { CLICKHOUSE_URL, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD }, kind: CLICKHOUSE_URL, stop: async () => {} }
  }
  const docker = process.env.DOCKER_HOST !== undefined || existsSync('/var/run/docker.sock')
  return docker ? dockerServer() : embeddedServer(project)
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer(project.name)
  console.log(`integration tests use ClickHouse at ${server.kind}`)
  project.provide('clickhouseServer', server.env)
  project.provide('clickhouseUsers', server.users ?? { reader: server.env, writer: server.env })
  const pool = await startPool(server.env)
  project.provide('poolUrl', pool.url)
  return async () => {
    await pool.close()
    await server.stop()
  }
}
