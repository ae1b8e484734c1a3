import { pino } from 'pino'
import { expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { ADMIN_KEY, SUBSCRIPTION_KEY, test, WEBHOOK_TERMS } from '../../../support/app.js'
import { addEvents, madeUpEvent } from '../../../support/events.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin } from '../../../support/rows.js'

const CLAIMED = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'gopher',
  forwarded: 'host=evil.example;proto=gopher',
}

const OTHER_PATHS = [
  '/breaks.atom',
  '/api/v2/status.json',
  '/llms.txt',
  '/openapi.json',
  '/docs',
  '/docs/json',
  '/docs/api.md',
]

test('links begin with PUBLIC_URL, and no answer repeats the host that a request claims', async ({
  clickhouse,
  clock,
  app: { close: _ },
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const stable = stableAddress(1)
  await addBlocks(clickhouse, [now - 60, now])
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1)],
    samples: pegSamples(stable, [{ at: now, price: 990_000 }]),
  })
  const data = {
    stable,
    severity: 'mild',
    started_at: clock.now.toISOString(),
    started_block: 1,
    max_deviation_bps: 100,
  }
  await addEvents(clickhouse, [madeUpEvent(1, { stables: [stable], data })])
  const appWith = (publicUrl: string | undefined) =>
    buildApp({
      clickhouse,
      now: () => clock.now,
      adminKey: ADMIN_KEY,
      webhooks: WEBHOOK_TERMS,
      trustProxy: ['127.0.0.1'],
      publicUrl,
      logger: pino({ level: 'silent' }),
    })
  const app = await appWith('https://user:word@plumbline.example/pegs?x=1')
  try {
    const described = Object.keys((await app.inject('/openapi.json')).json().paths)
    const paths = described
      .filter((path) => path !== '/api/v1/stream')
      .map((path) => path.replace('{address}', stable).replaceAll(/\{\w+\}/g, '1'))
    for (const url of [...OTHER_PATHS, ...paths]) {
      const authorization = `Bearer ${url.includes('/admin/') ? ADMIN_KEY : SUBSCRIPTION_KEY}`
      const { headers, body } = await app.inject({ url, headers: { ...CLAIMED, authorization } })
      expect([url, /evil\.example|gopher:/.exec(JSON.stringify(headers) + body)]).toEqual([url, null])
    }
    const feed = (await app.inject({ url: '/breaks.atom', headers: CLAIMED })).body
    expect(feed).toContain('href="https://plumbline.example/pegs/breaks.atom"')
    expect(feed).toContain(`href="https://plumbline.example/pegs/s/${stable}?as_of=`)
    const status = (await app.inject({ url: '/api/v2/status.json', headers: CLAIMED })).json()
    expect(status.page.url).toBe('https://plumbline.example/pegs/')
  } finally {
    await app.close()
  }

  const listening = await appWith(undefined)
  try {
    const origin = await listening.listen({ host: '127.0.0.1', port: 0 })
    const status = (await listening.inject({ url: '/api/v2/status.json', headers: CLAIMED })).json()
    expect(status.page.url).toBe(`${origin}/`)
  } finally {
    await listening.close()
  }
})
