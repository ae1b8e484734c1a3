import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../../../clickhouse/events/types.js'
import { FORMATS, WEBHOOK_FORMATS, type WebhookFormat } from '../../../../../clickhouse/webhooks/formats.js'
import { rendered } from '../../../../../jobs/webhooks/formats/render.js'
import { contentOf, digestOf, NAMES } from '../../../../support/webhooks/contents.js'
import { MESSAGE_FORMATS, messageShapes } from './message-shapes.js'

const around = { base: 'https://plumbline.example/', names: NAMES }
const chat = (format: WebhookFormat) => ({ format, chat_id: '-1001' })
const many = (count: number) => Array.from({ length: count }, () => contentOf('peg_break.started'))
const bodyOf = (format: WebhookFormat, contents: ReturnType<typeof many>) =>
  rendered(900, digestOf(contents), chat(format), around).body

test('a digest has every event byte for byte as it would be alone, in order', () => {
  const contents = EVENT_TYPES.map((type) => contentOf(type))
  const alone = (format: WebhookFormat): string =>
    contents.map((content, i) => rendered(i + 1, content, chat(format), around).body).join(',')
  expect(bodyOf('plumbline', contents)).toBe(
    `{"event":"digest","data":{"events":[${alone('plumbline')}]},"delivery_id":900,` +
      '"event_id":"dig_0123456789abcdef0123456789abcdef","published_at":"2026-07-21T05:00:00.123Z"}',
  )
  const cloudEvent = bodyOf('cloudevents', contents)
  expect(cloudEvent.endsWith(`,"data":{"events":[${alone('cloudevents')}]}}`)).toBe(true)
  expect(JSON.parse(cloudEvent)).toMatchObject({ type: 'plumbline.digest', severity: 'critical', deliveryid: '900' })
  expect(JSON.parse(cloudEvent)).not.toHaveProperty('subject')
})

test('a digest for people counts its events and has a line for each', () => {
  const contents = [contentOf('flow_anomaly.detected'), contentOf('peg_break.started'), contentOf('peg_break.ended')]
  const { blocks } = JSON.parse(bodyOf('slack', contents))
  expect(blocks[0].text.text).toBe('3 events: 2 critical, 1 info')
  expect(blocks[1].text.text).toBe(
    '2026-07-20 16:02:03 UTC AlphaUSD to USDC.e: flow surge\n' +
      '2026-07-20 16:02:03 UTC AlphaUSD: severe peg break started\n' +
      '2026-07-20 17:04:02 UTC AlphaUSD: severe peg break ended after 1 h 3 min',
  )
  expect(blocks[2].text.text).toBe('<https://plumbline.example/?as_of=2026-07-21T05:00:00Z|Open in Plumbline>')
})

test('a digest is cut between lines, within the limits of each service, and says how many are left out', () => {
  for (const format of MESSAGE_FORMATS) {
    const most = FORMATS[format].mostText
    for (const count of [1, 2, 49, 50, 51, 66, 67, 68, 69, 70, 200]) {
      const text = messageShapes[format].longest(JSON.parse(bodyOf(format, many(count))))
      expect(text.length).toBeLessThanOrEqual(most)
      const shown = text.split('\n').filter((line) => line.includes('peg break started'))
      const whole = new Set(shown)
      expect(whole.size).toBe(1)
      const left = Number(/\nand (\d+) more/.exec(text)?.[1] ?? 0)
      expect(shown.length + left).toBe(count)
      // No room is wasted: the next line would not fit.
      if (left > 0) expect(text.length + (shown[0]?.length ?? 0) + 1).toBeGreaterThan(most - 12)
    }
  }
})

test('what was held before a subscription became one of alertmanager is sent with the alerts of each event', () => {
  const contents = [contentOf('peg_break.started'), contentOf('peg_break.ended')]
  const payload = JSON.parse(bodyOf('alertmanager', contents))
  expect(payload).toMatchObject({ version: '4', status: 'firing' })
  const alone = contents.flatMap(
    (content) => JSON.parse(rendered(1, content, chat('alertmanager'), around).body).alerts,
  )
  expect(payload.alerts).toEqual(alone)
})

test('every format has a digest, and it is the same when it is made again', () => {
  for (const format of WEBHOOK_FORMATS) expect(bodyOf(format, many(3))).toBe(bodyOf(format, many(3)))
})
