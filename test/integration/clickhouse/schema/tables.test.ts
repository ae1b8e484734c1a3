import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { tables } from '../../../../clickhouse/tables.js'
import { test } from '../../../support/services.js'

const rowsOf = async <Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> =>
  (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>()

test('every table of the database is declared once, with its partitions, merges and times as they are', async ({
  clickhouse,
}) => {
  const found = await rowsOf<{ name: string }>(
    clickhouse,
    `SELECT name, partition_key != '' AS isPartitioned, match(engine, 'Replacing|Aggregating') AS isMerged,
            extract(partition_key, 'toYYYYMM\\\\((.+)\\\\)') AS partitions, engine_full
     FROM system.tables
     WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND NOT startsWith(name, '.') -- a view that is being refreshed
     ORDER BY name`,
  )
  const expected = tables.map(({ name, time, isPartitioned, isMerged }) =>
    expect.objectContaining({
      name,
      isPartitioned: isPartitioned ? 1 : 0,
      isMerged: isMerged ? 1 : 0,
      partitions: isPartitioned ? time : '',
    }),
  )
  expect(found).toHaveLength(tables.length)
  expect(found).toEqual(expect.arrayContaining(expected))

  const times = await rowsOf<{ place: string }>(
    clickhouse,
    `SELECT table || '.' || name AS place FROM system.columns WHERE database = currentDatabase() AND type LIKE '%DateTime%'`,
  )
  const places = new Set(times.map(({ place }) => place))
  expect(tables.filter(({ name, time }) => !places.has(`${name}.${time}`))).toEqual([])
})

test('the time of a partitioned table is found from its parts', () => {
  expect(tables.filter(({ isPartitioned, kept }) => isPartitioned && kept !== 'newest')).toEqual([])
})

test('every view that adds rows to a table is declared as its derivation, with the table whose inserts it reads', async ({
  clickhouse,
}) => {
  const views = await rowsOf<{ name: string; from: string }>(
    clickhouse,
    `SELECT extract(create_table_query, ' TO (?:\\\\w+\\\\.)?(\\\\w+)') AS name, extract(as_select, ' FROM (?:\\\\w+\\\\.)?(\\\\w+)') AS from
     FROM system.tables
     WHERE database = currentDatabase() AND engine = 'MaterializedView' AND create_table_query NOT LIKE '% REFRESH %'`,
  )
  const declared = tables.flatMap(({ name, derived }) => (derived ? [{ name, from: derived.from }] : []))
  const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)
  expect(declared.toSorted(byName)).toEqual(views.toSorted(byName))
})
