import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

/** Since when attempts of a subscription have failed only, and how many, counted from its last success or change. */
export const failingSubscriptions = defineQuery({
  name: 'failing_subscriptions',
  params: z.object({}),
  row: z.object({ subscription_id: z.string(), since: dateTime, failures: z.int() }),
  sql: `
    SELECT subscription_id, min(started_at) AS since, toUInt32(count()) AS failures
    FROM webhook_attempts
    LEFT JOIN (
      SELECT subscription_id, max(started_at) AS succeeded_at
      FROM webhook_attempts WHERE outcome = 'success' GROUP BY subscription_id
    ) AS successes USING (subscription_id)
    INNER JOIN (
      SELECT id AS subscription_id, max(changed_at) AS changed_at FROM webhook_subscriptions GROUP BY id
    ) AS subscriptions USING (subscription_id)
    WHERE outcome = 'failure' AND started_at > greatest(succeeded_at, changed_at)
    GROUP BY subscription_id`,
})
