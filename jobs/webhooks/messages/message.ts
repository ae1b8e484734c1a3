import { LEVELS, type Level, levelOf } from '../../../clickhouse/events/levels.js'
import type { WebhookContent } from '../../../clickhouse/webhooks/body.js'
import { stablesOf } from './stables.js'
import { timeText } from './text.js'
import { type Names, named, wordsOf } from './words.js'

/** An event for people: without markup, and its names are safe. */
export type Message = {
  level: Level
  title: string
  /** A line for each event, of a digest. */
  why: string | readonly string[]
  /** The page of the service that shows it, as of when it was published: path and query. */
  path: string
}

function pathOf(data: Record<string, unknown>, published_at: Date): string {
  const [stable] = stablesOf(data)
  if (stable === undefined) return '/status'
  const page = 'from_token' in data ? '/flows' : `/s/${stable}`
  return `${page}?as_of=${published_at.toISOString().slice(0, 19)}Z`
}

/** Event ids of tests begin so. */
const TEST_PREFIX = 'evt_test_'

/**
 * An event for people. One whose data cannot be put into words is named by its type, with the page that shows it: a message that
 * is less than perfect must still be sent.
 */
export function messageOf(
  { event_type, event_id, data: text, published_at }: WebhookContent,
  names: Names,
): Message & { why: string } {
  const data = JSON.parse(text) as Record<string, unknown>
  const level = levelOf({ type: event_type, data })
  const path = pathOf(data, published_at)
  let words: ReturnType<typeof wordsOf>
  try {
    words = wordsOf(event_type, data, names)
  } catch {
    const stables = stablesOf(data).map((stable) => named(stable, names))
    words = { title: event_type, why: [event_type, ...stables].join(', ') }
  }
  if (!event_id.startsWith(TEST_PREFIX)) return { level, path, ...words }
  return { level, path, title: `Test: ${words.title}`, why: `This is a test with made-up data. ${words.why}` }
}

/** Several events for people: how many of each severity, the most severe first, and a line for each in the order of the log. */
export function messageOfDigest(contents: readonly WebhookContent[], published_at: Date, names: Names): Message {
  const messages = contents.map((content) => messageOf(content, names))
  const levels = LEVELS.toReversed().map((level) => ({
    level,
    count: messages.filter((message) => message.level === level).length,
  }))
  const present = levels.filter(({ count }) => count > 0)
  const counts = present.map(({ level, count }) => `${count} ${level}`).join(', ')
  const lines = contents.map(({ published_at: at }, i) => `${timeText(at.toISOString())} ${messages[i]?.title}`)
  return {
    level: present[0]?.level ?? 'info',
    title: `${contents.length} ${contents.length === 1 ? 'event' : 'events'}: ${counts}`,
    why: lines,
    path: `/?as_of=${published_at.toISOString().slice(0, 19)}Z`,
  }
}
