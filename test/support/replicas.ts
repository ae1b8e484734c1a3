import { randomBytes } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { migrate } from '../../clickhouse/schema/migrate.js'
import { type ClickHouseEnv, connect } from '../../clickhouse/store/client.js'

/** The URLs of two servers that are replicas of each other, each with its user and password: `http://user:password@host:port`. */
const URLS = process.env.CLICKHOUSE_TEST_REPLICAS?.split(',') ?? []

/** Why tests of replicas are not run; empty if they are. */
export const NO_REPLICAS = URLS.length === 2 ? '' : 'CLICKHOUSE_TEST_REPLICAS does not name two replicas'

const envOf = (url: string, database: string): ClickHouseEnv => {
  const { protocol, host, username, password } = new URL(url)
  return {
    CLICKHOUSE_URL: `${protocol}//${host}`,
    CLICKHOUSE_USER: decodeURIComponent(username) || 'default',
    CLICKHOUSE_PASSWORD: decodeURIComponent(password),
    CLICKHOUSE_DATABASE: database,
    CLICKHOUSE_TOPOLOGY: 'replicated',
  }
}

export type TwoReplicas = { envs: ClickHouseEnv[]; clients: ClickHouseClient[]; remove: () => Promise<void> }

const Tables = z.array(z.object({ name: z.string(), create_table_query: z.string(), engine: z.string() }))

/** Makes on `to` what `from` has, where the database does not copy its schema by itself. */
async function copySchema(from: ClickHouseClient, to: ClickHouseClient): Promise<void> {
  const query = `
    SELECT name, create_table_query, engine FROM system.tables WHERE database = currentDatabase() AND NOT startsWith(name, '.')
    ORDER BY engine LIKE '%MergeTree' DESC, metadata_modification_time, name`
  const tables = Tables.parse(await (await from.query({ query, format: 'JSONEachRow' })).json())
  for (const { create_table_query } of tables) await to.command({ query: create_table_query })
}

/** A migrated, empty database on both replicas. */
export async function twoReplicas(): Promise<TwoReplicas> {
  const database = `test_${randomBytes(6).toString('hex')}`
  const envs = URLS.map((url) => envOf(url, database))
  const servers = envs.map((env) =>
    connect({ ...env, CLICKHOUSE_DATABASE: 'default' }, { application: 'plumbline-test', requestTimeoutMs: 300_000 }),
  )
  const [first, second] = envs as [ClickHouseEnv, ClickHouseEnv]
  const isReplicated = await migrate(first).then(
    () => true,
    () => false,
  )
  if (!isReplicated)
    for (const server of servers) await server.command({ query: `CREATE DATABASE IF NOT EXISTS ${database}` })
  await migrate(first)
  if (isReplicated) await migrate(second)
  const clients = envs.map((env) =>
    connect(env, { application: 'plumbline-test', maxOpenConnections: 64, requestTimeoutMs: 300_000 }),
  )
  const [one, other] = clients as [ClickHouseClient, ClickHouseClient]
  if (!isReplicated) await copySchema(one, other)
  return {
    envs,
    clients,
    remove: async () => {
      for (const client of clients) await client.close()
      for (const server of servers) {
        await server.command({ query: `DROP DATABASE IF EXISTS ${database} SYNC` })
        await server.close()
      }
    },
  }
}
