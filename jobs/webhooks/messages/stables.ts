import { Address } from '../../../clickhouse/store/values.js'
import type { WebhookContent } from '../../../clickhouse/webhooks/body.js'
import { digestedEvents } from '../../../clickhouse/webhooks/digests.js'

/** Every stable that the data of an event name, in lower case. */
export function stablesOf({ stable, from_token, to_token, stables }: Record<string, unknown>): string[] {
  const values = [stable, from_token, to_token, ...(Array.isArray(stables) ? stables : [])]
  return values.filter((value): value is string => Address.safeParse(value).success)
}

/** Every stable that a delivery names, in lower case: of a retraction, those of the event that it takes back. */
export function stablesIn(content: WebhookContent): string[] {
  const contents = digestedEvents(content)?.map((event) => event.content) ?? [content]
  return [...new Set(contents.flatMap((event) => stablesOf(subjectOf(event))))]
}

function subjectOf({ data: text }: WebhookContent): Record<string, unknown> {
  const data = JSON.parse(text) as Record<string, unknown>
  return (data.original ?? data) as Record<string, unknown>
}
