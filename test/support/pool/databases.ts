import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { migrate } from '../../../clickhouse/schema/migrate.js'
import { type ClickHouseEnv, connect } from '../../../clickhouse/store/client.js'

/** If a statement still runs after this long, its database is not used again. */
const LONGEST_WAIT_MS = 5000

export type Databases = {
  /** The name of a migrated, empty database for exclusive use. */
  take: () => Promise<string>
  /** Empties the database for the next test, or drops it if a test changed more than rows. */
  giveBack: (name: string) => void
  close: () => Promise<void>
}

const newName = (): string => `test_${randomBytes(6).toString('hex')}`

/**
 * Migrated databases for tests. Migrating takes a second, emptying a fiftieth of it: TRUNCATE removes the rows and the
 * deduplication tokens of inserts, so an emptied database is as good as a new one.
 */
export function createDatabases(server: Omit<ClickHouseEnv, 'CLICKHOUSE_DATABASE'>): Databases {
  const clickhouse = connect({ ...server, CLICKHOUSE_DATABASE: 'default' }, { application: 'plumbline-test' })
  const free: string[] = []
  const cleaning = new Set<Promise<void>>()
  let schema: string | null = null

  const create = async (): Promise<string> => {
    const name = newName()
    await migrate({ ...server, CLICKHOUSE_DATABASE: name })
    schema ??= await schemaOf(clickhouse, name)
    return name
  }

  const clean = async (name: string): Promise<void> => {
    if (!(await isQuiet(clickhouse, name)) || (await schemaOf(clickhouse, name)) !== schema) {
      await clickhouse.command({ query: `DROP DATABASE IF EXISTS ${name} SYNC` })
      return
    }
    const applied = await rows<Record<string, unknown>>(clickhouse, `SELECT * FROM ${name}.schema_migrations`)
    // A refreshable view would no longer be refreshed after TRUNCATE. All views have such names.
    await clickhouse.command({ query: `TRUNCATE ALL TABLES FROM ${name} NOT LIKE '%_mv'` })
    await clickhouse.insert({ table: `${name}.schema_migrations`, values: applied, format: 'JSONEachRow' })
    free.push(name)
  }

  return {
    take: async () => free.pop() ?? create(),
    giveBack: (name) => {
      const cleaned = clean(name)
        .catch((error) => console.error(`database ${name} is not used again: ${error}`))
        .finally(() => cleaning.delete(cleaned))
      cleaning.add(cleaned)
    },
    close: async () => {
      await Promise.all(cleaning)
      await clickhouse.close()
    },
  }
}

async function rows<Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> {
  return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>()
}

/** One digest over the definitions of all tables and views. */
async function schemaOf(clickhouse: ClickHouseClient, database: string): Promise<string> {
  const query = `
    SELECT toString(cityHash64(arraySort(groupArray((name, replaceAll(create_table_query, '${database}', '')))))) AS digest
    FROM system.tables WHERE database = '${database}' AND NOT startsWith(name, '.') -- a view that is being refreshed`
  const [row] = await rows<{ digest: string }>(clickhouse, query)
  return row?.digest ?? ''
}

/** Waits until no statement runs on the database: a killed process leaves its inserts to the server. */
async function isQuiet(clickhouse: ClickHouseClient, database: string): Promise<boolean> {
  const query = `
    SELECT toUInt32((SELECT count() FROM system.processes WHERE current_database = '${database}')
         + (SELECT count() FROM system.view_refreshes WHERE database = '${database}' AND status = 'Running')
         + (SELECT count() FROM system.mutations WHERE database = '${database}' AND NOT is_done)) AS running`
  for (const until = Date.now() + LONGEST_WAIT_MS; Date.now() < until; await sleep(50)) {
    const [row] = await rows<{ running: number }>(clickhouse, query)
    if (row?.running === 0) return true
  }
  return false
}
