import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'
import { SETTLED_BEFORE } from './delivery-states.js'

/**
 * How a subscription, changed last at `changed_at`, does by `now`: when an attempt was successful last, since when they
 * fail (the first failure after that and after the change), its attempts of the day before, how many of those were
 * successful, and deliveries that are still to be tried. One row.
 */
export const subscriptionHealth = defineQuery({
  name: 'webhook_subscription_health',
  params: z.object({ subscription_id: z.string(), changed_at: z.date(), now: z.date() }),
  row: z.object({
    last_success_at: dateTime.nullable(),
    failing_since: dateTime.nullable(),
    attempts_24h: z.int(),
    successes_24h: z.int(),
    pending: z.int(),
  }),
  sql: `
    WITH
        outcome != 'canceled' AND started_at > {now: DateTime64(3)} - INTERVAL 1 DAY AS is_new,
        (
            SELECT maxOrNull(started_at) FROM webhook_attempts
            WHERE subscription_id = {subscription_id: String} AND outcome = 'success'
        ) AS last_success,
        ${SETTLED_BEFORE} AS settled,
        (
            SELECT count() FROM webhook_deliveries
            WHERE subscription_id = {subscription_id: String} AND delivery_id >= settled
        ) AS deliveries
    SELECT last_success AS last_success_at,
           minIfOrNull(started_at, outcome = 'failure' AND started_at > {changed_at: DateTime64(3)} AND (last_success IS NULL OR started_at > last_success)) AS failing_since,
           toUInt32(countIf(is_new)) AS attempts_24h,
           toUInt32(countIf(is_new AND outcome = 'success')) AS successes_24h,
           toUInt32(deliveries - uniqExactIf(delivery_id, next_attempt_at IS NULL AND delivery_id >= settled)) AS pending
    FROM webhook_attempts WHERE subscription_id = {subscription_id: String}`,
})
