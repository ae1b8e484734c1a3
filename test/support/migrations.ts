import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { type ClickHouseEnv, connect } from '../../clickhouse/store/client.js'

const MIGRATIONS = new URL('../../clickhouse/migrations/', import.meta.url)

/** Brings an empty database to the state before the migration whose name ends with `ending`; resolves to its name. */
export async function migrateUpTo(env: ClickHouseEnv, clickhouse: ClickHouseClient, ending: string): Promise<string> {
  const server = connect({ ...env, CLICKHOUSE_DATABASE: 'default' }, { application: 'plumbline-test' })
  await server.command({ query: `CREATE DATABASE ${env.CLICKHOUSE_DATABASE}` })
  await server.close()
  const files = (await readdir(MIGRATIONS)).filter((file) => file.endsWith('.sql')).sort()
  await clickhouse.command({
    query: `CREATE TABLE schema_migrations (version UInt32, name String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
            ENGINE = MergeTree ORDER BY version SETTINGS non_replicated_deduplication_window = 1000`,
  })
  const last = files.findIndex((file) => file.endsWith(ending))
  for (const file of files.slice(0, last)) {
    const sql = await readFile(new URL(file, MIGRATIONS), 'utf8')
    for (const query of sql.split(/;[ \t]*$/m).filter((text) => text.replace(/^\s*--.*$/gm, '').trim() !== ''))
      await clickhouse.command({ query })
    const checksum = createHash('sha256').update(sql).digest('hex')
    const row = `(${Number(file.slice(0, 4))}, '${file}', '${checksum}')`
    await clickhouse.command({ query: `INSERT INTO schema_migrations (version, name, checksum) VALUES ${row}` })
  }
  return files[last] as string
}
