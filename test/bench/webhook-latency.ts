// From the commit of an event to the first byte of its deliveries at the receivers, at 200 deliveries a second.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FoundEvent } from '../../clickhouse/events/types.js'
import { announce } from '../../jobs/detect/announce.js'
import { percentile } from './measure.js'
import { startStack } from './stack.js'
import { DATA, startReceiver, startSender, subscribe } from './webhook-stack.js'

const SUBSCRIPTIONS = 10
const SECONDS = Number(process.env.SECONDS ?? 20)
/** With that many subscriptions, 200 deliveries a second. */
const EVENTS_PER_SECOND = 20
/** A detector commits what it has found ten times a second; where a commit takes longer, the next one has more. */
const PERIOD_MS = 100

const stack = await startStack()
const receiver = await startReceiver()
try {
  const { env, clickhouse } = await stack.database('webhooks')
  const urls = Array.from({ length: SUBSCRIPTIONS }, (_, i) => receiver.url(`/${i}`))
  await subscribe(clickhouse, 'all', urls)
  const sender = await startSender(env)
  sender.dispatch()
  const committed = new Map<string, number>()
  const commits: number[] = []
  const now = Math.floor(Date.now() / 1000) * 1000
  const event = (i: number): FoundEvent => ({
    id: `evt_${i}`,
    type: 'peg_break.started',
    subject: `${i}`,
    stables: [],
    occurred_at: new Date(now),
    data: JSON.parse(DATA),
  })
  const startedAt = performance.now()
  for (let made = 0; performance.now() - startedAt < SECONDS * 1000; ) {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * EVENTS_PER_SECOND) + 1
    const events = Array.from({ length: due - made }, (_, i) => event(made + i))
    made = due
    const before = Date.now()
    await announce(clickhouse, events, { at: new Date(now), revision: 0 })
    for (const { id } of events) committed.set(id, before)
    commits.push(Date.now() - before)
    await sleep(before + PERIOD_MS - Date.now())
  }
  const seconds = (performance.now() - startedAt) / 1000
  const wanted = committed.size * SUBSCRIPTIONS
  while ((await receiver.count()) < wanted) await sleep(100)
  const { events } = await receiver.arrived()
  await sender.stop()
  // Counted from before the commit was begun, so that it is not shorter than it was.
  const latencies = events.map(([id, at]) => at - (committed.get(id) ?? Number.NaN))
  const ms = (p: number): string => `${percentile(latencies, p)} ms`
  console.log(
    `${Math.round(wanted / seconds)} deliveries/s for ${Math.round(seconds)} s: from the begin of the commit to the first byte ` +
      `p50 ${ms(0.5)}, p99 ${ms(0.99)}, max ${ms(1)}; the commit itself took p50 ${percentile(commits, 0.5)} ms, p99 ${percentile(commits, 0.99)} ms`,
  )
} finally {
  await receiver.stop()
  await stack.close()
}
