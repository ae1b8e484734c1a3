import { createServer } from 'node:http'
import { expect } from 'vitest'
import { levelOf, reachesLevel } from '../../../../clickhouse/events/levels.js'
import { EVENT_TYPES } from '../../../../clickhouse/events/types.js'
import { eventsToReplay } from '../../../../clickhouse/webhooks/deliveries.js'
import { FORMATS, WEBHOOK_FORMATS } from '../../../../clickhouse/webhooks/formats.js'
import { urlOwner } from '../../../../clickhouse/webhooks/secret-urls.js'
import { wants } from '../../../../clickhouse/webhooks/subscriptions.js'
import { seal } from '../../../../process/sealed-secret.js'
import { addEvents, madeUpEvent, storedEvents } from '../../../support/events.js'
import { isSigned, startReceiver } from '../../../support/receiver.js'
import { addFacts, stablecoin } from '../../../support/rows.js'
import { test } from '../../../support/services.js'
import { addWebhookSubscription, SECRETS_KEY, webhookSubscription } from '../../../support/webhook-subscriptions.js'
import { DATA } from '../../../support/webhooks/contents.js'
import { deliveriesOver, SECRET, startDispatcher, storedAttempts } from '../../../support/webhooks.js'

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'

test('each format is sent signed and with the usual headers, with the symbol of the stable, to a URL that is sealed', async ({
  clickhouse,
}) => {
  // The second attempt of each is answered.
  const receiver = await startReceiver((_, times) => (times === 1 ? 500 : 200))
  const stable = `0x20c1${'0'.repeat(35)}1`
  await addFacts(clickhouse, { stablecoins: [{ ...stablecoin(1), stable, symbol: '<!channel>AUSD' }] })
  for (const format of WEBHOOK_FORMATS) {
    const id = `wh_${format}`
    const { isUrlSecret, needsChat, pathEnd } = FORMATS[format]
    const url = receiver.url(pathEnd?.text.replace('<token>', TOKEN) ?? `/${format}`)
    await addWebhookSubscription(clickhouse, {
      id,
      format,
      chat_id: needsChat ? '-1001' : '',
      url: isUrlSecret ? 'http://127.0.0.1/…' : url,
      sealed_url: isUrlSecret ? seal(SECRETS_KEY, urlOwner(id), url) : '',
    })
  }
  const data = { ...DATA['peg_break.started'], stable }
  const occurred_at = new Date(Math.floor(Date.now() / 1000) * 1000)
  await addEvents(clickhouse, [madeUpEvent(1, { stables: [stable], data, occurred_at })])
  const { stop } = startDispatcher(clickhouse, { siteUrl: 'https://plumbline.example/x/', delaysSeconds: [0.05] })
  await deliveriesOver(clickhouse, WEBHOOK_FORMATS.length)
  await stop()
  await receiver.close()

  expect(receiver.received).toHaveLength(2 * WEBHOOK_FORMATS.length)
  for (const hook of receiver.received) {
    expect(isSigned(hook, SECRET)).toBe(true)
    const type = hook.path === '/cloudevents' ? 'application/cloudevents+json' : 'application/json'
    expect(hook.headers).toMatchObject({ 'content-type': type, 'x-service-event': 'peg_break.started' })
    // The same over both attempts.
    expect(
      receiver.received.filter(({ delivery_id, body }) => delivery_id === hook.delivery_id && body === hook.body),
    ).toHaveLength(2)
  }
  const bodyOf = (path: string) => JSON.parse(receiver.received.find((hook) => hook.path === path)?.body ?? '')
  const published = (await storedEvents(clickhouse))[0]?.recorded_at.toISOString() ?? ''
  const link = `https://plumbline.example/x/s/${stable}?as_of=${published.slice(0, 19)}Z`
  expect(bodyOf('/plumbline')).toMatchObject({ event: 'peg_break.started', data, published_at: published })
  expect(bodyOf('/slack').blocks[1].text.text).toContain(`?channel?AUSD (${stable}) is up to 63.5 bps below its peg`)
  expect(bodyOf('/discord').embeds[0]).toMatchObject({ url: link, timestamp: published })
  const telegram = bodyOf(`/bot${TOKEN}/sendMessage`)
  expect(telegram).toMatchObject({ chat_id: '-1001', parse_mode: 'HTML' })
  expect(telegram.text).toContain(`<a href="${link}">`)
  expect(bodyOf('/alertmanager')).toMatchObject({ version: '4', status: 'firing', alerts: [{ generatorURL: link }] })
  expect(bodyOf('/cloudevents')).toMatchObject({ specversion: '1.0', subject: stable, data, time: published })
})

test('a receiver that quotes its secret URL has it stored nowhere', async ({ clickhouse }) => {
  const server = createServer((request, response) => {
    response.writeHead(404).end(`The requested URL ${request.url} was not found; token ${TOKEN}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const sealed_url = seal(SECRETS_KEY, urlOwner('wh_1'), `http://127.0.0.1:${port}/bot${TOKEN}/sendMessage`)
  const given = { id: 'wh_1', url: 'http://127.0.0.1/…', sealed_url, format: 'telegram', chat_id: '1' } as const
  await addWebhookSubscription(clickhouse, given)
  await addEvents(clickhouse, [madeUpEvent(1, { occurred_at: new Date() })])
  const { stop } = startDispatcher(clickhouse, { delaysSeconds: [] })
  await deliveriesOver(clickhouse, 1)
  await stop()
  await new Promise((resolve) => server.close(resolve))
  const [attempt] = await storedAttempts(clickhouse)
  expect(attempt).toMatchObject({ status: 404, response: 'The requested URL … was not found; token …' })
})

test('a replay sends the events that the severity lets through as they come', async ({ clickhouse }) => {
  const events = EVENT_TYPES.flatMap((type, i) =>
    [
      {},
      { severity: 'mild' },
      { component: 'job:risk' },
      { retracted_event: 'flow_anomaly.detected', original: {} },
    ].map((changes, k) => {
      const data: Record<string, unknown> = { ...DATA[type], ...changes }
      const retracted_type = type === 'event.retracted' ? (data.retracted_event as 'peg_break.started') : undefined
      return madeUpEvent(10 * i + k, { type, data, ...(retracted_type && { retracted_type }) })
    }),
  )
  await addEvents(clickhouse, events)
  const asked = {
    since: new Date(0),
    before: new Date('2100-01-01'),
    types: [...EVENT_TYPES],
    stables: [],
    cause: '',
    limit: 1000,
  }
  const all = await eventsToReplay(clickhouse, asked)
  expect(all).toHaveLength(events.length)
  expect(new Set(all.map(levelOf)).size).toBe(3)
  for (const min_severity of ['', 'info', 'warning', 'critical'] as const) {
    const found = await eventsToReplay(clickhouse, { ...asked, min_severity })
    const expected = all.filter((event) => reachesLevel(event, min_severity))
    expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
    const subscription = webhookSubscription({ min_severity })
    expect(all.filter((event) => wants(subscription, event))).toEqual(expected)
  }
})
