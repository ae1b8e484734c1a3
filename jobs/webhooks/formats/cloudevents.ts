import { LEVELS, type Level, levelOf } from '../../../clickhouse/events/levels.js'
import type { WebhookContent } from '../../../clickhouse/webhooks/body.js'
import { stablesIn } from '../messages/stables.js'
import type { Delivery, Writer } from './writer.js'

/** Where events come from if the service does not know its own address. */
const NO_SOURCE = 'urn:plumbline'

/**
 * A CloudEvent 1.0 in structured mode. Its id is that of the event, so that a replay is a duplicate as CloudEvents defines
 * it; its data are those of the event, byte for byte. `severity` and `deliveryid` are extensions.
 */
function cloudEvent(
  { delivery_id, content: { event_type, event_id, published_at }, base }: Delivery,
  { level, stables, data }: { level: Level; stables: readonly string[]; data: string },
): string {
  const attributes = {
    specversion: '1.0',
    id: event_id,
    source: base ?? NO_SOURCE,
    type: `plumbline.${event_type}`,
    ...(stables.length > 0 && { subject: stables.join(',') }),
    time: published_at.toISOString(),
    datacontenttype: 'application/json',
    severity: level,
    deliveryid: String(delivery_id),
  }
  return `${JSON.stringify(attributes).slice(0, -1)},"data":${data}}`
}

const levelIn = ({ event_type, data }: WebhookContent): Level =>
  levelOf({ type: event_type, data: JSON.parse(data) as Record<string, unknown> })

const event = (delivery: Delivery): string => {
  const { content } = delivery
  return cloudEvent(delivery, { level: levelIn(content), stables: stablesIn(content), data: content.data })
}

/** One event, of the highest severity of those in it, whose data have them as they would be alone. */
function digest(delivery: Delivery, events: readonly Delivery[]): string {
  const levels = events.map(({ content }) => levelIn(content))
  const level = LEVELS.findLast((level) => levels.includes(level)) ?? 'info'
  return cloudEvent(delivery, { level, stables: [], data: `{"events":[${events.map(event).join(',')}]}` })
}

export const cloudevents: Writer = { contentType: 'application/cloudevents+json', usesNames: false, event, digest }
