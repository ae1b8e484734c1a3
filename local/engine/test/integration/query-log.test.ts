import { expect } from 'vitest'
import { credentials, httpTo, start, test, withDirectory } from './engine.js'

test('the query log has the user, statement and outcome of queries, and no secrets', async ({ http }) => {
  await http({ query: 'CREATE TABLE logged (a UInt32) ENGINE = Memory' })
  await http({ query: 'INSERT INTO logged FORMAT CSV', url: { query_id: 'in' }, body: '1\n2\n' })
  await http({
    query: 'SELECT a FROM logged WHERE a > {low: UInt32} AND {secret_word: String} != {word: String}',
    url: {
      query_id: 'out',
      param_low: '1',
      param_secret_word: 'hush',
      param_word: 'loud',
      max_threads: '1',
      log_comment: 'why',
    },
  })
  await http({ query: 'SELECT * FROM missing_table', url: { query_id: 'wrong' } })
  await http({ query: 'SELECT (((', url: { query_id: 'no sql' } })
  await http({ query: "SELECT encrypt('aes-128-ecb', 'text', 'sixteen byte key')", url: { query_id: 'key' } })
  await http({ query: 'SELECT 1', url: { query_id: 'unlogged', log_queries: '0' } })
  await http({ query: 'SELECT 1 SETTINGS log_queries = 0', url: { query_id: 'unlogged too' } })
  await http({ query: "SELECT file('/etc/a quiet place')", url: { query_id: 'refused' } })
  await http({ query: `SELECT '${'\u{1f600}'.repeat(20)}'`, url: { query_id: 'cut', log_queries_cut_to_length: '10' } })
  await http({ query: 'USE system', url: { session_id: 'log' } })
  await http({ query: 'SELECT 2', url: { session_id: 'log', query_id: 'in session' } })
  await http({ query: 'SELECT {secret_n: UInt8}', url: { param_secret_n: 'hush', query_id: 'quoted' } })
  await http('SYSTEM FLUSH LOGS')
  const { text } = await http('SELECT * FROM system.query_log ORDER BY event_time_microseconds FORMAT JSONEachRow')
  const rows = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const row = (id: string) => rows.find(({ query_id }) => query_id === id)
  expect(row('in')).toMatchObject({
    type: 'QueryFinish',
    query: 'INSERT INTO logged FORMAT CSV',
    query_kind: 'Insert',
    written_rows: 2,
    user: credentials.user,
    current_database: 'default',
    exception_code: 0,
  })
  expect(row('out')).toMatchObject({
    result_rows: 1,
    query_kind: 'Select',
    query_parameters: { low: '1', word: 'loud', secret_word: '[HIDDEN]' },
    Settings: { max_threads: '1', log_comment: 'why' },
    log_comment: 'why',
  })
  expect(row('wrong')).toMatchObject({ type: 'ExceptionBeforeStart', exception_code: 60 })
  expect(row('no sql')).toMatchObject({ exception_code: 62 })
  expect(row('unlogged')).toBeUndefined()
  expect(row('unlogged too')).toBeUndefined()
  expect(row('refused')).toMatchObject({
    type: 'ExceptionBeforeStart',
    exception_code: 497,
    query: "SELECT file('[HIDDEN]')",
  })
  expect(row('cut').query).toBe(`SELECT '\u{1f600}`)
  expect(row('in session').current_database).toBe('system')
  expect(row('quoted')).toMatchObject({ exception_code: 457, exception: expect.stringContaining('[HIDDEN]') })
  expect(row('key').query).toBe("SELECT encrypt('[HIDDEN]', '[HIDDEN]', '[HIDDEN]')")
  expect(text).not.toContain('a quiet place')
  expect(text).not.toContain('hush')
  expect(text).not.toContain('sixteen byte key')
  expect(text).not.toContain(credentials.password)
  const { seconds } = JSON.parse(
    (await http('SELECT max(abs(event_time - now())) AS seconds FROM system.query_log FORMAT JSONEachRow')).text,
  )
  expect(seconds).toBeLessThan(600)
})

test('rows expire after the configured number of days', async ({ http }) => {
  const { text } = await http(
    "SELECT engine_full FROM system.tables WHERE database = 'server_log' AND name = 'query_log'",
  )
  expect(text).toContain('TTL event_date + toIntervalDay(7)')
  const old = "SELECT 'old' AS query_id, now() - INTERVAL 9 DAY AS event_time_microseconds"
  await http(`INSERT INTO server_log.query_log (query_id, event_time_microseconds) ${old}`)
  await http('OPTIMIZE TABLE server_log.query_log FINAL')
  expect((await http("SELECT count() FROM system.query_log WHERE query_id = 'old'")).text).toBe('0\n')
})

test('the query log survives a restart, and a table with other columns is renamed', async () => {
  await withDirectory(async (dataDir) => {
    const first = await start(dataDir)
    await httpTo(first.url)({ query: 'SELECT 41', url: { query_id: 'kept' } })
    await first.stop()
    const second = await start(dataDir)
    const http = httpTo(second.url)
    expect((await http("SELECT query FROM system.query_log WHERE query_id = 'kept'")).text).toBe('SELECT 41\n')
    await http("ALTER TABLE server_log.query_log MODIFY COMMENT 'another'")
    await second.stop()
    const third = await start(dataDir)
    const again = httpTo(third.url)
    expect((await again("SELECT count() FROM system.query_log WHERE query_id = 'kept'")).text).toBe('0\n')
    const old = await again("SELECT name FROM system.tables WHERE database = 'server_log' AND name != 'query_log'")
    expect((await again(`SELECT query FROM server_log.${old.text.trim()} WHERE query_id = 'kept'`)).text).toBe(
      'SELECT 41\n',
    )
    await third.stop()
  })
})
