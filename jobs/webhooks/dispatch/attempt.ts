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

/**
 * The record of an attempt that was sent: how it ended, and when the next one is due. `delaysSeconds` is before attempts
 * 2, 3, …, as in RETRY_DELAYS_SECONDS.
 */
export function sentAttempt(
  { delivery_id, subscription_id, attempt, dueMs }: Pending,
  exchange: Exchange,
  instance: string,
  delaysSeconds: readonly number[],
): WebhookAttempt {
  const { status, error, response, retryAfter, startedAt, durationMs } = exchange
  const isOver = isSuccess(exchange) || status === GONE
  const endedAt = new Date(startedAt.getTime() + durationMs)
  return {
    delivery_id,
    attempt,
    subscription_id,
    outcome: isSuccess(exchange) ? 'success' : 'failure',
    status: status ?? 0,
    error: error ?? '',
    response,
    due_at: new Date(dueMs),
    started_at: startedAt,
    duration_ms: durationMs,
    next_attempt_at: isOver ? null : nextAttemptAt({ attempt, endedAt, retryAfter }, delaysSeconds),
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
