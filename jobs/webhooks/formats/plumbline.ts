import { webhookBody } from '../../../clickhouse/webhooks/body.js'
import { type Delivery, JSON_TYPE, type Writer } from './writer.js'

const body = ({ delivery_id, content }: Delivery): string => webhookBody(delivery_id, content)

/** The bodies of the service itself. A digest is stored as it is sent. */
export const plumbline: Writer = { contentType: JSON_TYPE, usesNames: false, event: body, digest: body }
