import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createDatabase, refreshedTables, rendered } from '../../../../clickhouse/schema/render.js'
import { systemReadsOnAllServers } from '../../../../clickhouse/store/replicas.js'

const TABLE = `
CREATE TABLE IF NOT EXISTS things (a UInt8) ENGINE = ReplacingMergeTree(version, is_deleted) ORDER BY a
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 256`
const none: ReadonlySet<string> = new Set()

const FOLDER = new URL('../../../../clickhouse/schema/', import.meta.url)
const statements = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .flatMap((name) => readFileSync(new URL(name, FOLDER), 'utf8').split(/;[ \t]*$/m))

describe('a statement of a migration', () => {
  test('is sent as it stands to a single server', () => {
    expect(rendered(TABLE, { topology: 'single', isReplicated: false }, none)).toBe(TABLE)
  })

  test('makes a replicated table that remembers its tokens for a week', () => {
    const inReplicated = rendered(TABLE, { topology: 'replicated', isReplicated: true }, none)
    expect(inReplicated).toContain('ENGINE = ReplicatedReplacingMergeTree(version, is_deleted) ORDER BY a')
    expect(inReplicated).toContain(
      'SETTINGS replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = 604800, index_granularity = 256',
    )
    expect(rendered(TABLE, { topology: 'replicated', isReplicated: false }, none)).toContain(
      "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{shard}/things', '{replica}', version, is_deleted)",
    )
  })

  test('leaves the engine to ClickHouse Cloud, but not the window of tokens', () => {
    const inCloud = rendered(TABLE, { topology: 'cloud', isReplicated: false }, none)
    expect(inCloud).toContain('ENGINE = ReplacingMergeTree(version, is_deleted)')
    expect(inCloud).toContain('SETTINGS replicated_deduplication_window = 1000,')
  })

  test('leaves no table of any migration on one replica alone, but the target of a refreshed view', () => {
    const refreshed = refreshedTables(statements)
    expect([...refreshed]).toEqual(['peg_windows'])
    const plain = (isReplicated: boolean) =>
      statements
        .map((statement) => rendered(statement, { topology: 'replicated', isReplicated }, refreshed))
        .filter((statement) => /ENGINE = (?!Replicated)\w*MergeTree|non_replicated/.test(statement))
    expect(plain(true)).toEqual([])
    expect(plain(false)).toEqual([expect.stringContaining('CREATE TABLE IF NOT EXISTS peg_windows')])
  })
})

test('the database itself is replicated', () => {
  expect(createDatabase('plumbline', 'replicated')).toBe(
    "CREATE DATABASE IF NOT EXISTS plumbline ENGINE = Replicated('/clickhouse/databases/plumbline', '{shard}', '{replica}')",
  )
  expect(createDatabase('plumbline', 'cloud')).toBe('CREATE DATABASE IF NOT EXISTS plumbline')
})

test('what each server knows only of itself is read from all of them', () => {
  expect(systemReadsOnAllServers('SELECT view FROM system.view_refreshes, system.processes', 'plumbline')).toBe(
    "SELECT view FROM clusterAllReplicas('plumbline', system.view_refreshes), clusterAllReplicas('plumbline', system.processes)",
  )
})
