import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../../../clickhouse/events/types.js'
import type { WebhookContent } from '../../../../../clickhouse/webhooks/body.js'
import { FORMATS, WEBHOOK_FORMATS } from '../../../../../clickhouse/webhooks/formats.js'
import { rendered } from '../../../../../jobs/webhooks/formats/render.js'
import { contentOf, digestOf, NAMES } from '../../../../support/webhooks/contents.js'

const fileOf = (format: string): URL =>
  new URL(`../../../../../docs/examples/webhooks/formats/${format}.json`, import.meta.url)
const surroundings = { base: 'https://plumbline.example/', names: NAMES }

test.each(WEBHOOK_FORMATS)('the recorded examples of the format %s are what it sends', (format) => {
  const subscription = { format, chat_id: FORMATS[format].needsChat ? '-1001234567890' : '' }
  const exampleOf = (type: string, content: WebhookContent): [string, object] => {
    const { body, contentType } = rendered(7, content, subscription, surroundings)
    return [type, { content_type: contentType, body: JSON.parse(body) }]
  }
  const bodies = EVENT_TYPES.map((type) => exampleOf(type, contentOf(type)))
  const digest = digestOf([
    contentOf('flow_anomaly.detected'),
    contentOf('peg_break.started'),
    contentOf('peg_break.ended'),
  ])
  if (FORMATS[format].whyNeverHeld === null) bodies.push(exampleOf('digest', digest))
  const made = Object.fromEntries(bodies)
  if (process.env.RECORD_EXAMPLES) writeFileSync(fileOf(format), `${JSON.stringify(made, null, 2)}\n`)
  expect(JSON.parse(readFileSync(fileOf(format), 'utf8'))).toEqual(made)
})
