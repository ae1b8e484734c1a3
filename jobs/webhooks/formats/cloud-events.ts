import type { Level } from '../../../clickhouse/events/levels.js'
import type { WebhookContent } from '../../../clickhouse/webhooks/body.js'

/** Where events come from if the service does not know its own address. */
const NO_SOURCE = 'urn:plumbline'

/**
 * A CloudEvent 1.0 in structured mode. Its id is that of the event, so that a replay is a duplicate as CloudEvents defines
 * it; its data are those of the event, byte for byte. `severity` and `deliveryid` are extensions.
 */
export function cloudEventBody(
  delivery_id: number,
  { event_type, event_id, data, published_at }: WebhookContent,
  { level, stables, base }: { level: Level; stables: readonly string[]; base: string | null },
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
