import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { hashPassword } from '../../../access/password.js'
import { owner } from '../../../access/users.js'
import { EngineError } from '../../../engine/errors.js'
import { logEntry } from '../../../query/log-entry.js'

type Facts = Parameters<typeof logEntry>[0]['facts']

const facts: Facts = {
  text: 'SELECT 1',
  params: {},
  settings: {},
  database: 'default',
  hasStarted: true,
  hasSecrets: false,
  progress: undefined,
  figures: { read_rows: 1, read_bytes: 1, written_rows: 0, written_bytes: 0, result_rows: 1, result_bytes: 1 },
}
const request = { method: 'POST', headers: {}, socket: { remoteAddress: '127.0.0.1', remotePort: 4711 } }

function entry(given: Partial<Facts>, failure?: EngineError) {
  return logEntry(
    {
      user: owner('me', hashPassword('')),
      queryId: 'id',
      request: request as unknown as IncomingMessage,
      facts: { ...facts, ...given },
    },
    { startMs: 1000, endMs: 1500, failure },
  )
}

test.each([
  [{ log_queries: '0' }, false],
  [{ log_queries: 'false' }, false],
  [{ log_queries: '1' }, true],
  [{ log_queries_min_query_duration_ms: '501' }, false],
  [{ log_queries_min_query_duration_ms: '500' }, true],
  [{ log_queries_min_type: 'EXCEPTION_BEFORE_START' }, false],
  [{ log_queries_min_type: 'QUERY_FINISH' }, true],
])('%o decides whether a query is logged, in the request and in the statement', (settings, isLogged) => {
  expect(entry({ settings }) !== undefined).toBe(isLogged)
  const [[name, value]] = Object.entries(settings) as [[string, string]]
  expect(entry({ text: `SELECT 1 SETTINGS ${name} = '${value}'` }) !== undefined).toBe(isLogged)
})

test('a secret parameter is hidden, even where an error quotes it', () => {
  const failure = EngineError.of(457, 'BAD_QUERY_PARAMETER', "Value hush cannot be parsed as UInt8 for 'secret_key'")
  const found = entry({ params: { secret_key: 'hush', open: 'loud' }, settings: { s3_password: 'psst' } }, failure)
  expect(found).toMatchObject({
    query_parameters: { secret_key: '[HIDDEN]', open: 'loud' },
    Settings: { s3_password: '[HIDDEN]' },
    exception_code: 457,
  })
  expect(JSON.stringify(found)).not.toMatch(/hush|psst/)
  expect(found?.exception).toContain('cannot be parsed as UInt8')
})

test.each([true, undefined])(
  'a statement that contains secrets, or may (%s), is logged without its literals',
  (hasSecrets) => {
    const failure = EngineError.of(36, 'BAD_ARGUMENTS', "Invalid key size: 'hush'")
    const found = entry({ text: "SELECT encrypt('aes', a, 'hush') FROM t", hasSecrets }, failure)
    expect(found?.query).toBe("SELECT encrypt('[HIDDEN]', a, '[HIDDEN]') FROM t")
    expect(found?.exception).toBe('Code: 36. DB::Exception: [HIDDEN]. (BAD_ARGUMENTS)')
  },
)

test('a statement refused before it runs is logged with the reason', () => {
  const failure = EngineError.of(62, 'SYNTAX_ERROR', "Syntax error: failed at position 8 ('hush): unrecognized token")
  const found = entry({ text: "SELECT 'hush", hasSecrets: undefined, hasStarted: false }, failure)
  expect(found).toMatchObject({ type: 'ExceptionBeforeStart', query: "SELECT '[HIDDEN]'" })
  expect(found?.exception).toContain('failed at position 8 ([HIDDEN]): unrecognized token')
})

test.each([
  [60, 'ExceptionBeforeStart'],
  [241, 'ExceptionWhileProcessing'],
  [394, 'ExceptionWhileProcessing'],
])('error %i is logged as %s', (code, type) => {
  expect(entry({}, EngineError.of(code, 'NAME', 'text'))).toMatchObject({ type })
})

test('a long text is truncated, but not within a character', () => {
  const settings = { log_queries_cut_to_length: '10' }
  expect(entry({ text: "SELECT '\u{1f600}\u{1f600}'", settings })?.query).toBe("SELECT '\u{1f600}")
  expect(entry({ text: "SELECT 'a\u{1f600}'", settings })?.query).toBe("SELECT 'a")
})

test.each([
  ['with x as (select 1) select x', 'Select'],
  ['WITH 1 AS x INSERT INTO t SELECT x', 'Insert'],
  ['/* why */ insert into t format CSV', 'Insert'],
  ["KILL QUERY WHERE query_id = 'x'", 'KillQuery'],
  ['TRUNCATE TABLE t', 'Drop'],
  ['DESC t', 'Describe'],
  ["'what'", ''],
])('%s is of the kind %s', (text, query_kind) => {
  expect(entry({ text })).toMatchObject({ query_kind })
})
