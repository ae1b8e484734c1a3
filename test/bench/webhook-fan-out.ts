// Events that all of 10,000 subscriptions want, planned and sent by the dispatcher: its rate and memory, and how long events wait
// meanwhile that only one other subscription wants. EVENTS=2000 node dist/test/bench/webhook-fan-out.js makes 20 M deliveries.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FoundEvent } from '../../clickhouse/events/types.js'
import { announce } from '../../jobs/detect/announce.js'
import { median } from './measure.js'
import { statsOf } from './process-stats.js'
import { rows, startStack } from './stack.js'
import { DATA, startReceiver, startSender, subscribe, subscriptionId } from './webhook-stack.js'

const SUBSCRIPTIONS = Number(process.env.SUBSCRIPTIONS ?? 10_000)
const EVENTS = Number(process.env.EVENTS ?? 30)
/** How often an event is announced that only the other subscription wants. */
const OTHER_MS = 5000

const event = (id: string, type: FoundEvent['type'], at: Date): FoundEvent => ({
  id,
  type,
  subject: id,
  stables: [],
  occurred_at: at,
  data: JSON.parse(DATA),
})

const stack = await startStack()
const receiver = await startReceiver()
try {
  const { env, clickhouse } = await stack.database('webhooks')
  await subscribe(clickhouse, 'all', Array(SUBSCRIPTIONS).fill(receiver.url('/counted')))
  await subscribe(clickhouse, 'one', [receiver.url('/one')], ['system.health_drift'])
  const at = new Date(Math.floor(Date.now() / 1000) * 1000)
  const large = Array.from({ length: EVENTS }, (_, i) => event(`evt_${i}`, 'peg_break.started', at))
  await announce(clickhouse, large, { at, revision: 0 })

  const wanted = SUBSCRIPTIONS * EVENTS
  const sender = await startSender(env)
  const startedAt = Date.now()
  sender.dispatch()
  const announcedAt = new Map<string, number>()
  const announceOther = async (): Promise<void> => {
    const id = `evt_other_${announcedAt.size}`
    announcedAt.set(id, Date.now())
    await announce(clickhouse, [event(id, 'system.health_drift', new Date())], { at: new Date(), revision: 0 })
  }
  const toAll = `subscription_id != '${subscriptionId('one', 0)}'`
  let told = 0
  for (let recorded = 0; recorded < wanted; await sleep(500)) {
    if (Date.now() - startedAt > announcedAt.size * OTHER_MS) await announceOther()
    const query = `SELECT toUInt32(count()) AS attempts FROM webhook_attempts WHERE outcome = 'success' AND ${toAll}`
    recorded = (await rows<{ attempts: number }>(clickhouse, query))[0]?.attempts ?? 0
    if (recorded < told + wanted / 10) continue
    told = recorded
    const { residentMb } = statsOf(sender.pid)
    console.log(
      `${recorded} after ${((Date.now() - startedAt) / 1000).toFixed(0)} s; the dispatcher has ${residentMb.toFixed(0)} MB`,
    )
  }
  const seconds = (Date.now() - startedAt) / 1000
  const { peakMb } = statsOf(sender.pid)
  await sleep(OTHER_MS)
  await sender.stop()
  const waits = (await receiver.arrived()).events.map(([id, at]) => at - (announcedAt.get(id) ?? Number.NaN))
  const pairs = 'toUInt32(count()) AS stored, toUInt32(uniqExact(subscription_id, event_id)) AS different'
  const [planned] = await rows<{ stored: number; different: number }>(
    clickhouse,
    `SELECT ${pairs} FROM webhook_deliveries WHERE ${toAll}`,
  )
  const shown = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
  console.log(
    `${EVENTS} events for ${SUBSCRIPTIONS} subscriptions: ${planned?.stored} deliveries stored, ${planned?.different} of them different, ` +
      `planned, sent and recorded at ${Math.round(wanted / seconds)}/s, at most ${peakMb.toFixed(0)} MB resident; ` +
      `${waits.length} of ${announcedAt.size} events for another subscription arrived meanwhile, after ${shown(median(waits))}, at most ${shown(Math.max(...waits))}`,
  )
} finally {
  await receiver.stop()
  await stack.close()
}
