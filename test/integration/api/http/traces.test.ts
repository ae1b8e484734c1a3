import { expect, onTestFinished } from 'vitest'
import { readyApi } from '../../../support/api-server.js'
import { clickhouseRelay } from '../../../support/clickhouse-relay.js'
import { test } from '../../../support/services.js'

const [TRACE, PARENT] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'] as const

test('a trace reaches every query and every log line of its request', async ({ clickhouseEnv }) => {
  const relay = await clickhouseRelay(clickhouseEnv.CLICKHOUSE_URL)
  onTestFinished(() => relay.close())
  const { url, stderr } = await readyApi({ ...clickhouseEnv, CLICKHOUSE_URL: relay.url, LOG_REQUESTS: '1' })
  const before = relay.seen.length
  const response = await fetch(url, { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } })
  expect(response.status).toBe(200)
  const traceresponse = response.headers.get('traceresponse')
  expect(traceresponse).toMatch(new RegExp(`^00-${TRACE}-(?!${PARENT})[0-9a-f]{16}-01$`))
  // What several requests share, as what ingest has read so far and how the tables are, belongs to no single one of them.
  const SHARED = [
    'block_times',
    'chain_head',
    'coverage',
    'declared_gaps',
    'history_start',
    'ledger_changes',
    'ledger_marks',
    'newest_times',
    'table_states',
    'token_lists',
  ]
  const queries = relay.seen.slice(before).filter(({ query }) => !SHARED.includes(`${query.get('log_comment')}`))
  expect(queries.map(({ query }) => query.get('log_comment'))).toContain('newest_samples')
  expect(new Set(queries.map(({ headers }) => headers.traceparent))).toEqual(new Set([traceresponse]))

  const answered = () => stderr.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'answered')
  await expect.poll(() => answered().length, { timeout: 30_000 }).toBe(1)
  expect(answered()[0]).toMatchObject({
    trace_id: TRACE,
    parent_id: PARENT,
    request_id: response.headers.get('x-request-id'),
    status: 200,
  })
})
