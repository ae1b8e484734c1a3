import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished } from 'vitest'
import { readyApi as ready, readyApi, startApi as start } from '../../../support/api-server.js'
import { clickhouseRelay } from '../../../support/clickhouse-relay.js'
import { relayTo } from '../../../support/relay.js'
import { test } from '../../../support/services.js'

/** The lines for people; the log is in JSON. */
const words = (stderr: readonly string[]) => stderr.filter((line) => !line.startsWith('{'))

test('it prints its address once it answers there', async ({ clickhouseEnv }) => {
  const { url } = await ready(clickhouseEnv)
  expect(await (await fetch(url)).json()).toEqual({ stablecoins: [], next_cursor: null })
})

test.for(['SIGTERM', 'SIGINT'] as const)(
  '%s ends it with exit code 0, and no request is cut off',
  async (signal, { clickhouseEnv }) => {
    const { child, url, ended, stderr } = await ready(clickhouseEnv)
    // The client keeps it open, which must not delay the shutdown.
    await (await fetch(url)).json()
    const last = fetch(url).then((response) => response.status)
    setTimeout(() => child.kill(signal), 5)
    expect(await last).toBe(200)
    expect(await ended).toBe(0)
    expect(words(stderr)).toEqual([])
  },
)

test('it ends when its parent process is gone', async ({ clickhouseEnv }) => {
  const { child, ended } = await ready(clickhouseEnv)
  child.disconnect()
  expect(await ended).toBe(0)
})

describe('a failed start prints one line for', () => {
  test('a port in use, code 1', async ({ clickhouseEnv }) => {
    const other = createServer()
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { ended, stderr, stdout } = start({ ...clickhouseEnv, PORT: String(port) })
    expect(await ended).toBe(1)
    expect(words(stderr)).toEqual([`api stops: PORT: port ${port} is in use (exit code 1: a restart may help)`])
    expect(stdout).toEqual([])
    other.close()
  })

  test('an address of another machine, code 1', async ({ clickhouseEnv }) => {
    const { ended, stderr } = start({ ...clickhouseEnv, PORT: '0', HOST: '192.0.2.1' })
    expect(await ended).toBe(1)
    expect(words(stderr)).toEqual([
      'api stops: HOST: 192.0.2.1 is not an address of this machine (exit code 1: a restart may help)',
    ])
  })

  test('all bad variables, with the exit code that advises against a restart', async () => {
    const { ended, stderr } = start({ PORT: 'http', LOG_LEVEL: 'loud' })
    expect(await ended).toBe(78)
    expect(stderr.join('\n')).toMatch(/^api stops: bad configuration: PORT: .*; LOG_LEVEL: .*$/)
    expect(stderr.join('\n')).not.toContain('    at ')
  })
})

test('it starts without ClickHouse, returns 503, and serves once ClickHouse is up', async ({ clickhouseEnv }) => {
  const relay = await relayTo(clickhouseEnv.CLICKHOUSE_URL)
  await relay.cut()
  // The cache is off, because it would have an answer.
  const { url } = await ready({ ...clickhouseEnv, CLICKHOUSE_URL: relay.url, CACHE_MEMORY_MB: '0' })
  const status = async () => (await fetch(url)).status
  expect(await status()).toBe(503)
  await relay.mend()
  await expect.poll(status, { timeout: 60_000 }).toBe(200)
  await relay.cut()
  expect(await status()).toBe(503)
})

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
    'coverage_rollbacks',
    'declared_gaps',
    'disagreed_ranges',
    'history_start',
    'ledger_changes',
    'ledger_marks',
    'newest_times',
    'table_states',
    'token_lists',
    'unknown_since',
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
