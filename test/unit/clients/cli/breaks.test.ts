import { expect, test } from 'vitest'
import { type Breaks, breaks, breaksLines } from '../../../../clients/cli/src/breaks.js'
import { createClient } from '../../../../clients/typescript/src/client.js'
import { answering, json } from '../../../support/answering.js'

const [A, B] = [1, 2].map((i) => `0x20c0${'0'.repeat(35)}${i}`) as [string, string]
type Break = Breaks['breaks'][number]

const event = (address: string, started: string, ended: string | null): Break => ({
  address,
  symbol: 'S',
  symbol_shared: false,
  severity: 'mild',
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
const found = (changes: Partial<Breaks> = {}): Breaks => ({
  since: '2026-07-01T12:00:00Z',
  searched_from: '2026-07-01T12:00:00Z',
  complete_until: '2026-07-02T00:00:00Z',
  breaks: [event(A, '2026-07-01T13:00:00Z', null)],
  ...changes,
})

test('the table ends with the time of which nothing is missing, also if it has no breaks', () => {
  expect(breaksLines(found()).join('\n')).toMatch(/mild +below +2026-07-01T13:00:00Z +OPEN +1h +12.50/)
  expect(breaksLines(found()).at(-1)).toBe('complete from 2026-07-01T12:00:00Z until 2026-07-02T00:00:00Z')
  expect(breaksLines(found({ searched_from: '2026-07-01T18:00:00Z' })).at(-1)).toMatch(/^complete from 2026-07-01T18/)
  expect(breaksLines(found({ complete_until: null })).at(-1)).toMatch(/^not complete/)
  expect(breaksLines(found({ breaks: [] }))[0]).toBe('no breaks since 2026-07-01T12:00:00Z')
})

test('every page is read, and those of one stable are kept if it is named', async () => {
  const page = (events: Break[], next_cursor: string | null) => json({ ...found(), events, next_cursor })
  const { baseUrl, requests } = await answering(
    page([event(A, '2026-07-01T14:00:00Z', '2026-07-01T15:00:00Z'), event(B, '2026-07-01T13:00:00Z', null)], 'next'),
    page([event(A, '2026-07-01T10:00:00Z', null)], null),
  )
  const written: string[] = []
  const output = { write: (text: string) => void written.push(text), json: true, terminal: null }
  const given = { stable: A, since: new Date('2026-07-01T12:00:00Z'), severity: undefined }
  await breaks(createClient({ baseUrl }), given, output, new AbortController().signal)
  const { breaks: kept } = JSON.parse(written.join('')) as Breaks
  expect(kept.map(({ started_at }) => started_at)).toEqual(['2026-07-01T14:00:00Z', '2026-07-01T10:00:00Z'])
  expect(requests).toHaveLength(2)
})
