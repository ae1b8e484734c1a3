import { expect, test } from 'vitest'
import type { EventType } from '../../../../../clickhouse/events/types.js'
import { webhookBody } from '../../../../../clickhouse/webhooks/body.js'
import { rendered } from '../../../../../jobs/webhooks/formats/render.js'
import { contentOf, DATA, NAMES } from '../../../../support/webhooks/contents.js'

const around = { base: 'https://plumbline.example/', names: NAMES }
const alertOf = (type: EventType, changes: Record<string, unknown> = {}) =>
  JSON.parse(rendered(7, contentOf(type, changes), { format: 'alertmanager', chat_id: '' }, around).body)
const retraction = (of: EventType, reason: string) =>
  alertOf('event.retracted', { retracted_event: of, reason, original: DATA[of] })

test('the format plumbline is the body of the event, byte for byte', () => {
  const content = contentOf('peg_break.started')
  const { body, contentType } = rendered(7, content, { format: 'plumbline', chat_id: '' }, around)
  expect([body, contentType]).toEqual([webhookBody(7, content), 'application/json'])
})

test('a start fires and its end resolves the same group and the same alert', () => {
  for (const [start, end] of [
    ['peg_break.started', 'peg_break.ended'],
    ['agreed_break.started', 'agreed_break.ended'],
    ['peg_quote.lost', 'peg_quote.back'],
  ] as const) {
    const [firing, resolved] = [alertOf(start), alertOf(end)]
    expect([firing.version, firing.status, firing.alerts[0].status]).toEqual(['4', 'firing', 'firing'])
    expect([resolved.status, resolved.alerts[0].status]).toEqual(['resolved', 'resolved'])
    expect(resolved.groupKey).toBe(firing.groupKey)
    expect(resolved.alerts[0].fingerprint).toBe(firing.alerts[0].fingerprint)
    expect(resolved.alerts[0].labels).toEqual(firing.alerts[0].labels)
    expect(firing.alerts[0]).toMatchObject({ startsAt: DATA[start].started_at, endsAt: '0001-01-01T00:00:00Z' })
    expect(resolved.alerts[0]).toMatchObject({ startsAt: DATA[start].started_at, endsAt: DATA[end].ended_at })
  }
  const drift = (status: string) => alertOf('system.health_drift', { status })
  expect([drift('behind').status, drift('ok').status]).toEqual(['firing', 'resolved'])
  expect(drift('ok').groupKey).toBe(drift('behind').groupKey)
})

test('different breaks are different groups, also of the same stable', () => {
  const keys = [
    alertOf('peg_break.started'),
    alertOf('peg_break.started', { severity: 'mild' }),
    alertOf('peg_break.started', { started_block: 4712 }),
    alertOf('peg_break.started', { stable: '0x20c0000000000000000000000000000000000002' }),
    alertOf('agreed_break.started', { severity: 'severe' }),
    alertOf('peg_quote.lost'),
    alertOf('flow_anomaly.detected'),
    alertOf('system.health_drift'),
    alertOf('system.health_drift', { component: 'sampling' }),
  ].map(({ groupKey }) => groupKey)
  expect(new Set(keys).size).toBe(keys.length)
})

test('a retraction resolves the alert of what did not happen, and leaves one that comes with other data', () => {
  const { groupKey } = alertOf('peg_break.started')
  for (const [of, reason, status] of [
    ['peg_break.started', 'not_found', 'resolved'],
    ['peg_break.ended', 'not_found', 'resolved'],
    ['peg_break.started', 'changed', 'firing'],
    ['peg_break.ended', 'changed', 'resolved'],
  ] as const)
    expect(retraction(of, reason)).toMatchObject({ status, groupKey, alerts: [{ status }] })
})

test('a CloudEvent has the attributes of version 1.0, and the data byte for byte', () => {
  const data = '{"stable":"0x20c0000000000000000000000000000000000001","max_deviation_bps":63.50,"severity":"severe"}'
  const content = { ...contentOf('peg_break.started'), data }
  const { body, contentType } = rendered(7, content, { format: 'cloudevents', chat_id: '' }, around)
  expect(contentType).toBe('application/cloudevents+json')
  expect(body.endsWith(`,"data":${data}}`)).toBe(true)
  const { data: _, ...attributes } = JSON.parse(body)
  expect(attributes).toEqual({
    specversion: '1.0',
    id: content.event_id,
    source: 'https://plumbline.example/',
    type: 'plumbline.peg_break.started',
    subject: '0x20c0000000000000000000000000000000000001',
    time: '2026-07-20T16:02:03.456Z',
    datacontenttype: 'application/json',
    severity: 'critical',
    deliveryid: '7',
  })
  // Lower-case letters and digits only, at most 20 of them (section 3.1 of the specification).
  for (const name of Object.keys(attributes)) expect(name).toMatch(/^[a-z0-9]{1,20}$/)
  const alone = rendered(7, content, { format: 'cloudevents', chat_id: '' }, { ...around, base: null })
  expect(JSON.parse(alone.body).source).toBe('urn:plumbline')
})

test('a message for people says which stable, how far, since when, by which rule, and where to see it', () => {
  const slack = (type: EventType, base: string | null = around.base) =>
    JSON.parse(rendered(7, contentOf(type), { format: 'slack', chat_id: '' }, { ...around, base }).body)
  const { text, blocks } = slack('peg_break.started')
  expect(blocks[1].text.text).toBe(
    'AlphaUSD (0x20c0000000000000000000000000000000000001) is up to 63.5 bps below its peg, outside the limit since ' +
      '2026-07-20 16:00:00 UTC (block 4711). Rule severe: price of one token more than 50 bps from the peg for 1 min. ' +
      'It stood for 100,000 tokens.',
  )
  expect(text).toContain('AlphaUSD: severe peg break started. ')
  const link = '/s/0x20c0000000000000000000000000000000000001?as_of=2026-07-20T16:02:03Z'
  expect(blocks[2].text.text).toBe(`<https://plumbline.example${link}|Open in Plumbline>`)
  expect(slack('peg_break.started', null).blocks[2].text).toMatchObject({ type: 'plain_text', text: link })
  expect(slack('peg_break.ended').blocks[1].text.text).toContain('was up to 71.25 bps below its peg')
  const test = { ...contentOf('peg_break.started'), event_id: 'evt_test_1' }
  expect(JSON.parse(rendered(7, test, { format: 'slack', chat_id: '' }, around).body).text).toMatch(/^Test: /)
  // Data that lack what the words need.
  const unknown = { ...contentOf('peg_break.started'), data: '{"made_up":1}' }
  expect(JSON.parse(rendered(7, unknown, { format: 'slack', chat_id: '' }, around).body).blocks[1].text.text).toBe(
    'peg_break.started',
  )
})
