import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../../../clickhouse/events/types.js'
import { FORMATS, WEBHOOK_FORMATS, type WebhookFormat } from '../../../../../clickhouse/webhooks/formats.js'
import { rendered, usesNames } from '../../../../../jobs/webhooks/formats/render.js'
import { safeName } from '../../../../../jobs/webhooks/messages/text.js'
import { contentOf, DATA, NAMES } from '../../../../support/webhooks/contents.js'
import { MESSAGE_FORMATS, messageShapes } from './message-shapes.js'

const HOSTILE = [
  '<!channel>',
  '<!here|x>',
  '<@U012AB3CD>',
  '@everyone',
  '@here',
  '<@&123456789012345678>',
  '<https://evil.example|pathUSD>',
  '[pathUSD](https://evil.example)',
  'https://evil.example/x',
  'evil.example',
  'evil.co',
  'tg://resolve?domain=evil',
  '</b><a href="https://evil.example">x</a>',
  '&lt;!channel&gt;',
  '**b** __u__ ~~s~~ ||s|| `c` > q # h',
  '$USD',
  '#USD',
  '/start',
  ':skull:',
  '+12125552368',
  '\u202eDSU\u202c',
  'USD\u200bC',
  'US\u0414C',
  'line\nbreak',
  '"\\',
  '\ud83d\udca5'.repeat(40),
  'a'.repeat(64),
  '',
  '...',
] as const

const BASE = 'https://plumbline.example/'

/** Every string in a JSON value. */
const stringsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : value !== null && typeof value === 'object'
      ? Object.values(value).flatMap(stringsIn)
      : []

const bodiesOf = (format: WebhookFormat, name: string, base: string | null) => {
  const names = new Map([...NAMES.keys()].map((stable) => [stable, name]))
  const subscription = { format, chat_id: FORMATS[format].needsChat ? '1' : '' }
  return EVENT_TYPES.map((type) => JSON.parse(rendered(7, contentOf(type), subscription, { base, names }).body))
}

test('a name is one word of ASCII, and usual symbols stay as they are', () => {
  for (const usual of ['pathUSD', 'USDC.e', 'USD+', 'ABUSD', 'EUR_C', 'T-USD', 'USD0'])
    expect(safeName(usual)).toBe(usual)
  expect(safeName('US\u0414C')).toBe('US?C')
  expect(safeName('evil.example')).toBe('evil?example')
  expect(safeName('1.1.1.1')).toBe('1?1?1?1')
  expect(safeName('+12125552368')).toBe('?12125552368')
  expect(safeName('x'.repeat(21))).toBe(`${'x'.repeat(19)}…`)
  for (const nothing of ['', '...', '\u202e', '<>']) expect(safeName(nothing)).toBe('')
})

test.each(HOSTILE)('the name %j is neither markup, a mention nor a link in any format', (name) => {
  for (const base of [BASE, null]) {
    for (const format of MESSAGE_FORMATS)
      for (const body of bodiesOf(format, name, base)) messageShapes[format].expectNoMarkup(body)
    for (const format of WEBHOOK_FORMATS.filter(usesNames))
      for (const text of bodiesOf(format, name, base).flatMap(stringsIn)) {
        const rest = text.replaceAll(/https:\/\/plumbline\.example\/[\w/?=:-]*/g, '')
        expect(rest).not.toMatch(
          /https?:|:\/\/|@|[a-z0-9]\.[a-z]{2,}(?<!_break\.(started|ended))|\$|\p{Cf}|[\u0400-\u04ff]/iu,
        )
      }
  }
})

test('hostile data of an event are no more than hostile names', () => {
  for (const text of HOSTILE) {
    const data = {
      component: text,
      status: text,
      severity: text,
      retracted_event: text,
      reason: text,
      retracts: text,
      stable: text,
    }
    for (const type of EVENT_TYPES) {
      const changes = Object.fromEntries(Object.entries(data).filter(([field]) => field in DATA[type]))
      for (const format of MESSAGE_FORMATS) {
        const subscription = { format, chat_id: '1' }
        const { body } = rendered(7, contentOf(type, changes), subscription, { base: BASE, names: NAMES })
        expect(body).not.toMatch(/evil\.|@everyone|<!|<@|href=\\"https:\/\/evil/)
      }
    }
  }
})

test('every text is within the limits of its service, whatever its characters', () => {
  for (const character of ['<', '&', '_', 'x', '\ud83d\udca5']) {
    const long = character.repeat(20_000)
    const message = { level: 'critical' as const, title: long, why: long, path: '/status' }
    for (const format of MESSAGE_FORMATS) {
      const { writer, texts, longest, escaped, cutInside } = messageShapes[format]
      const body = JSON.parse(writer.write(message, { url: BASE, at: new Date(0), chat_id: '1' }))
      for (const [text, most] of texts(body)) expect(text.length).toBeLessThanOrEqual(most)
      for (const text of escaped(body)) expect(text).not.toMatch(cutInside)
      expect(longest(body).length).toBeGreaterThan(FORMATS[format].mostText - 12)
    }
  }
})
