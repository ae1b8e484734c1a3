import { expect } from 'vitest'
import { SLOT_JOBS, type SlotJob } from '../../../../clickhouse/jobs/periods.js'
import { completedSlots } from '../../../../clickhouse/jobs/runs.js'
import { FLOW_ANOMALIES_TASK } from '../../../../jobs/detect/flow-anomalies.js'
import { randomFor } from '../../../../local/chain/random.js'
import { cachedApp } from '../../../support/cached-app.js'
import { storedEvents } from '../../../support/events.js'
import { anomaliesOf } from '../../../support/flow-anomalies.js'
import { fitfulFlows, wildFlows } from '../../../support/flow-market.js'
import { ran } from '../../../support/ran-slots.js'
import { addBlocks, addFacts } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const JOB = SLOT_JOBS.find(({ name }) => name === 'flow-anomalies') as SlotJob
const PERIOD = JOB.period_seconds
const DAY = 86_400
/** From one block to the next, in seconds. */
const BLOCK = 300

test('while anomalies are found from the newest on, no answer counts a window as complete that was not searched', async ({
  clickhouse,
}) => {
  const random = randomFor(1, 'newest first')
  const end = Math.floor(Date.now() / 1000 / PERIOD) * PERIOD - PERIOD
  const start = end - 2 * DAY
  const blockOf = (time: number): number => Math.floor((time - start) / BLOCK) + 1
  const flows = [...wildFlows(3, start, end), ...fitfulFlows(random, start, end)].map((flow) => {
    const block_number = blockOf(flow.block_time)
    return { ...flow, block_number, block_time: start + (block_number - 1) * BLOCK }
  })
  const times = Array.from({ length: blockOf(end) }, (_, i) => start + i * BLOCK)
  let stored = 0
  const addUntil = async (time: number): Promise<void> => {
    const isNew = (at: number): boolean => at < time && blockOf(at) > stored
    await addFacts(clickhouse, { flows: flows.filter(({ block_time }) => isNew(block_time)) })
    await addBlocks(clickhouse, times.filter(isNew), stored + 1)
    stored = Math.max(stored, ...times.filter(isNew).map(blockOf))
  }
  const doneSlots = async () => (await completedSlots(clickhouse)).map(({ slot_at }) => slot_at)

  let parts = 0
  await addUntil(end - DAY)
  for (let time = end - DAY, more = true; more; ) {
    const before = new Set(await doneSlots())
    const result = await ran(clickhouse, JOB, { jobs: SLOT_JOBS, task: FLOW_ANOMALIES_TASK, limit: 20 })
    more = result.more
    const done = await doneSlots()
    const added = done.filter((slot) => !before.has(slot))
    expect(added, 'none twice').toHaveLength(result.done)
    const newest = start + (stored - 1) * BLOCK
    expect(Math.max(...done), 'the newest first').toBe((Math.ceil(newest / PERIOD) - 1) * PERIOD)
    // A service that has just started knows every search.
    const app = await cachedApp(clickhouse, { now: () => new Date((start + stored * BLOCK) * 1000) })
    const url = '/api/v1/stablecoins/flow-anomalies?limit=1'
    const { searched_from, complete_until } = (await app.inject(url)).json() as {
      searched_from: string | null
      complete_until: string | null
    }
    const from = Date.parse(searched_from ?? '') / 1000
    expect(from).toBeGreaterThan(0)
    const until = complete_until ? Date.parse(complete_until) / 1000 : from
    for (let slot = from + PERIOD; slot <= until; slot += PERIOD)
      expect(done, `${searched_from} to ${complete_until}`).toContain(slot)
    if (from > start) parts++
    // What is new arrives meanwhile.
    time += random.int(0, 6) * PERIOD
    await addUntil(Math.min(time, end))
  }
  expect(parts).toBeGreaterThan(3)
  const app = await cachedApp(clickhouse, { now: () => new Date((start + stored * BLOCK) * 1000) })
  const anomalies = await anomaliesOf(app)
  const events = await storedEvents(clickhouse)
  expect(anomalies.length).toBeGreaterThan(5)
  expect(events).toHaveLength(anomalies.length)
  expect(new Set(events.map(({ data }) => `${data.from_token} ${data.to_token} ${data.window_start}`)).size).toBe(
    events.length,
  )
})
