import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { announcedAnomalies, withAnnounced } from '../../../clickhouse/events/announced.js'
import { knownEvents, newestSequence, newestSequenceBy } from '../../../clickhouse/events/log.js'
import { feeDistributionSums, feeElectionCounts } from '../../../clickhouse/fees/fees.js'
import { readDoneSlots } from '../../../clickhouse/jobs/done-slots.js'
import { newestHealth } from '../../../clickhouse/jobs/health.js'
import { newestLease } from '../../../clickhouse/jobs/leases.js'
import { PERIOD_SECONDS } from '../../../clickhouse/jobs/periods.js'
import { jobProgress, jobRuns, jobStatuses } from '../../../clickhouse/jobs/runs.js'
import { readSearches } from '../../../clickhouse/jobs/searches.js'
import { dueSlots, slotHistory } from '../../../clickhouse/jobs/slots.js'
import { riskInputs } from '../../../clickhouse/risk/inputs.js'
import { suppliesAt } from '../../../clickhouse/stablecoins/newest-states.js'
import { failingSubscriptions } from '../../../clickhouse/webhooks/attempts.js'
import { addDeliveries, eventsToReplay, requestedDeliveries } from '../../../clickhouse/webhooks/deliveries.js'
import { deliveryPage, deliveryPageOfState } from '../../../clickhouse/webhooks/delivery-log.js'
import { newestFanOut, webhookNews } from '../../../clickhouse/webhooks/fan-outs.js'
import { attemptTotals, dispatchDelays, pendingTotal, subscriptionHealth } from '../../../clickhouse/webhooks/totals.js'
import { rowsReadBy } from '../../support/read-rows.js'
import { test } from '../../support/services.js'
import { madeUpDelivery } from '../../support/webhooks.js'
import { eventWith, fillDays, subscriptionId } from '../../support/year-rows.js'

const DAY_MS = 86_400_000
const DAYS = { days: 180, events: 100, subscriptions: 8, payments: 1 }
const EVENTS = DAYS.days * DAYS.events
const DELIVERIES = EVENTS * DAYS.subscriptions

test('what is read of jobs, events and webhooks does not grow with their history', async ({ clickhouse }) => {
  const now = new Date(Math.floor(Date.now() / 1000) * 1000)
  const ago = (ms: number) => new Date(now.getTime() - ms)
  await fillDays(clickhouse, DAYS, now)
  const read = (work: (counted: ClickHouseClient) => Promise<unknown>) => rowsReadBy(clickhouse, work)

  // 204,000 runs, of which 130,000 are of this job: a granule of each of three parts is 24,576 rows.
  const job = 'peg-events'
  const history = await slotHistory(clickhouse)
  const { from_time = 0, to_time = 0 } = history ?? {}
  const asked = { job, period_seconds: PERIOD_SECONDS[job], from_time, to_time, limit: 100 }
  const searches = await readSearches(clickhouse, { job })
  expect(searches.stretches).toHaveLength(1)
  const due = async (counted: ClickHouseClient) =>
    dueSlots(
      await readDoneSlots(counted, { jobs: [{ name: job, period_seconds: asked.period_seconds }], from_time }),
      asked,
    )
  expect(await due(clickhouse)).toEqual([])
  const ofJobs = {
    jobRuns: await read((counted) => jobRuns(counted, { now })),
    jobProgress: await read((counted) => jobProgress(counted, { since: ago(600_000) })),
    jobStatuses: await read((counted) => jobStatuses(counted, { jobs: [job, 'risk'] })),
    readSearches: await read((counted) => readSearches(counted, { job })),
    knownSearches: await read((counted) => readSearches(counted, { job, known_at: ago(30 * DAY_MS) })),
    newSearches: await read((counted) => readSearches(counted, { job, before: searches })),
    dueSlots: await read(due),
    newestLease: await read((counted) => newestLease(counted, { from: 0 })),
  }
  for (const [name, rows] of Object.entries(ofJobs)) expect(rows, name).toBeLessThan(45_000)

  // 18,000 events, 144,000 deliveries and more attempts: a granule of each of three parts is 3,072 rows.
  const id = await eventWith(clickhouse, EVENTS - 2)
  const busy = { subscription_id: subscriptionId(3), limit: 50 }
  const dead = { subscription_id: subscriptionId(DAYS.subscriptions - 1), limit: 50 }
  const replay = {
    since: ago(DAY_MS),
    before: now,
    types: ['peg_break.started'],
    stables: [],
    cause: 'x',
    limit: 10_001,
  }
  expect(await failingSubscriptions(clickhouse)).toMatchObject([{ subscription_id: dead.subscription_id }])
  expect(await deliveryPageOfState(clickhouse, { ...dead, state: 'failed' })).toHaveLength(50)
  const ofWebhooks = {
    newestSequence: await read((counted) => newestSequence(counted)),
    newestSequenceBy: await read((counted) => newestSequenceBy(counted, { known_at: ago(DAY_MS) })),
    newestHealth: await read((counted) => newestHealth(counted)),
    knownEvents: await read((counted) => knownEvents(counted, { ids: [id] })),
    announcedAt: await read((counted) => withAnnounced(counted, ['0xaa3:mild:1:7'], (one) => one, { known_at: null })),
    announcedAnomalies: await read((counted) => announcedAnomalies(counted, { as_of: now, known_at: now, limit: 20 })),
    newestFanOut: await read((counted) => newestFanOut(counted)),
    webhookNews: await read((counted) => webhookNews(counted, { event: EVENTS - 5, delivery: DELIVERIES - 5 })),
    attemptTotals: await read((counted) => attemptTotals(counted)),
    pendingTotal: await read((counted) => pendingTotal(counted)),
    dispatchDelays: await read((counted) => dispatchDelays(counted, { now })),
    failingSubscriptions: await read((counted) => failingSubscriptions(counted)),
    subscriptionHealth: await read((counted) =>
      subscriptionHealth(counted, { ...dead, changed_at: ago(DAY_MS * 170), now }),
    ),
    requestedDeliveries: await read((counted) => requestedDeliveries(counted, { ...busy, request_key: 'a' })),
    eventsToReplay: await read((counted) =>
      eventsToReplay(counted, { ...replay, undelivered_to: dead.subscription_id }),
    ),
    deliveryPage: await read((counted) => deliveryPage(counted, busy)),
    quietPage: await read((counted) => deliveryPage(counted, { ...busy, subscription_id: subscriptionId(0) })),
    failedPage: await read((counted) => deliveryPageOfState(counted, { ...dead, state: 'failed' })),
    emptyPage: await read((counted) => deliveryPageOfState(counted, { ...busy, state: 'failed' })),
    addDeliveries: await read((counted) =>
      addDeliveries(counted, [
        { ...madeUpDelivery(1, dead.subscription_id), event_id: id, event_sequence: EVENTS - 2 },
      ]),
    ),
  }
  for (const [name, rows] of Object.entries(ofWebhooks)) expect(rows, name).toBeLessThan(14_000)
})

test('what is read of fees, and for a slot of scores and reserves, is the same after eight years as after one', async ({
  clickhouse,
}) => {
  const at = new Date('2026-06-20T12:00:00Z')
  const stable = `concat('0x20c1', leftPad(toString(number % 10), 36, '0'))`
  const ago = (seconds: string): string => `toDateTime(${at.getTime() / 1000} - ${seconds}, 'UTC')`
  /** Rows `first` and on, counted back from the instant: choices, payments and breaks every ten minutes, a state every minute. */
  const fill = async (first: number, count: number): Promise<void> => {
    for (const query of [
      `fee_elections (kind, account, stable, block_number, block_time) SELECT 'user', toString(number % 40), ${stable}, 1000000 - number, ${ago('number * 600')}`,
      `fee_distributions (stable, amount_raw, block_time) SELECT ${stable}, number, ${ago('number * 600')}`,
      `peg_breaks (track, stable, severity, started_at, started_block, confirmed_at, ended_at, slot_at) SELECT 'published', ${stable}, 'mild', ${ago('number * 600')} AS start, number, start + 60, start + 120, start + 120`,
      `state_reads (stable, supply_raw, policy_type, block_number, block_time) SELECT ${stable}, number, 'allow_all', 1000000 - number, ${ago('number * 60')}`,
    ])
      await clickhouse.command({ query: `INSERT INTO ${query} FROM numbers(${first}, ${count})` })
  }
  const reads = async () => ({
    feeElectionCounts: await rowsReadBy(clickhouse, (counted) => feeElectionCounts(counted, { at })),
    feeDistributionSums: await rowsReadBy(clickhouse, (counted) => feeDistributionSums(counted, { at })),
    suppliesAt: await rowsReadBy(clickhouse, (counted) => suppliesAt(counted, { at })),
    riskInputs: await rowsReadBy(clickhouse, (counted) => riskInputs(counted, { at })),
  })
  await clickhouse.command({
    query: `INSERT INTO stablecoins (stable, symbol, currency, block_number) SELECT ${stable}, 'S', 'USD', 0 FROM numbers(10)`,
  })
  await clickhouse.command({ query: `INSERT INTO blocks (block_number, block_time) SELECT 1000000, ${ago('0')}` })
  await fill(0, 52_560)
  const before = await reads()
  await fill(52_560, 367_920)
  // Of older years there are a few rows for each account and stable: less than a granule.
  for (const [name, rows] of Object.entries(await reads()))
    expect(rows, name).toBeLessThan(before[name as keyof typeof before] + 8192)
})
