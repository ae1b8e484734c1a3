import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClickHouseClient } from '@clickhouse/client'
import { migrate } from '../../clickhouse/schema/migrate.js'
import { type ClickHouseEnv, connect } from '../../clickhouse/store/client.js'
import { type SpawnedDevnet, type SpawnOptions, spawnDevnet } from '../../local/chain/spawn.js'
import { spawnEmbedded } from '../../local/engine/spawn.js'

export type Database = { env: ClickHouseEnv; clickhouse: ClickHouseClient }

export type Stack = {
  dir: string
  /** Process id of the engine. */
  pid: number
  /** A new, migrated database of the given name, and a client on it that closes with the stack. */
  database: (name: string) => Promise<Database>
  /** A local chain of its own under the stack's directory; ends with the stack. */
  chain: (name: string, options: Omit<SpawnOptions, 'dataDir'>) => Promise<SpawnedDevnet>
  close: () => Promise<void>
}

/** An embedded engine in a temporary directory, which is removed with it. */
export async function startStack(): Promise<Stack> {
  const dir = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  const engine = await spawnEmbedded({ dataDir: join(dir, 'clickhouse'), user: 'default', password: 'bench' })
  const closers: Array<() => Promise<unknown>> = []
  return {
    dir,
    pid: engine.pid,
    database: async (name) => {
      const env = {
        CLICKHOUSE_URL: engine.url,
        CLICKHOUSE_USER: 'default',
        CLICKHOUSE_PASSWORD: 'bench',
        CLICKHOUSE_DATABASE: name,
      }
      await migrate(env)
      const clickhouse = connect(env, { application: 'plumbline-bench' })
      closers.push(() => clickhouse.close())
      return { env, clickhouse }
    },
    chain: async (name, options) => {
      const devnet = await spawnDevnet({ ...options, dataDir: join(dir, name) })
      closers.push(devnet.stop)
      return devnet
    },
    close: async () => {
      for (const close of closers.reverse()) await close()
      await engine.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Rows of a query in JSON. */
export async function rows<Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> {
  const result = await clickhouse.query({ query, format: 'JSONEachRow' })
  return result.json<Row>()
}
