import { expect, test } from 'vitest'
import { breaks, breaksLines, together } from '../../../../clients/cli/src/breaks.js'
import { createClient, type ListPegEventsData } from '../../../../clients/typescript/src/client.js'
import { answering, json } from '../../../support/answering.js'

const SINCE = new Date('2026-07-01T12:00:00Z')
const [A, B] = [1, 2].map((i) => `0x20c0${'0'.repeat(35)}${i}`) as [string, string]
type Event = ListPegEventsData['events'][number]

const event = (started: string, ended: string | null, severity: Event['severity'] = 'mild'): Event => ({
  severity,
  direction: 'below',
  started_at: started,
  ended_at: ended,
  duration_seconds: 3600,
  max_deviation_bps: 12.5,
  started_block: 1,
  ended_block: ended === null ? null : 2,
  ongoing: ended === null,
  standing_tokens: null,
  thin: null,
  published_at: null,
})
const page = (events: Event[], changes = {}) =>
  ({
    address: A,
    events,
    searched_from: '2026-06-01T00:00:00Z',
    complete_until: '2026-07-02T00:00:00Z',
    next_cursor: null,
    ...changes,
  }) as unknown as ListPegEventsData

test('several stables are complete from the latest start to the earliest end, and not at all if one is not', () => {
  const answer = (address: string, changes = {}) => ({
    stable: { address, symbol: 'S' },
    events: [event('2026-07-01T13:00:00Z', null)],
    page: page([], changes),
  })
  const later = answer(B, { searched_from: '2026-07-01T18:00:00Z', complete_until: '2026-07-01T20:00:00Z' })
  expect(breaksLines(together(SINCE, [answer(A), later])).at(-1)).toBe(
    'complete from 2026-07-01T18:00:00Z until 2026-07-01T20:00:00Z',
  )
  expect(breaksLines(together(SINCE, [answer(A)])).at(-1)).toBe(
    'complete from 2026-07-01T12:00:00Z until 2026-07-02T00:00:00Z',
  )
  expect(breaksLines(together(SINCE, [answer(A), answer(B, { complete_until: null })])).at(-1)).toMatch(/^not complete/)
  expect(breaksLines(together(SINCE, [answer(A)])).join('\n')).toMatch(
    /mild +below +2026-07-01T13:00:00Z +OPEN +1h +12.50/,
  )
})

test('a long open break behind shorter ones is found, and no page behind the oldest that matters is read', async () => {
  const newer = [event('2026-07-01T14:00:00Z', '2026-07-01T15:00:00Z', 'severe')]
  const older = [
    event('2026-07-01T10:00:00Z', null),
    event('2026-07-01T09:00:00Z', '2026-07-01T10:00:00Z', 'severe'),
    event('2026-06-30T09:00:00Z', '2026-06-30T10:00:00Z'),
  ]
  const { baseUrl, requests } = await answering(
    json({ address: A, symbol: 'S' }),
    json(page(newer, { next_cursor: 'c1' })),
    json(page(older, { next_cursor: 'c2' })),
  )
  const written: string[] = []
  const output = { write: (text: string) => void written.push(text), json: true, terminal: null }
  const given = { stable: A, since: SINCE, severity: undefined }
  await breaks(createClient({ baseUrl }), given, output, new AbortController().signal)
  const found = JSON.parse(written.join('')) as { breaks: Event[] }
  expect(found.breaks.map(({ started_at }) => started_at)).toEqual(['2026-07-01T14:00:00Z', '2026-07-01T10:00:00Z'])
  expect(requests).toHaveLength(3)
})
