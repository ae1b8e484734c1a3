import { expect } from 'vitest'
import { insertEvents } from '../../../../clickhouse/events/log.js'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { randomFor } from '../../../../local/chain/random.js'
import { test as base } from '../../../support/app.js'
import { addEvents, expectedBreaks, inOrder, madeUpEvent, standing, storedEvents } from '../../../support/events.js'
import { anomaliesOf, FLOW_ANOMALIES_JOB } from '../../../support/flow-anomalies.js'
import { timesOf, wildFlows } from '../../../support/flow-market.js'
import { PEG_EVENTS_JOB as JOB } from '../../../support/peg-events.js'
import { repairedViews } from '../../../support/repair-views.js'
import { addFacts } from '../../../support/rows.js'
import { REVISIONS, runSlots, slotsOf } from '../../../support/slots.js'
import { addMarket, blockTimes, wildSamples } from '../../../support/wild-market.js'

const HOUR = 3600
const STABLES = 4

const test = base.extend<{ start: number }>({
  // Right between two slots, some hours ago.
  start: async ({ clock }, use) => use((Math.floor(clock.now.getTime() / 120_000) - 150) * 120 + 60),
})

test('every break is announced once as started and once as ended, with the data known at that time', async ({
  clickhouse,
  start,
}) => {
  const times = blockTimes(11, start, 2 * HOUR)
  const samples = wildSamples(11, STABLES, times)
  await addMarket(clickhouse, samples, times)
  const slots = slotsOf(JOB, start, times.at(-1) ?? 0)
  await runSlots(clickhouse, JOB, slots)
  const horizon = (slots.at(-1)?.at.getTime() ?? 0) / 1000
  const events = await storedEvents(clickhouse)
  const expected = expectedBreaks(samples, horizon)
  expect(expected.filter(({ type }) => type === 'peg_break.ended').length).toBeGreaterThan(20)
  expect(inOrder(events)).toEqual(inOrder(expected))
  for (const { type, stables, data, slot_at, occurred_at } of events) {
    expect(stables).toEqual([data.stable])
    expect(occurred_at).toBeGreaterThan(slot_at - 120)
    expect(occurred_at).toBeLessThanOrEqual(slot_at)
    if (type === 'peg_break.ended') expect(occurred_at).toBe(Date.parse(String(data.ended_at)) / 1000)
  }
  // No end is announced before its start, and no slot's events after those of a later slot.
  const heard = events.map(({ slot_at }) => slot_at)
  expect(heard).toEqual(heard.toSorted((a, b) => a - b))
  const keyOf = ({ stable, severity, started_block }: Record<string, unknown>) =>
    `${stable} ${severity} ${started_block}`
  const begun = new Set<string>()
  for (const { type, data } of events) {
    if (type === 'peg_break.started') begun.add(keyOf(data))
    else expect(begun).toContain(keyOf(data))
  }

  // Repeated slots, in any order, also when their tokens are forgotten, and under other revisions.
  const random = randomFor(11, 'again')
  for (let i = 0; i < 10; i++) {
    const slot = random.pick(slots)
    await JOB.task(clickhouse, { ...slot, token: `${slot.token}:${random.pick(['', `:${i}`])}` })
  }
  for (const revision of REVISIONS.slice(1)) {
    const from = random.int(0, slots.length - 10)
    for (const slot of slotsOf(JOB, start, horizon, revision).slice(from)) await JOB.task(clickhouse, slot)
  }
  expect(await storedEvents(clickhouse)).toEqual(events)
})

test('after reorganizations exactly the events of the final chain stand, and all others are retracted', {
  timeout: 600_000,
}, async ({ clickhouse, start }) => {
  const times = blockTimes(13, start, HOUR)
  let [keptTimes, keptSamples] = [times, wildSamples(13, STABLES, times)]
  await addMarket(clickhouse, keptSamples, keptTimes)
  await runSlots(clickhouse, JOB, slotsOf(JOB, start, keptTimes.at(-1) ?? 0))
  const random = randomFor(13, 'rollbacks')
  for (const revision of REVISIONS) {
    const before = await storedEvents(clickhouse)
    const kept = random.int(Math.floor(keptTimes.length / 4), keptTimes.length - 20)
    const keptTime = keptTimes[kept - 1] ?? 0
    await removeFacts(clickhouse, { from_block: kept + 1, from_time: keptTime })
    await repairedViews(clickhouse)
    const newTimes = blockTimes(130 + revision, keptTime + random.int(0, 5), start + HOUR - keptTime)
    const newSamples = wildSamples(130 + revision, STABLES, newTimes, kept + 1)
    await addMarket(clickhouse, newSamples, newTimes, kept + 1)
    keptTimes = [...keptTimes.slice(0, kept), ...newTimes]
    keptSamples = [...keptSamples.filter(({ block_number }) => block_number <= kept), ...newSamples]
    const due = slotsOf(JOB, start, keptTimes.at(-1) ?? 0, revision).filter(({ at }) => at.getTime() / 1000 >= keptTime)
    await runSlots(clickhouse, JOB, due)

    const events = await storedEvents(clickhouse)
    // Events in the log are never changed.
    expect(events.slice(0, before.length)).toEqual(before)
    const horizon = (due.at(-1)?.at.getTime() ?? 0) / 1000
    // What stands is exactly what one pass over the final chain finds, with the same data.
    expect(inOrder(standing(events))).toEqual(inOrder(expectedBreaks(keptSamples, horizon)))
  }
  const events = await storedEvents(clickhouse)
  const retractions = events.filter(({ type }) => type === 'event.retracted')
  expect(retractions.length).toBeGreaterThan(0)
  for (const { data, stables } of retractions) {
    const taken = events.find(({ id }) => id === data.retracts)
    expect(data).toMatchObject({ retracted_event: taken?.type, stables, original: taken?.data })
    expect(stables).toEqual(taken?.stables)
  }
})

test('every anomaly is announced once, with the same digits as in the list of anomalies', async ({
  app,
  clickhouse,
  clock,
}) => {
  const end = Math.floor(clock.now.getTime() / 900_000) * 900
  const flows = wildFlows(5, end - 3 * 86_400, end)
  const rows = [...timesOf(flows), end].map((block_time) => ({
    block_number: block_time,
    block_time,
    block_hash: `${block_time}`,
    parent_hash: '',
    tx_count: 1,
    log_count: 1,
  }))
  await insertFacts(clickhouse, 'blocks', rows, 'blocks')
  await addFacts(clickhouse, { flows })
  const slots = slotsOf(FLOW_ANOMALIES_JOB, end - 86_400, end)
  await runSlots(clickhouse, FLOW_ANOMALIES_JOB, slots)
  const listed = await anomaliesOf(app)
  expect(listed.length).toBeGreaterThan(5)
  const told = listed.map(({ published_at: _, rules: __, ...data }) => ({ type: 'flow_anomaly.detected', data }))
  const events = await storedEvents(clickhouse)
  expect(inOrder(events)).toEqual(inOrder(told))
  for (const { stables, data, slot_at, occurred_at } of events) {
    expect(stables).toEqual([data.from_token, data.to_token])
    expect([slot_at, occurred_at].map((at) => at * 1000)).toEqual(Array(2).fill(Date.parse(String(data.window_end))))
  }
  for (const slot of [...slots, ...slotsOf(FLOW_ANOMALIES_JOB, end - 86_400, end, 1)])
    await FLOW_ANOMALIES_JOB.task(clickhouse, { ...slot, token: `${slot.token}:again` })
  expect(await storedEvents(clickhouse)).toEqual(events)
})

test('concurrent writers that share some events store each event once and overwrite none', async ({ clickhouse }) => {
  const random = randomFor(17, 'writers')
  const events = Array.from({ length: 60 }, (_, i) => madeUpEvent(i))
  const writers = Array.from({ length: 8 }, async () => {
    for (let i = 0; i < 10; i++)
      await addEvents(
        clickhouse,
        events.filter(() => random.chance(0.2)),
      )
  })
  await Promise.all(writers)
  await addEvents(clickhouse, events)
  const stored = await storedEvents(clickhouse)
  expect(stored.map(({ id }) => id).sort()).toEqual(events.map(({ id }) => id))
  // Without a kill no number is skipped.
  expect(stored.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i + 1))
})

test('a number that a kill left unused is skipped, and the log continues after it', async ({ clickhouse }) => {
  await addEvents(clickhouse, [madeUpEvent(1)])
  // As after a kill between the insert's token and its rows: the token is recorded, the row is not.
  await insertEvents(clickhouse, [{ ...madeUpEvent(2), slot_at: 0, revision: 0 }], { first: 2 })
  await clickhouse.command({
    query: 'ALTER TABLE events DELETE WHERE sequence_number = 2',
    clickhouse_settings: { mutations_sync: '2' },
  })
  await addEvents(clickhouse, [madeUpEvent(2), madeUpEvent(3)])
  await addEvents(clickhouse, [madeUpEvent(3), madeUpEvent(4)])
  expect((await storedEvents(clickhouse)).map(({ sequence, data }) => [sequence, data.made_up])).toEqual([
    [1, 1],
    [3, 2],
    [4, 3],
    [5, 4],
  ])
})
