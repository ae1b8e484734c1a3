import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { EVENT_TYPES } from '../events/types.js'
import { defineQuery, onlyColumn, type QuerySignal } from '../store/define-query.js'
import { dateTime, safeInteger } from '../store/values.js'
import { COUNTED_OUTCOMES, NEXT_ATTEMPT_AT } from './attempts.js'

/** Why there is a delivery. A held one is not sent: the event is in a digest, which is a delivery of its own. */
export const DELIVERY_KINDS = ['event', 'test', 'replay', 'held', 'digest'] as const
export type DeliveryKind = (typeof DELIVERY_KINDS)[number]

/** What stands for the type of an event in a delivery of several. */
export const DIGEST = 'digest'

/** The states of a delivery: pending, one of three ways in which it ended, or held. */
export const DELIVERY_STATES = ['pending', 'successful', 'failed', 'canceled', 'held'] as const

/**
 * The SQL expression of a delivery's state, aggregated over its attempts. A success counts, whatever another process
 * recorded for the same attempt. A delivery without attempts is pending, but has no rows for this to see.
 */
export const STATE_OF_ATTEMPTS = `
  multiIf(countIf(outcome = 'success') > 0, 'successful',
          countIf(next_attempt_at IS NULL AND outcome = 'failure') > 0, 'failed',
          countIf(next_attempt_at IS NULL) > 0, 'canceled',
          'pending')`

/**
 * The SQL of a delivery number below which no delivery is pending, so that searches for pending ones can start there.
 */
export const SETTLED_BEFORE = '(SELECT max(settled_before) FROM webhook_fan_outs)'

const Delivery = z.object({
  delivery_id: safeInteger,
  kind: z.enum(DELIVERY_KINDS),
  event_id: z.string(),
  event_sequence: safeInteger,
  event_type: z.enum([...EVENT_TYPES, DIGEST]),
  data: z.string().transform((text) => JSON.parse(text) as Record<string, unknown>),
  published_at: dateTime,
  recorded_at: dateTime,
  state: z.enum(DELIVERY_STATES),
  next_attempt_at: dateTime.nullable(),
  refusals: z.int(),
})
export type Delivery = z.infer<typeof Delivery>

/**
 * A subscription's deliveries with these numbers, newest first. `next_attempt_at` is null unless the delivery is
 * pending; `refusals` counts the requests that were answered with 429, which are not attempts.
 */
export const deliveriesById = defineQuery({
  name: 'webhook_deliveries_by_id',
  params: z.object({ subscription_id: z.string(), ids: z.array(z.int()) }),
  row: Delivery,
  sql: `
    SELECT delivery_id, kind, event_id, event_sequence, event_type, data, published_at, recorded_at,
           multiIf(kind = 'held', 'held', tried.state = '', 'pending', tried.state) AS state,
           if(state = 'pending', coalesce(tried.due_at, recorded_at), NULL) AS next_attempt_at,
           toUInt32(tried.refusals) AS refusals
    FROM webhook_deliveries
    LEFT JOIN
    (
        SELECT delivery_id, ${STATE_OF_ATTEMPTS} AS state, ${NEXT_ATTEMPT_AT} AS due_at, countIf(outcome = 'refused') AS refusals
        FROM webhook_attempts WHERE delivery_id IN {ids: Array(UInt64)}
        GROUP BY delivery_id
    ) AS tried USING (delivery_id)
    WHERE delivery_id IN {ids: Array(UInt64)} AND subscription_id = {subscription_id: String}
    ORDER BY delivery_id DESC`,
})

const Attempt = z.object({
  delivery_id: safeInteger,
  attempt: z.int(),
  outcome: z.enum(COUNTED_OUTCOMES),
  status: z.int(),
  error: z.string(),
  response: z.string(),
  started_at: dateTime,
  duration_ms: z.int(),
  next_attempt_at: dateTime.nullable(),
})
export type Attempt = z.infer<typeof Attempt>

/** The attempts of these deliveries, by delivery and in the order in which they were made. */
export const attemptsOfDeliveries = defineQuery({
  name: 'webhook_attempts_of_deliveries',
  params: z.object({ ids: z.array(z.int()) }),
  row: Attempt,
  sql: `
    SELECT delivery_id, attempt, outcome, status, error, response, started_at, duration_ms, next_attempt_at
    FROM webhook_attempts WHERE delivery_id IN {ids: Array(UInt64)} AND outcome != 'refused'
    ORDER BY delivery_id, attempt, started_at`,
})

/** The numbers of a subscription's deliveries below `before`, the newest first, at most `limit`. */
export const deliveryPage = defineQuery({
  name: 'webhook_delivery_page',
  params: z.object({
    subscription_id: z.string(),
    before: z.int().default(Number.MAX_SAFE_INTEGER),
    limit: z.int(),
  }),
  row: onlyColumn('delivery_id', safeInteger),
  sql: `
    SELECT delivery_id FROM webhook_deliveries
    WHERE subscription_id = {subscription_id: String} AND delivery_id < {before: UInt64}
    ORDER BY delivery_id DESC LIMIT {limit: UInt32}`,
})

/** As many deliveries are in a group (clickhouse/schema/0012_webhooks.sql). */
const GROUP = 10_000

/**
 * The groups of ten thousand numbers below `before`, the newest first, that have deliveries of a subscription which
 * ended with an outcome. The engine keeps this beside the rows.
 */
const groupsWithEnds = defineQuery({
  name: 'webhook_groups_with_ends',
  params: z.object({
    subscription_id: z.string(),
    outcome: z.enum(['success', 'failure', 'canceled']),
    before: z.int(),
  }),
  row: onlyColumn('group_number', z.int()),
  sql: `
    SELECT toUInt32(intDiv(delivery_id, ${GROUP})) AS group_number FROM webhook_attempts
    WHERE subscription_id = {subscription_id: String} AND outcome = {outcome: String} AND coalesce(toUnixTimestamp(next_attempt_at), 0) = 0
      AND intDiv(delivery_id, ${GROUP}) <= intDiv({before: UInt64}, ${GROUP})
    GROUP BY intDiv(delivery_id, ${GROUP}) ORDER BY group_number DESC`,
})

/** The numbers of a subscription's held deliveries below `before`, the newest first, at most `limit`. */
const heldPage = defineQuery({
  name: 'webhook_held_page',
  params: z.object({ subscription_id: z.string(), before: z.int(), limit: z.int() }),
  row: onlyColumn('delivery_id', safeInteger),
  sql: `
    SELECT delivery_id FROM webhook_deliveries
    WHERE subscription_id = {subscription_id: String} AND delivery_id < {before: UInt64} AND kind = 'held'
    ORDER BY delivery_id DESC LIMIT {limit: UInt32}`,
})

const pageOfState = (condition: string, kinds = '1'): string => `
    SELECT delivery_id FROM webhook_deliveries
    LEFT JOIN
    (
        SELECT delivery_id, ${STATE_OF_ATTEMPTS} AS state
        FROM webhook_attempts
        WHERE subscription_id = {subscription_id: String} AND ${condition} AND delivery_id < {before: UInt64}
        GROUP BY delivery_id
    ) AS tried USING (delivery_id)
    WHERE subscription_id = {subscription_id: String} AND ${condition} AND ${kinds} AND delivery_id < {before: UInt64}
      AND if(tried.state = '', 'pending', tried.state) = {state: String}
    ORDER BY delivery_id DESC LIMIT {limit: UInt32}`

const PageOfState = z.object({
  subscription_id: z.string(),
  state: z.enum(DELIVERY_STATES),
  before: z.int(),
  limit: z.int(),
})

/** The numbers of a subscription's pending deliveries below `before`, the newest first, at most `limit`. */
const pendingPage = defineQuery({
  name: 'webhook_pending_page',
  params: PageOfState,
  row: onlyColumn('delivery_id', safeInteger),
  sql: pageOfState(`delivery_id >= ${SETTLED_BEFORE}`, "kind != 'held'"),
})

/** The numbers of a subscription's deliveries in one state, in some groups and below `before`, the newest first, at most `limit`. */
const pageOfGroups = defineQuery({
  name: 'webhook_delivery_page_of_state',
  params: PageOfState.extend({ groups: z.array(z.int()) }),
  row: onlyColumn('delivery_id', safeInteger),
  sql: pageOfState(`intDiv(delivery_id, ${GROUP}) IN {groups: Array(UInt64)}`),
})

const OUTCOMES = { successful: 'success', failed: 'failure', canceled: 'canceled' } as const

/**
 * The numbers of a subscription's deliveries in one state below `before`, the newest first, at most `limit`. Reads only
 * groups of ten thousand deliveries that have one which ended so: first one group, then twice as many each time. Rejects
 * with QueryError.
 */
export async function deliveryPageOfState(
  clickhouse: ClickHouseClient,
  {
    state,
    before = Number.MAX_SAFE_INTEGER,
    limit,
    subscription_id,
  }: { subscription_id: string; state: Delivery['state']; before?: number | undefined; limit: number },
  options?: { signal?: QuerySignal },
): Promise<number[]> {
  const page = { subscription_id, before }
  if (state === 'pending') return pendingPage(clickhouse, { ...page, state, limit }, options)
  if (state === 'held') return heldPage(clickhouse, { ...page, limit }, options)
  const all = await groupsWithEnds(clickhouse, { ...page, outcome: OUTCOMES[state] }, options)
  const ids: number[] = []
  for (let next = 0, size = 1; next < all.length && ids.length < limit; next += size, size *= 2) {
    const groups = all.slice(next, next + size)
    ids.push(...(await pageOfGroups(clickhouse, { ...page, state, groups, limit: limit - ids.length }, options)))
  }
  return ids
}
