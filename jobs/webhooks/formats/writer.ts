import type { WebhookContent } from '../../../clickhouse/webhooks/body.js'
import { type Message, messageOf, messageOfDigest } from '../messages/message.js'
import type { Names } from '../messages/words.js'

/** What a message needs besides the event. */
export type Surroundings = {
  /** The URL at which people reach the service, which ends with a slash; null if it is not configured. */
  base: string | null
  names: Names
}

/** A delivery to be written. */
export type Delivery = Surroundings & { delivery_id: number; content: WebhookContent; chat_id: string }

/** How a format writes deliveries. Bodies depend on the arguments alone, so that all attempts have the same. */
export type Writer = {
  contentType: string
  /** Whether bodies contain the names of stables: they are read only then. */
  usesNames: boolean
  /** The body of one event. */
  event: (delivery: Delivery) => string
  /** The body of a digest, from its events as they would be delivered alone, in order. */
  digest: (digest: Delivery, events: readonly Delivery[]) => string
}

export const JSON_TYPE = 'application/json'

/** The URL of a page of the service; null if the service does not know its own. */
export const pageUrl = (path: string, base: string | null): string | null =>
  base === null ? null : new URL(path.slice(1), base).href

/** Where a message leads, when it was published, and the chat that gets it. */
type MessageContext = { url: string | null; at: Date; chat_id: string }

/** How a format for people writes messages, of which events and digests are made. */
export type MessageWriter = Writer & { write: (message: Message, context: MessageContext) => string }

/** The writer of a format that writes messages so. */
export function messageWriter(write: MessageWriter['write']): MessageWriter {
  const body = (message: Message, { content, base, chat_id }: Delivery): string =>
    write(message, { url: pageUrl(message.path, base), at: content.published_at, chat_id })
  return {
    write,
    contentType: JSON_TYPE,
    usesNames: true,
    event: (delivery) => body(messageOf(delivery.content, delivery.names), delivery),
    digest: (digest, events) => {
      const contents = events.map(({ content }) => content)
      return body(messageOfDigest(contents, digest.content.published_at, digest.names), digest)
    },
  }
}
