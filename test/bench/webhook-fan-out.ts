// Events that all of 10,000 subscriptions want, planned and sent by the dispatcher: its rate and memory, and how long an
// event waits that is committed behind them and that only one other subscription wants.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FoundEvent } from '../../clickhouse/events/types.js'
import { announce } from '../../jobs/detect/announce.js'
import { statsOf } from './process-stats.js'
import { rows, startStack } from './stack.js'
import { DATA, startReceiver, startSender, subscribe } from './webhook-stack.js'

const SUBSCRIPTIONS = Number(process.env.SUBSCRIPTIONS ?? 10_000)
const EVENTS = Number(process.env.EVENTS ?? 30)

const at = new Date(Math.floor(Date.now() / 1000) * 1000)
const event = (i: number, type: FoundEvent['type']): FoundEvent => ({
  id: `evt_${i}`,
  type,
  subject: `${i}`,
  stables: [],
  occurred_at: at,
  data: JSON.parse(DATA),
})

const stack = await startStack()
const receiver = await startReceiver()
try {
  const { env, clickhouse } = await stack.database('webhooks')
  await subscribe(clickhouse, 'all', Array(SUBSCRIPTIONS).fill(receiver.url('/all')))
  await subscribe(clickhouse, 'one', [receiver.url('/one')], ['system.health_drift'])
  const large = Array.from({ length: EVENTS }, (_, i) => event(i, 'peg_break.started'))
  await announce(clickhouse, [...large, event(EVENTS, 'system.health_drift')], { at, revision: 0 })

  const wanted = SUBSCRIPTIONS * EVENTS + 1
  const sender = await startSender(env)
  const startedAt = Date.now()
  sender.dispatch()
  for (let recorded = 0; recorded < wanted; await sleep(500)) {
    const query = `SELECT toUInt32(count()) AS attempts FROM webhook_attempts WHERE outcome = 'success'`
    recorded = (await rows<{ attempts: number }>(clickhouse, query))[0]?.attempts ?? 0
  }
  const seconds = (Date.now() - startedAt) / 1000
  const { peakMb } = statsOf(sender.pid)
  await sender.stop()
  const { times } = await receiver.arrived()
  const pairs = 'toUInt32(count()) AS stored, toUInt32(uniqExact(subscription_id, event_id)) AS different'
  const [planned] = await rows<{ stored: number; different: number }>(
    clickhouse,
    `SELECT ${pairs} FROM webhook_deliveries`,
  )
  console.log(
    `${EVENTS} events for ${SUBSCRIPTIONS} subscriptions: ${planned?.stored} deliveries stored, ${planned?.different} of them different, ` +
      `planned, sent and recorded at ${Math.round(wanted / seconds)}/s, at most ${peakMb.toFixed(0)} MB resident; ` +
      `the event behind them, for one subscription, arrived after ${(((times['/one']?.[0] ?? Number.NaN) - startedAt) / 1000).toFixed(1)} s of ${seconds.toFixed(1)} s`,
  )
} finally {
  await receiver.stop()
  await stack.close()
}
