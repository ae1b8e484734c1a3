import { expect } from 'vitest'
import { randomFor } from '../../../../local/chain/random.js'
import { test as base } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { eventsOf, PEG_EVENTS_JOB } from '../../../support/peg-events.js'
import { PEG_TRACKS_JOB } from '../../../support/peg-tracks.js'
import { stableAddress } from '../../../support/rows.js'
import { runPass, slotsOf } from '../../../support/slots.js'
import { AllPegEventsSpec } from '../../../support/spec/peg-events.js'
import { addMarket, blockTimes, wildDepths, wildSamples } from '../../../support/wild-market.js'

const PATH = '/api/v1/stablecoins/peg-events'
const STABLES = 5
const INSTANTS = depth('INSTANTS', 12, 150)
const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

const test = base.extend<{ times: number[] }>({
  // On a slot, some hours ago. The last stable is no longer sampled in the second half.
  times: async ({ clock, clickhouse }, use) => {
    const start = (Math.floor(clock.now.getTime() / 120_000) - 150) * 120
    const times = blockTimes(5, start, 4 * 3600)
    const half = start + 2 * 3600
    const samples = wildSamples(5, STABLES, times).filter(
      ({ stable, block_time }) => stable !== stableAddress(STABLES) || block_time < half,
    )
    await addMarket(clickhouse, samples, times, 1, wildDepths(5, samples))
    for (const job of [PEG_EVENTS_JOB, PEG_TRACKS_JOB])
      await runPass(clickhouse, job, slotsOf(job, start - 120, start + 4 * 3600))
    await use(times)
  },
})

test('the list is the union of the lists of each stable, as of any instant, from any time, filtered, in pages', async ({
  app,
  times,
}) => {
  const random = randomFor(7, 'instants')
  const [first, last] = [times[0] as number, times.at(-1) as number]
  const counts = { open: 0, ended: 0, filtered: 0 }
  for (let i = 0; i < INSTANTS; i++) {
    const as_of = random.int(first + 600, last)
    const from = random.int(Math.max(first, as_of - 5400), as_of)
    const track = random.pick(['published', 'agreed'])
    const filter = random.pick(['', '&severity=severe', '&severity=mild', '&min_bps=55', '&min_seconds=420'])
    const query = `as_of=${as_of}&track=${track}${filter}`
    const expected: { address: string; started_at: string; started_block: number; severity: string }[] = []
    for (let n = 1; n <= STABLES; n++) {
      const address = stableAddress(n)
      for (const event of await eventsOf(app, address, `?${query}&limit=500`))
        if (event.ended_at === null || event.ended_at > iso(from))
          expected.push({ address, symbol: `S${n - 1}`, symbol_shared: false, ...event } as never)
    }
    expected.sort(
      (a, b) =>
        b.started_at.localeCompare(a.started_at) ||
        b.started_block - a.started_block ||
        b.severity.localeCompare(a.severity) ||
        b.address.localeCompare(a.address),
    )
    const limit = random.pick([1, 2, 3, 500])
    const found = []
    let page = AllPegEventsSpec.parse((await app.inject(`${PATH}?${query}&from=${from}&limit=${limit}`)).json())
    for (;;) {
      expect(page.events.length).toBeLessThanOrEqual(limit)
      found.push(...page.events)
      if (page.next_cursor === null) break
      const next = await app.inject(`${PATH}?${query}&from=${from}&limit=${limit}&cursor=${page.next_cursor}`)
      page = AllPegEventsSpec.parse(next.json())
    }
    expect(found, `${query}&from=${from}`).toEqual(expected)
    counts.open += found.filter(({ ongoing }) => ongoing).length
    counts.ended += found.filter(({ ongoing }) => !ongoing).length
    if (filter) counts.filtered += found.length
  }
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0)
})

test('live, the last day is searched, and an answer claims nothing about the time before', async ({ app, times }) => {
  const answer = (await app.inject(`${PATH}?limit=500`)).json()
  const stables = new Set(answer.events.map(({ address }: { address: string }) => address))
  expect(stables.size).toBe(STABLES)
  const from = (times[0] as number) + 3600
  const { searched_from, searched_until } = (await app.inject(`${PATH}?from=${from}`)).json()
  expect(searched_from).toBe(iso(from))
  expect(searched_until > searched_from).toBe(true)
})

test('before the detector’s first slot the list is empty and says that nothing was searched', async ({
  app,
  clickhouse,
  clock,
}) => {
  const at = Math.floor(clock.now.getTime() / 1000) - 600
  await addMarket(clickhouse, wildSamples(1, 1, [at, at + 60]), [at, at + 60])
  expect((await app.inject(PATH)).json()).toMatchObject({ events: [], searched_from: null, complete_until: null })
})

test('the fault of a request is named', async ({ app, times }) => {
  for (const [query, parameter] of [
    ['from=soon', 'from'],
    ['from=1h&as_of=2h', 'from'],
    ['track=agreed&min_size=1000', 'min_size'],
    [`cursor=${Buffer.from('[1,2,"mild"]').toString('base64url')}`, 'cursor'],
    ['known_at=1h', 'known_at'],
    [`stable=${stableAddress(1)}`, 'stable'],
  ]) {
    const response = await app.inject(`${PATH}?${query}`)
    expect([query, response.statusCode]).toEqual([query, 400])
    expect(response.json()).toMatchObject({ type: 'urn:plumbline:problem:bad-parameter', parameter })
  }
  const before = await app.inject(`${PATH}?as_of=2020-01-01`)
  expect([before.statusCode, before.json().detail]).toEqual([
    404,
    expect.stringContaining(`before the start of history, ${iso(times[0] as number)}`),
  ])
})
