/** What is sent in a delivery, beside its number. */
export type WebhookContent = {
  event_type: string
  event_id: string
  /** JSON, as it is published. */
  data: string
}

/** The body of a delivery: the same over all its attempts, to the byte. */
export const webhookBody = (delivery_id: number, { event_type, event_id, data }: WebhookContent): string =>
  `{"event":${JSON.stringify(event_type)},"data":${data},"delivery_id":${delivery_id},"event_id":${JSON.stringify(event_id)}}`
