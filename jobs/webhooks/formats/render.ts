import { type WebhookContent, webhookBody } from '../../../clickhouse/webhooks/body.js'
import { digestedEvents } from '../../../clickhouse/webhooks/digests.js'
import type { Subscription } from '../../../clickhouse/webhooks/subscriptions.js'
import { alertmanagerBody, alertmanagerDigest } from './alertmanager.js'
import { cloudEventBody } from './cloud-events.js'
import { discordBody } from './discord.js'
import { slackBody } from './slack.js'
import { telegramBody } from './telegram.js'
import { stablesOf, toldOf, toldOfDigest } from './told.js'
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
function aboutOf({ data }: Pick<WebhookContent, 'data'>): Record<string, unknown> {
  const own = JSON.parse(data) as Record<string, unknown>
  return (own.original ?? own) as Record<string, unknown>
}

/** Every stable that a delivery names, in lower case. */
export function stablesIn(content: WebhookContent): string[] {
  const events = digestedEvents(content)?.map((one) => one.content) ?? [content]
  return [...new Set(events.flatMap((event) => stablesOf(aboutOf(event))))]
}

type Format = Pick<Subscription, 'format' | 'chat_id'>

/**
 * A delivery in the format of its subscription: one event, or a digest of several. It is the same whenever it is made of the
 * same values.
 */
export function rendered(
  delivery_id: number,
  content: WebhookContent,
  { format, chat_id }: Format,
  surroundings: Surroundings,
): Rendered {
  if (format === 'plumbline') return { body: webhookBody(delivery_id, content), contentType: JSON_TYPE }
  const { event_type, published_at: at } = content
  const { base, names } = surroundings
  const digested = digestedEvents(content)
  const alone = (): string[] =>
    (digested ?? []).map((one) => rendered(one.delivery_id, one.content, { format, chat_id }, surroundings).body)
  const contents = digested?.map((one) => one.content)
  const told = contents ? toldOfDigest(contents, at, names) : toldOf(content, names)
  const url = base === null ? null : new URL(told.path.slice(1), base).href
  switch (format) {
    case 'slack':
      return { body: slackBody(told, url), contentType: JSON_TYPE }
    case 'discord':
      return { body: discordBody(told, url, at), contentType: JSON_TYPE }
    case 'telegram':
      return { body: telegramBody(told, url, chat_id), contentType: JSON_TYPE }
    case 'alertmanager': {
      if (digested) return { body: alertmanagerDigest(content.event_id, alone()), contentType: JSON_TYPE }
      const data = JSON.parse(content.data) as Record<string, unknown>
      const stables = stablesIn(content)
      return {
        body: alertmanagerBody(event_type, data, toldOf(content, names), { url, base, stables, at }),
        contentType: JSON_TYPE,
      }
    }
    case 'cloudevents': {
      const stables = digested ? [] : stablesIn(content)
      const data = digested ? `{"events":[${alone().join(',')}]}` : content.data
      return {
        body: cloudEventBody(delivery_id, { ...content, data }, { level: told.level, stables, base }),
        contentType: 'application/cloudevents+json',
      }
    }
  }
}
