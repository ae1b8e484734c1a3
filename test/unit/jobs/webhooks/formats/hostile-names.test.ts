import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../../../clickhouse/events/types.js'
import { discordBody } from '../../../../../jobs/webhooks/formats/discord.js'
import { rendered } from '../../../../../jobs/webhooks/formats/render.js'
import { slackBody } from '../../../../../jobs/webhooks/formats/slack.js'
import { telegramBody } from '../../../../../jobs/webhooks/formats/telegram.js'
import { safeName } from '../../../../../jobs/webhooks/formats/text.js'
import { contentOf, DATA, NAMES } from '../../../../support/webhooks/contents.js'

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

const bodiesOf = (
  format: 'slack' | 'discord' | 'telegram' | 'alertmanager',
  name: string,
  base: string | null = BASE,
) => {
  const names = new Map([...NAMES.keys()].map((stable) => [stable, name]))
  const subscription = { format, chat_id: format === 'telegram' ? '1' : '' }
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
    const link = /<https:\/\/plumbline\.example\/[\w/?=:-]*\|Open in Plumbline>/
    for (const body of bodiesOf('slack', name, base)) {
      const { type, text } = body.blocks[2].text
      expect(text.replace(link, '')).toBe(type === 'mrkdwn' ? '' : text)
      // In markup, nothing of ours has these characters; plain text has no markup.
      expect(body.text).not.toMatch(/[<>]/)
      for (const block of body.blocks.slice(0, 2))
        expect(block.text).toMatchObject({ type: 'plain_text', emoji: false })
    }
    for (const body of bodiesOf('discord', name, base)) {
      expect(body.allowed_mentions).toEqual({ parse: [] })
      for (const text of [body.content, body.embeds[0].title, body.embeds[0].description])
        expect(text.replaceAll(/\\[\\*_~`|<>#[\]()@]/g, '')).not.toMatch(/[\\*_~`|<>#[\]@]/)
    }
    for (const { text, parse_mode } of bodiesOf('telegram', name, base)) {
      expect(parse_mode).toBe('HTML')
      const without = text
        .replace(/^<b>([^<>]*)<\/b>\n/, '$1')
        .replace(/\n<a href="https:\/\/plumbline\.example\/[\w/?=:-]*">Open in Plumbline<\/a>$/, '')
      expect(without).not.toMatch(/[<>"]|&(?!amp;|lt;|gt;|quot;)/)
    }
    for (const format of ['slack', 'discord', 'telegram', 'alertmanager'] as const)
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
      for (const format of ['slack', 'discord', 'telegram'] as const) {
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
    const told = { level: 'critical' as const, title: long, why: long, path: '/status' }
    const slack = JSON.parse(slackBody(told, BASE))
    expect(slack.text.length).toBeLessThanOrEqual(3000)
    expect(slack.blocks[0].text.text.length).toBeLessThanOrEqual(150)
    expect(slack.blocks[1].text.text.length).toBeLessThanOrEqual(3000)
    const { content, embeds } = JSON.parse(discordBody(told, BASE, new Date(0)))
    expect(content.length).toBeLessThanOrEqual(2000)
    expect(embeds[0].title.length).toBeLessThanOrEqual(256)
    expect(embeds[0].description.length).toBeLessThanOrEqual(4096)
    expect(embeds[0].title.length + embeds[0].description.length).toBeLessThanOrEqual(6000)
    const { text } = JSON.parse(telegramBody(told, BASE, '1'))
    expect(text.length).toBeLessThanOrEqual(4096)
    // Nothing is cut inside an escaped character.
    for (const cut of [slack.text, text]) expect(cut).not.toMatch(/&(?!amp;|lt;|gt;|quot;)/)
    expect(content).not.toMatch(/(^|[^\\])(\\\\)*\\…$/)
  }
})
