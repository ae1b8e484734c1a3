// Rows that the reads of the other ledgers need after a year, and how long they take: runs of jobs, events, webhooks, payments.
// Arguments: events a day, payments a day.
import type { ClickHouseClient } from '@clickhouse/client'
import { announcedAnomalies, announcedPegBreaks, withAnnounced } from '../../clickhouse/events/announced.js'
import {
  eventsAfter,
  knownEvents,
  newestEvents,
  newestSequence,
  newestSequenceBy,
} from '../../clickhouse/events/log.js'
import { unannounced } from '../../clickhouse/events/standing.js'
import { readDoneSlots } from '../../clickhouse/jobs/done-slots.js'
import { newestHealth } from '../../clickhouse/jobs/health.js'
import { newestLease } from '../../clickhouse/jobs/leases.js'
import { SLOT_JOBS } from '../../clickhouse/jobs/periods.js'
import { countSlots } from '../../clickhouse/jobs/progress.js'
import { jobProgress, jobRuns, jobStatuses } from '../../clickhouse/jobs/runs.js'
import { readSearches } from '../../clickhouse/jobs/searches.js'
import { slotHistory } from '../../clickhouse/jobs/slots.js'
import { listedApiKeys } from '../../clickhouse/keys/api-keys.js'
import { paymentSteps } from '../../clickhouse/payments/ledger.js'
import { failingSubscriptions, pendingDeliveries } from '../../clickhouse/webhooks/attempts.js'
import {
  eventsToReplay,
  newDeliveries,
  newestDeliveryId,
  requestedDeliveries,
} from '../../clickhouse/webhooks/deliveries.js'
import {
  attemptsOfDeliveries,
  deliveriesById,
  deliveryPage,
  deliveryPageOfState,
} from '../../clickhouse/webhooks/delivery-log.js'
import { newestFanOut, webhookNews } from '../../clickhouse/webhooks/fan-outs.js'
import {
  attemptTotals,
  dispatchDelays,
  pendingTotal,
  subscriptionCounts,
  subscriptionHealth,
} from '../../clickhouse/webhooks/totals.js'
import { rowsReadBy } from '../support/read-rows.js'
import { eventWith, fillDays, paymentWith, subscriptionId } from '../support/year-rows.js'
import { median, timed } from './measure.js'
import { startStack } from './stack.js'

const YEAR = {
  days: 365,
  events: Number(process.argv[2] ?? 300),
  subscriptions: 10,
  payments: Number(process.argv[3] ?? 3000),
}
const RUNS = 3
const NOW = new Date(Math.floor(Date.now() / 1000) * 1000)
const ago = (ms: number) => new Date(NOW.getTime() - ms)
const HOUR = 3_600_000
const events = YEAR.days * YEAR.events
const deliveries = events * YEAR.subscriptions
const job = 'peg-events'

const stack = await startStack()
try {
  const { clickhouse } = await stack.database('years')
  console.log(`filled in ${((await timed(() => fillDays(clickhouse, YEAR, NOW))) / 1000).toFixed(1)} s`)
  const payment = await paymentWith(clickhouse, YEAR.days * YEAR.payments - 3000)
  const unpaid = await paymentWith(clickhouse, 1e9)
  const recentEvent = await eventWith(clickhouse, events - 3)
  const history = await slotHistory(clickhouse)
  const searches = await readSearches(clickhouse, { job })
  if (!history) throw new Error('no history')
  const busy = subscriptionId(3)
  const dead = subscriptionId(9)
  const quiet = subscriptionId(0)
  const READS: Record<string, (clickhouse: ClickHouseClient) => Promise<unknown>> = {
    newestLease: (c) => newestLease(c, { from: 0 }),
    jobRuns: (c) => jobRuns(c, { now: NOW }),
    jobProgress: (c) => jobProgress(c, { since: ago(600_000) }),
    jobStatuses: (c) => jobStatuses(c, { jobs: SLOT_JOBS.map(({ name }) => name) }),
    'readSearches all': (c) => readSearches(c, { job }),
    'readSearches known_at': (c) => readSearches(c, { job, known_at: ago(100 * 24 * HOUR) }),
    'readSearches after before': (c) => readSearches(c, { job, before: searches }),
    slotHistory: (c) => slotHistory(c),
    readDoneSlots: (c) => readDoneSlots(c, { jobs: SLOT_JOBS, from_time: history.from_time }),
    countSlots: (c) => countSlots(c, SLOT_JOBS, { history, now: NOW }),
    newestHealth: (c) => newestHealth(c),
    newestSequence: (c) => newestSequence(c),
    newestSequenceBy: (c) => newestSequenceBy(c, { known_at: ago(24 * HOUR) }),
    eventsAfter: (c) => eventsAfter(c, { after: events - 5, until: events, limit: 500 }),
    newestEvents: (c) => newestEvents(c, { until: events, limit: 100 }),
    'newestEvents one type': (c) => newestEvents(c, { until: events, limit: 100, types: ['event.retracted'] }),
    knownEvents: (c) => knownEvents(c, { ids: [recentEvent, 'evt_none'] }),
    unannounced: (c) =>
      unannounced(c, [{ found: [], after: ago(120_000), at: NOW }], ['peg_break.started', 'peg_break.ended']),
    announcedAnomalies: (c) => announcedAnomalies(c, { as_of: NOW, known_at: ago(HOUR), limit: 50 }),
    announcedPegBreaks: (c) =>
      announcedPegBreaks(c, {
        track: 'published',

        stable: '0xaa3',
        as_of: NOW,
        known_at: ago(HOUR),
        limit: 50,
      }),
    announcedAt: (c) => withAnnounced(c, ['0xaa3:mild:1:7', '0xaa4:mild:1:7'], (s) => s, { known_at: null }),
    newestFanOut: (c) => newestFanOut(c),
    webhookNews: (c) => webhookNews(c, { event: events, delivery: deliveries }),
    failingSubscriptions: (c) => failingSubscriptions(c),
    pendingDeliveries: (c) => pendingDeliveries(c, { from: deliveries - 10, until: deliveries, limit: 50_000 }),
    newDeliveries: (c) => newDeliveries(c, { after: deliveries - 10, limit: 1000 }),
    newestDeliveryId: (c) => newestDeliveryId(c),
    requestedDeliveries: (c) => requestedDeliveries(c, { subscription_id: busy, request_key: 'abc' }),
    'eventsToReplay day': (c) =>
      eventsToReplay(c, {
        since: ago(24 * HOUR),
        before: NOW,
        types: ['peg_break.started'],
        stables: [],
        cause: 'x',
        limit: 10_001,
      }),
    'eventsToReplay undelivered': (c) =>
      eventsToReplay(c, {
        since: ago(24 * HOUR),
        before: NOW,
        types: ['peg_break.started'],
        stables: [],
        undelivered_to: dead,
        cause: 'x',
        limit: 10_001,
      }),
    deliveriesById: (c) => deliveriesById(c, { subscription_id: busy, ids: [deliveries - 6] }),
    attemptsOfDeliveries: (c) => attemptsOfDeliveries(c, { ids: [deliveries - 6] }),
    deliveryPage: (c) => deliveryPage(c, { subscription_id: busy, limit: 50 }),
    'deliveryPage quiet': (c) => deliveryPage(c, { subscription_id: quiet, limit: 50 }),
    'deliveryPageOfState failed': (c) => deliveryPageOfState(c, { subscription_id: dead, state: 'failed', limit: 50 }),
    'deliveryPageOfState failed, none': (c) =>
      deliveryPageOfState(c, { subscription_id: busy, state: 'failed', limit: 50 }),
    'deliveryPageOfState pending': (c) =>
      deliveryPageOfState(c, { subscription_id: busy, state: 'pending', limit: 50 }),
    subscriptionHealth: (c) =>
      subscriptionHealth(c, { subscription_id: busy, changed_at: ago(300 * 24 * HOUR), now: NOW }),
    'subscriptionHealth failing': (c) =>
      subscriptionHealth(c, { subscription_id: dead, changed_at: ago(300 * 24 * HOUR), now: NOW }),
    subscriptionCounts: (c) => subscriptionCounts(c),
    attemptTotals: (c) => attemptTotals(c),
    pendingTotal: (c) => pendingTotal(c),
    dispatchDelays: (c) => dispatchDelays(c, { now: NOW }),
    'paymentSteps used': (c) => paymentSteps(c, payment),
    'paymentSteps new': (c) => paymentSteps(c, unpaid),
    listedApiKeys: (c) => listedApiKeys(c, { limit: 50 }),
  }
  for (const [name, read] of Object.entries(READS)) {
    const rows = await rowsReadBy(clickhouse, read)
    const times: number[] = []
    for (let run = 0; run < RUNS; run++) times.push(await timed(() => read(clickhouse)))
    console.log(`${name.padEnd(34)} ${String(rows).padStart(9)} rows ${median(times).toFixed(0).padStart(5)} ms`)
  }
  const result = await clickhouse.query({
    query: `SELECT table, sum(rows) AS rows, formatReadableSize(sum(bytes_on_disk)) AS size, count() AS parts FROM system.parts WHERE database = currentDatabase() AND active GROUP BY table HAVING rows > 100 ORDER BY sum(bytes_on_disk) DESC`,
    format: 'JSONEachRow',
  })
  for (const row of await result.json()) console.log(JSON.stringify(row))
} finally {
  await stack.close()
}
