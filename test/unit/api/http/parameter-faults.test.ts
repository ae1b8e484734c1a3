import { pino } from 'pino'
import { test as base, expect } from 'vitest'
import { z } from 'zod'
import { buildApp } from '../../../../api/app.js'
import { detailOf } from '../../../../api/http/validation.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { ADMIN_KEY } from '../../../support/app.js'

// This needs no ClickHouse.
const nowhere = {
  CLICKHOUSE_URL: 'http://127.0.0.1:9',
  CLICKHOUSE_USER: '',
  CLICKHOUSE_PASSWORD: '',
  CLICKHOUSE_DATABASE: 'd',
}

const test = base.extend<{ app: Awaited<ReturnType<typeof buildApp>> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  app: async ({}, use) => {
    const clickhouse = connect(nowhere, { application: 'test' })
    const logger = pino({ level: 'silent' })
    const app = await buildApp({ clickhouse, now: () => new Date(), adminKey: ADMIN_KEY, logger })
    await use(app)
    await app.close()
    await clickhouse.close()
  },
})

test('faults of parameters say what is accepted', async ({ app }) => {
  const said = async (path: string) => (await app.inject(`/api/v1/${path}`)).json().detail
  const stable = `stablecoins/0x${'1'.repeat(40)}`
  expect(await said('stablecoins/flow-anomalies?limit=0')).toBe('limit must be at least 1')
  expect(await said('stablecoins/flow-anomalies?limit=501')).toBe('limit must be at most 500')
  expect(await said('stablecoins/flow-anomalies?limit=many')).toBe('limit must be a number')
  expect(await said('stablecoins/flow-anomalies?limit=1.5')).toBe('limit must be a whole number')
  expect(await said('stablecoins/flow-anomalies?cursor=x')).toBe('cursor is not a cursor of this list')
  const key = Buffer.from('[1]').toString('base64url')
  expect(await said(`stablecoins/flow-anomalies?cursor=${key}`)).toBe('cursor is not a cursor of this list')
  expect(await said(`${stable}/peg?as_of=1h&as_of=2h`)).toBe('as_of must be one value, not several')
  expect(await said(`${stable}/peg/series?from=1h&interval=2h`)).toMatch(/^interval must be one of 1m, /)
  expect(await said('events?types=peg_break.started,x')).toMatch(/^types must be one of peg_break.started, /)
  expect(await said('stablecoins?x=1&y=2')).toBe(
    'x is not a parameter of this route; y is not a parameter of this route',
  )
})

test('faults of body fields say what is accepted', async ({ app }) => {
  const faults = async (payload: unknown) => {
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' }
    const url = '/api/admin/keys'
    const response = await app.inject({ method: 'POST', url, headers, payload: JSON.stringify(payload) })
    return [response.statusCode, response.json().errors]
  }
  expect(await faults({ label: ' ', scopes: ['all'], requests_per_minute: 0, key: 'mine' })).toEqual([
    400,
    [
      { parameter: 'label', detail: 'must have at least 1 character' },
      { parameter: 'scopes', detail: 'must be one of paid, stream' },
      { parameter: 'requests_per_minute', detail: 'must be at least 1' },
      { parameter: 'key', detail: 'is not a field of this request' },
    ],
  ])
  expect(await faults({ label: 'x'.repeat(101), scopes: ['paid', 'stream', 'paid'] })).toEqual([
    400,
    [
      { parameter: 'label', detail: 'must have at most 100 characters' },
      { parameter: 'scopes', detail: 'must have at most 2 entries' },
    ],
  ])
  expect(await faults({ label: 1 })).toEqual([400, [{ parameter: 'label', detail: 'must be text' }]])
  expect(await faults(null)).toEqual([400, [{ parameter: 'body', detail: 'must be an object' }]])
})

test('a schema’s own message takes precedence', () => {
  const schema = z.number().max(3, 'must not be above 3; go on with the cursor').gt(1)
  const said = (value: unknown) => schema.safeParse(value, { error: detailOf }).error?.issues[0]?.message
  expect(said(4)).toBe('must not be above 3; go on with the cursor')
  expect(said(1)).toBe('must be more than 1')
})
