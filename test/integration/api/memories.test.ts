import { expect } from 'vitest'
import { insertJobRun } from '../../../clickhouse/jobs/runs.js'
import { parseMetrics } from '../../../process/metrics-text.js'
import { SUBSCRIPTION_KEY } from '../../support/app.js'
import { cachedApp } from '../../support/cached-app.js'
import { addApiKey } from '../../support/keys.js'
import { addBatch } from '../../support/ledger.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin, stateRead } from '../../support/rows.js'
import { test } from '../../support/services.js'

const HOUR = 3600
const STABLE = stableAddress(1)
const PEG = `/api/v1/stablecoins/${STABLE}/peg`
/** Only a process that sends webhooks asks it. */
const UNASKED = ['clocks']

/** Six hours of blocks, five minutes apart, which the tip has read, and an API a minute later. */
async function setUp(clickhouse: Parameters<typeof cachedApp>[0]) {
  const end = Math.floor(Date.now() / 1000 / HOUR) * HOUR
  const times = Array.from({ length: 73 }, (_, i) => end - (72 - i) * 300)
  const [created = end] = times
  await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY })
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1, { block_time: created })],
    states: [stateRead(STABLE, { block_time: created })],
    samples: pegSamples(
      STABLE,
      times.map((at, i) => ({ at, price: 999_000 + i })),
    ),
  })
  await insertJobRun(clickhouse, {
    job: 'peg-events',
    slot_at: end - HOUR,
    revision: 0,
    state: 'done',
    result_rows: 0,
    error: '',
    started_at: end.toFixed(3),
    duration_ms: 0,
    instance: 'test',
  })
  await addBatch(clickhouse, 'tip', 1, { from_block: 1, to_block: times.length })
  const app = await cachedApp(clickhouse, { now: () => new Date((end + 60) * 1000) })
  const ask = (url: string, remoteAddress = '2001:db8::1') =>
    app.inject({
      url,
      remoteAddress,
      headers: { 'accept-encoding': 'identity', authorization: `Bearer ${SUBSCRIPTION_KEY}` },
    })
  const urls = [
    '/api/v1/stablecoins',
    PEG,
    `${PEG}?as_of=${end - HOUR}`,
    `${PEG}?as_of=${end - HOUR + 7}`,
    `/api/v1/stablecoins/${STABLE}?as_of=${end - HOUR}`,
    `/api/v1/stablecoins/${STABLE}/peg-events`,
  ]
  const answers = async (): Promise<string[]> => {
    const bodies: string[] = []
    for (const url of urls) {
      const { statusCode, body } = await ask(url)
      expect([url, statusCode]).toEqual([url, 200])
      bodies.push(body)
    }
    return bodies
  }
  const shown = async () => {
    const { payload } = await app.inject('/metrics')
    const { samples } = parseMetrics(payload.replaceAll('+Inf', `${Number.MAX_VALUE}`))
    const of = (name: string) =>
      new Map(samples(`plumbline_memory_${name}`).map(({ labels, value }) => [labels.memory, value]))
    const words = samples('plumbline_memory_info').map(({ labels: { memory: name, holds, until } }) => ({
      name,
      holds,
      until,
    }))
    return { size: of('size'), limit: of('limit'), lookups: of('lookups_total'), words }
  }
  return { app, answers, shown }
}

test('/metrics shows what each memory holds, how large it is and may become; when all have forgotten, answers are the same', async ({
  clickhouse,
}) => {
  const { app, answers, shown } = await setUp(clickhouse)
  // Anonymous callers are limited by network, and the state of the service is read for the metrics themselves.
  await app.inject({ url: PEG, remoteAddress: '2001:db8::1' })
  const first = await answers()
  await app.inject({ url: `${PEG}/series`, method: 'HEAD' })
  await app.inject(`/api/v1/stablecoins/${STABLE}/book`)
  await shown()
  const before = await shown()
  for (const { description } of app.memories.all()) {
    const { name, holds, until } = description
    expect(before.words).toContainEqual({ name, holds, until })
  }
  const names = [...new Set(app.memories.all().map(({ description }) => description.name))]
  for (const shownAs of [before.size, before.limit, before.lookups])
    expect([...shownAs.keys()].toSorted()).toEqual(names.toSorted())
  for (const name of names) {
    expect(before.size.get(name), name).toBeLessThanOrEqual(before.limit.get(name) as number)
    if (!UNASKED.includes(name)) expect(before.size.get(name), name).toBeGreaterThan(0)
  }

  for (const memory of app.memories.all()) {
    memory.forget()
    expect(memory.size, memory.description.name).toBe(0)
  }
  const statements = app.queries.length
  expect(await answers()).toEqual(first)
  expect(app.queries.length).toBeGreaterThan(statements)
})
