import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type ClickHouseEnv, connect } from '../../../../clickhouse/store/client.js'
import { defineQuery } from '../../../../clickhouse/store/define-query.js'
import { insertRows } from '../../../../clickhouse/store/insert.js'
import { retryDatabaseWith } from '../../../../ingest/sinks/retry-database.js'
import { clickhouseRelay, type Failure } from '../../../support/clickhouse-relay.js'
import { test } from '../../../support/services.js'

const exception = (code: number, type: string, status = 500): Failure => ({
  status,
  headers: { 'x-clickhouse-exception-code': `${code}` },
  body: `Code: ${code}. DB::Exception: it is not the time. (${type}) (version 26.7.2.1 (official build))\n`,
})
const page = (status: number): Failure => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<html><head><title>${status}</title></head><body><h1>${status}</h1><hr>nginx</body></html>`,
})

const FAILURES: Record<string, Failure> = {
  SERVER_OVERLOADED: exception(745, 'SERVER_OVERLOADED', 503),
  DEADLOCK_AVOIDED: exception(473, 'DEADLOCK_AVOIDED'),
  CANNOT_WRITE_TO_FILE_DESCRIPTOR: exception(75, 'CANNOT_WRITE_TO_FILE_DESCRIPTOR'),
  CANNOT_OPEN_FILE: exception(76, 'CANNOT_OPEN_FILE'),
  S3_ERROR: exception(499, 'S3_ERROR'),
  CANNOT_ASSIGN_ALTER: exception(517, 'CANNOT_ASSIGN_ALTER'),
  POCO_EXCEPTION: exception(1000, 'POCO_EXCEPTION'),
  MEMORY_LIMIT_EXCEEDED: exception(241, 'MEMORY_LIMIT_EXCEEDED'),
  'an error of a later version': exception(5000, 'NOT_KNOWN_YET'),
  'a bad gateway': page(502),
  'a gateway without a server': page(503),
  'a gateway that waited': page(504),
  'an empty answer': { status: 503, body: '' },
  'a page of a gateway with a status of success': page(200),
  'an empty answer with a status of success': { status: 200, body: '' },
  'a cut connection': 'cut',
  'a lost answer': 'lost',
}

/** A client whose requests can be failed. */
async function relayed(env: ClickHouseEnv, options: { maxOpenConnections?: number; requestTimeoutMs?: number } = {}) {
  const relay = await clickhouseRelay(env.CLICKHOUSE_URL)
  const clickhouse = connect({ ...env, CLICKHOUSE_URL: relay.url }, { application: 'plumbline-test', ...options })
  onTestFinished(async () => {
    await clickhouse.close()
    await relay.close()
  })
  return { relay, clickhouse }
}

const count = defineQuery({
  name: 'count_rows',
  row: z.object({ rows: z.int() }),
  sql: 'SELECT toUInt32(count()) AS rows FROM retentions',
})

test('a read that the server or a proxy could not answer is worth repeating', async ({ clickhouseEnv }) => {
  const { relay, clickhouse } = await relayed(clickhouseEnv)
  relay.fail('count_rows', ...Object.values(FAILURES))
  for (const what of Object.keys(FAILURES))
    await expect(count(clickhouse), what).rejects.toMatchObject({ name: 'QueryError', retryable: true })
  expect(await count(clickhouse)).toEqual([{ rows: 0 }])
})

test('answers that are not from ClickHouse take no connection', { timeout: 60_000 }, async ({ clickhouseEnv }) => {
  const { relay, clickhouse } = await relayed(clickhouseEnv, { maxOpenConnections: 1, requestTimeoutMs: 600_000 })
  relay.fail('count_rows', ...Array.from({ length: 5 }, () => page(200)))
  for (let i = 0; i < 5; i++) await expect(count(clickhouse)).rejects.toMatchObject({ retryable: true })
  expect(await count(clickhouse)).toEqual([{ rows: 0 }])
})

test('ingest repeats an insert that failed, whatever failed, and its rows are stored once', async ({
  clickhouseEnv,
}) => {
  const { relay, clickhouse } = await relayed(clickhouseEnv)
  const retryDatabase = retryDatabaseWith(pino({ level: 'silent' }), new AbortController().signal)
  const rows = [{ table_name: 'fees', days: 1 }]
  for (const [what, failure] of Object.entries(FAILURES)) {
    relay.fail('insert_retentions', failure)
    await retryDatabase(what, () => insertRows(clickhouse, 'retentions', rows, what))
  }
  expect(await count(clickhouse)).toEqual([{ rows: Object.keys(FAILURES).length }])
})

test('a mistake is not repeated', async ({ clickhouse, clickhouseEnv }) => {
  const MISTAKES = [
    'SELEC 1',
    'SELECT missing FROM blocks',
    'SELECT 1 FROM missing',
    'SELECT 1 FROM missing.blocks',
    'SELECT missing(1)',
    'SELECT toUInt8()',
    "SELECT 1 + 'one'",
    "SELECT toUInt8('one')",
    'SELECT block_number, count() FROM blocks',
    'SELECT {missing: UInt8}',
    'SELECT 1 SETTINGS missing = 1',
    'SELECT CAST(1 AS Missing)',
    "INSERT INTO blocks (block_number) VALUES ('one')",
    'INSERT INTO blocks (missing) VALUES (1)',
    'CREATE TABLE blocks (a UInt8) ENGINE = Memory',
    'SELECT number FROM numbers(1000000) SETTINGS max_rows_to_read = 10',
    'SELECT throwIf(1)',
    "SELECT * FROM url('http://127.0.0.1:1/', CSV, 'a UInt8')",
  ]
  for (const sql of MISTAKES) {
    const read = defineQuery({ name: 'mistake', row: z.unknown(), sql })
    await expect(read(clickhouse), sql).rejects.toMatchObject({ name: 'QueryError', retryable: false })
  }
  const stranger = connect({ ...clickhouseEnv, CLICKHOUSE_PASSWORD: 'wrong' }, { application: 'plumbline-test' })
  onTestFinished(() => stranger.close())
  await expect(count(stranger)).rejects.toMatchObject({ retryable: false, message: /check CLICKHOUSE_USER/ })
})
