import type { WebhookContent } from '../../../clickhouse/webhooks/body.js'
import { digestedEvents } from '../../../clickhouse/webhooks/digests.js'
import type { WebhookFormat } from '../../../clickhouse/webhooks/formats.js'
import type { Subscription } from '../../../clickhouse/webhooks/subscriptions.js'
import { alertmanager } from './alertmanager.js'
import { cloudevents } from './cloudevents.js'
import { discord } from './discord.js'
import { plumbline } from './plumbline.js'
import { slack } from './slack.js'
import { telegram } from './telegram.js'
import type { Surroundings, Writer } from './writer.js'

const WRITERS: Record<WebhookFormat, Writer> = { plumbline, slack, discord, telegram, alertmanager, cloudevents }

/** Whether deliveries in a format contain the names of stables. */
export const usesNames = (format: WebhookFormat): boolean => WRITERS[format].usesNames

export type Rendered = { body: string; contentType: string }

/**
 * A delivery in the format of its subscription: one event, or a digest of several. It is the same whenever it is made of the
 * same values.
 */
export function rendered(
  delivery_id: number,
  content: WebhookContent,
  { format, chat_id }: Pick<Subscription, 'format' | 'chat_id'>,
  surroundings: Surroundings,
): Rendered {
  const { contentType, event, digest } = WRITERS[format]
  const delivery = { ...surroundings, delivery_id, content, chat_id }
  const events = digestedEvents(content)
  if (events === null) return { body: event(delivery), contentType }
  return {
    body: digest(
      delivery,
      events.map((digested) => ({ ...delivery, ...digested })),
    ),
    contentType,
  }
}
