import type { WebhookAttempt } from '../../../clickhouse/webhooks/attempts.js'
import { nextAttemptAt } from '../../../clickhouse/webhooks/schedule.js'
import { signatureHeader } from '../../../clickhouse/webhooks/signature.js'
import type { Subscription } from '../../../clickhouse/webhooks/subscriptions.js'
import { rendered } from '../formats/render.js'
import type { Surroundings } from '../formats/writer.js'
import { type Exchange, isSuccess, type Sender } from '../send/sender.js'
import type { Pending } from './fair-queue.js'

/** 410: the receiver is gone for good. */
export const GONE = 410

/** 429: the receiver did not look at the delivery, so that this was not one of its attempts. */
export const TOO_MANY_REQUESTS = 429

/** The request of an attempt made at `at` to `url`, which is that of the subscription, decrypted. */
export function requestOf(
  { delivery_id, content }: Pending,
  subscription: Subscription,
  { url, secrets, at, ...surroundings }: Surroundings & { url: string; secrets: readonly string[]; at: Date },
): Parameters<Sender['send']>[0] {
  if (content === null) throw new Error(`delivery ${delivery_id} has not been read`)
  const { body, contentType } = rendered(delivery_id, content, subscription, surroundings)
  return {
    url,
    body,
    contentType,
    headers: {
      'x-service-signature': signatureHeader({ body, secrets, at }),
      'x-service-event': content.event_type,
      'x-service-delivery': String(delivery_id),
    },
  }
}

/** When a delivery is attempted next. */
type Schedule = {
  /** Before attempts 2, 3, …, as in RETRY_DELAYS_SECONDS. */
  delaysSeconds: readonly number[]
  /** When the subscription is resumed that the answer paused, in unix milliseconds; null if it did not pause it. */
  resumedMs: number | null
}

/** The record of an attempt that was sent: how it ended, and when the next one is due. */
export function sentAttempt(
  { delivery_id, subscription_id, attempt, dueMs }: Pending,
  exchange: Exchange,
  instance: string,
  { delaysSeconds, resumedMs }: Schedule,
): WebhookAttempt {
  const { status, error, response, waitMs, startedAt, durationMs } = exchange
  const next = (): Date | null => {
    if (resumedMs !== null) return new Date(resumedMs)
    if (isSuccess(exchange) || status === GONE) return null
    return nextAttemptAt({ attempt, endedAt: new Date(startedAt.getTime() + durationMs), waitMs }, delaysSeconds)
  }
  return {
    delivery_id,
    attempt,
    subscription_id,
    outcome: resumedMs !== null ? 'refused' : isSuccess(exchange) ? 'success' : 'failure',
    status: status ?? 0,
    error: error ?? '',
    response,
    due_at: new Date(dueMs),
    started_at: startedAt,
    duration_ms: durationMs,
    next_attempt_at: next(),
    instance,
  }
}

/** The record of an attempt that was not made because its subscription is disabled or deleted. */
export const canceledAttempt = (
  { delivery_id, subscription_id, attempt, dueMs }: Pending,
  instance: string,
  at: Date,
): WebhookAttempt => ({
  delivery_id,
  attempt,
  subscription_id,
  outcome: 'canceled',
  status: 0,
  error: '',
  response: '',
  due_at: new Date(dueMs),
  started_at: at,
  duration_ms: 0,
  next_attempt_at: null,
  instance,
})
