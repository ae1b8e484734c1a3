// Webhooks a second to receivers in a process of their own: the dispatcher, which records each attempt, against a loop of
// plain signed requests with the same concurrency. Then with one endpoint of ten that never answers and one that takes 9 s.
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from './measure.js'
import { statsOf } from './process-stats.js'
import { rows, startStack } from './stack.js'
import {
  addDeliveries,
  clearDeliveries,
  DATA,
  SECRET,
  startReceiver,
  startSender,
  subscribe,
  subscriptionId,
} from './webhook-stack.js'

const COUNT = Number(process.env.WEBHOOK_DELIVERIES ?? 20_000)
const ROUNDS = Number(process.env.ROUNDS ?? 3)
const ENDPOINTS = 10
const CONCURRENCY = 32 * ENDPOINTS

const WELL = Array.from({ length: ENDPOINTS }, (_, i) => `/${i}`)
const AILING = WELL.map((path, i) => (i === 0 ? '/dead' : i === 1 ? '/slow' : path))

type Run = { perSecond: number; cpuMs: number }

/** Arrivals a second from the first to the last. */
const rateOf = (times: number[]): number => ((times.length - 1) / (Math.max(...times) - Math.min(...times))) * 1000

const stack = await startStack()
const receiver = await startReceiver()
try {
  const { env, clickhouse } = await stack.database('webhooks')
  const plain = async (): Promise<Run> => {
    const sender = await startSender(env)
    const before = statsOf(sender.pid).cpuSeconds
    const urls = WELL.map(receiver.url)
    await sender.sendPlain({ urls, secret: SECRET, data: DATA, count: COUNT, concurrency: CONCURRENCY })
    const cpuMs = ((statsOf(sender.pid).cpuSeconds - before) * 1000) / COUNT
    await sender.stop()
    return { perSecond: rateOf(Object.values((await receiver.arrived()).times).flat()), cpuMs }
  }
  const dispatched = async (list: string, paths: readonly string[]): Promise<Run> => {
    await clearDeliveries(clickhouse)
    await subscribe(clickhouse, list, paths.map(receiver.url))
    await addDeliveries(clickhouse, COUNT, list, ENDPOINTS)
    const sender = await startSender(env)
    const before = statsOf(sender.pid).cpuSeconds
    sender.dispatch()
    const healthy = paths.filter((path) => path !== '/dead' && path !== '/slow')
    const ids = healthy.map((path) => `'${subscriptionId(list, paths.indexOf(path))}'`)
    const wanted = (COUNT / ENDPOINTS) * healthy.length
    for (let recorded = 0; recorded < wanted; await sleep(100)) {
      const query = `SELECT toUInt32(count()) AS attempts FROM webhook_attempts WHERE outcome = 'success' AND subscription_id IN (${ids})`
      recorded = (await rows<{ attempts: number }>(clickhouse, query))[0]?.attempts ?? 0
    }
    const cpuMs = ((statsOf(sender.pid).cpuSeconds - before) * 1000) / wanted
    sender.child.kill('SIGKILL')
    const { times } = await receiver.arrived()
    return { perSecond: rateOf(healthy.flatMap((path) => times[path] ?? [])), cpuMs }
  }
  await plain()
  const rounds: { plain: Run; own: Run; ailing: Run }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      plain: await plain(),
      own: await dispatched(`well${round}`, WELL),
      ailing: await dispatched(`ailing${round}`, AILING),
    })
    const { plain: loop, own, ailing } = rounds.at(-1) as (typeof rounds)[0]
    const told = ({ perSecond, cpuMs }: Run) => `${Math.round(perSecond)}/s (${cpuMs.toFixed(2)} ms of CPU each)`
    console.log(`plain loop ${told(loop)}, dispatcher ${told(own)}, eight of ten well ${told(ailing)}`)
  }
  const ratio = (of: (round: (typeof rounds)[0]) => number): string => median(rounds.map(of)).toFixed(2)
  console.log(
    `${COUNT} deliveries to ${ENDPOINTS} endpoints, ${CONCURRENCY} at once, every attempt recorded: ` +
      `${ratio(({ plain, own }) => own.perSecond / plain.perSecond)}x the plain loop's rate, ` +
      `${ratio(({ plain, own }) => plain.cpuMs / own.cpuMs)}x by CPU time`,
  )
  const share = 8 / ENDPOINTS
  console.log(
    `one endpoint dead, one slow: the other eight keep ${ratio(({ own, ailing }) => ailing.perSecond / (own.perSecond * share))}x of their rate`,
  )
} finally {
  await receiver.stop()
  await stack.close()
}
