import { type WebhookContent, webhookBody } from '../../../clickhouse/webhooks/body.js'
import type { Subscription } from '../../../clickhouse/webhooks/subscriptions.js'
import { alertmanagerBody } from './alertmanager.js'
import { cloudEventBody } from './cloud-events.js'
import { discordBody } from './discord.js'
import { slackBody } from './slack.js'
import { telegramBody } from './telegram.js'
import { stablesOf, toldOf } from './told.js'
import type { Names } from './words.js'

/** What a message needs besides the event. */
export type Surroundings = {
  /** The URL at which people reach the service, which ends with a slash; null if it is not configured. */
  base: string | null
  names: Names
}

export type Rendered = { body: string; contentType: string }

const JSON_TYPE = 'application/json'

/** The data of an event, or of the event that it takes back. */
export function aboutOf({ data }: Pick<WebhookContent, 'data'>): Record<string, unknown> {
  const own = JSON.parse(data) as Record<string, unknown>
  return (own.original ?? own) as Record<string, unknown>
}

/** A delivery in the format of its subscription. It is the same whenever it is made of the same values. */
export function rendered(
  delivery_id: number,
  content: WebhookContent,
  { format, chat_id }: Pick<Subscription, 'format' | 'chat_id'>,
  { base, names }: Surroundings,
): Rendered {
  if (format === 'plumbline') return { body: webhookBody(delivery_id, content), contentType: JSON_TYPE }
  const told = toldOf(content, names)
  const { event_type, published_at: at } = content
  const url = base === null ? null : new URL(told.path.slice(1), base).href
  const stables = stablesOf(aboutOf(content))
  switch (format) {
    case 'slack':
      return { body: slackBody(told, url), contentType: JSON_TYPE }
    case 'discord':
      return { body: discordBody(told, url, at), contentType: JSON_TYPE }
    case 'telegram':
      return { body: telegramBody(told, url, chat_id), contentType: JSON_TYPE }
    case 'alertmanager': {
      const data = JSON.parse(content.data) as Record<string, unknown>
      return { body: alertmanagerBody(event_type, data, told, { url, base, stables, at }), contentType: JSON_TYPE }
    }
    case 'cloudevents':
      return {
        body: cloudEventBody(delivery_id, content, { level: told.level, stables, base }),
        contentType: 'application/cloudevents+json',
      }
  }
}
