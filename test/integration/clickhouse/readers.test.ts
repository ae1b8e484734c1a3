import { expect, inject } from 'vitest'
import type { ClickHouseEnv } from '../../../clickhouse/store/client.js'
import { addFacts, pegSamples, stableAddress } from '../../support/rows.js'
import { test } from '../../support/services.js'

/** What dashboards (Grafana), editors (DBeaver) and BI tools (Metabase, Superset) ask, by what it is for. */
const asked: Record<string, string> = {
  'the version': 'SELECT version()',
  'the time zone': 'SELECT timezone()',
  'who is asking': 'SELECT currentUser(), currentDatabase(), hostName(), uptime()',
  'databases, SHOW': 'SHOW DATABASES',
  'databases, system': 'SELECT name, engine, comment FROM system.databases ORDER BY name',
  'tables, SHOW': 'SHOW TABLES FROM "{db}"',
  'tables, SHOW LIKE': "SHOW TABLES FROM {db} LIKE 'peg_%' LIMIT 100",
  'tables, SHOW FULL': 'SHOW FULL TABLES FROM {db}',
  'tables, system':
    "SELECT database, name, engine, total_rows, total_bytes, comment FROM system.tables WHERE database = '{db}'",
  'tables, all of system.tables': "SELECT * FROM system.tables WHERE database = '{db}'",
  'tables, information_schema':
    "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = '{db}'",
  'views, information_schema': "SELECT table_name FROM information_schema.views WHERE table_schema = '{db}'",
  'columns, DESC': 'DESC TABLE "{db}"."peg_samples"',
  'columns, DESCRIBE of a query': 'DESCRIBE TABLE (SELECT * FROM {db}.peg_samples)',
  'columns, SHOW': 'SHOW COLUMNS FROM peg_samples FROM {db}',
  'columns, SHOW FULL EXTENDED': "SHOW EXTENDED FULL COLUMNS FROM peg_samples FROM {db} LIKE '%'",
  'columns, system': 'SELECT name, type, table FROM system.columns',
  'columns, all of system.columns': "SELECT * FROM system.columns WHERE database = '{db}' AND table = 'peg_samples'",
  'columns, information_schema':
    "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = '{db}'",
  'keys, information_schema': 'SELECT * FROM information_schema.key_column_usage',
  'indexes, SHOW': 'SHOW INDEXES FROM {db}.peg_samples',
  'indexes, system': "SELECT * FROM system.data_skipping_indices WHERE database = '{db}'",
  'the definition of a table': 'SHOW CREATE TABLE {db}.peg_samples',
  'the definition of a database': 'SHOW CREATE DATABASE {db}',
  'whether a table exists': 'EXISTS TABLE {db}.peg_samples',
  'functions, for completion':
    'SELECT name, is_aggregate, case_insensitive, alias_to, origin, description, syntax, arguments, returned_value, examples, categories FROM system.functions LIMIT 10000',
  'table functions': 'SELECT name, description FROM system.table_functions',
  keywords: 'SELECT keyword FROM system.keywords',
  'types of data': 'SELECT name, case_insensitive, alias_to FROM system.data_type_families',
  formats: 'SELECT name, is_input, is_output FROM system.formats',
  'table engines': 'SELECT name FROM system.table_engines',
  settings: 'SELECT name, value, changed, description, type, readonly FROM system.settings',
  'a setting': "SHOW SETTINGS LIKE 'max_threads'",
  'sizes of parts':
    "SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = '{db}' GROUP BY table",
  'sizes of columns':
    "SELECT column, sum(column_data_compressed_bytes) FROM system.parts_columns WHERE database = '{db}' GROUP BY 1",
  'running queries': 'SELECT query_id, elapsed, query FROM system.processes',
  'running queries, SHOW': 'SHOW PROCESSLIST',
  'finished queries': 'SELECT event_time, query FROM system.query_log ORDER BY event_time DESC LIMIT 10',
  counters: 'SELECT metric, value FROM system.metrics',
  'events of the server': 'SELECT event, value FROM system.events',
  'merges and mutations': 'SELECT count() FROM system.merges UNION ALL SELECT count() FROM system.mutations',
  dictionaries: 'SELECT name, status FROM system.dictionaries',
  collations: 'SELECT name FROM system.collations',
  grants: 'SHOW GRANTS',
  'a preview of rows': 'SELECT * FROM "{db}"."peg_samples" LIMIT 1000',
  'values for a filter': 'select distinct stable from {db}.peg_samples limit 1000',
  'a panel over time':
    'SELECT toStartOfInterval(toDateTime(block_time), INTERVAL 60 second) AS time, avg(sell_micros) FROM {db}.peg_samples WHERE block_time >= toDateTime(1) AND block_time <= now() GROUP BY time ORDER BY time LIMIT 1000',
  'a panel with gaps filled':
    'SELECT toStartOfMinute(block_time) AS time, count() FROM {db}.peg_samples GROUP BY time ORDER BY time WITH FILL STEP 60 LIMIT 1000',
  'a plan': 'EXPLAIN SELECT count() FROM {db}.peg_samples',
  'a plan, with indexes': 'EXPLAIN indexes = 1 SELECT count() FROM {db}.peg_samples WHERE block_time > now()',
  'a tree for a query builder': 'EXPLAIN AST SELECT count() FROM {db}.peg_samples',
  'a limit on its own query':
    'SELECT count() FROM {db}.peg_samples SETTINGS max_execution_time = 10, max_result_rows = 1000',
}

/** Settings that tools send with each request. */
const settings = {
  default_format: 'JSONCompact',
  max_execution_time: '60',
  max_result_rows: '100000',
  result_overflow_mode: 'break',
  output_format_json_quote_64bit_integers: '1',
  send_progress_in_http_headers: '0',
  wait_end_of_query: '1',
}

async function ask(env: ClickHouseEnv, sql: string): Promise<{ status: number; text: string }> {
  const url = new URL(env.CLICKHOUSE_URL)
  const parameters = { ...settings, database: env.CLICKHOUSE_DATABASE }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  const headers = { 'X-ClickHouse-User': env.CLICKHOUSE_USER, 'X-ClickHouse-Key': env.CLICKHOUSE_PASSWORD }
  const body = sql.replaceAll('{db}', env.CLICKHOUSE_DATABASE)
  const response = await fetch(url, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

test('a reader gets an answer to whatever tools ask, and none to a statement that writes', async ({
  clickhouse,
  clickhouseEnv,
}) => {
  const now = Math.floor(Date.now() / 1000)
  const samples = pegSamples(stableAddress(1), [{ at: now - 60, price: 1 }])
  await addFacts(clickhouse, { samples })
  const reader = { ...clickhouseEnv, ...inject('clickhouseUsers').reader }
  const faults: string[] = []
  for (const [what, sql] of Object.entries(asked)) {
    const { status, text } = await ask(reader, sql)
    if (status !== 200 || text === '') faults.push(`${what}: ${sql}: ${status} ${text.slice(0, 300)}`)
  }
  expect(faults).toEqual([])
  expect((await ask(reader, asked['values for a filter'] as string)).text).toContain(stableAddress(1))
  expect((await ask(reader, asked['columns, DESC'] as string)).text).toContain('sell_micros')
  if (reader.CLICKHOUSE_USER === clickhouseEnv.CLICKHOUSE_USER) return
  expect((await ask(reader, 'INSERT INTO peg_samples SELECT * FROM peg_samples')).text).toMatch(/^Code: (164|497)\./)
  expect((await ask(reader, 'TRUNCATE TABLE peg_samples')).text).toMatch(/^Code: (164|497)\./)
})
