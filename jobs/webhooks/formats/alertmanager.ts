import { createHash } from 'node:crypto'
import { incidentOf } from '../../../clickhouse/webhooks/incidents.js'
import { messageOf } from '../messages/message.js'
import { stablesIn } from '../messages/stables.js'
import { type Delivery, JSON_TYPE, pageUrl, type Writer } from './writer.js'

/** An alert that has not ended, in Go's zero time, as Alertmanager sends it. */
const NEVER = '0001-01-01T00:00:00Z'

/** The names of alerts, by what is before the dot in the type of an event. */
const ALERT_NAMES: Record<string, string> = {
  peg_break: 'PegBreak',
  agreed_break: 'AgreedPegBreak',
  peg_quote: 'PegQuoteLost',
  flow_anomaly: 'FlowAnomaly',
  unusual_flow: 'UnusualFlow',
  system: 'PlumblineHealth',
}

type Data = Record<string, unknown>

const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? `${value}` : '')

const ENDS = ['peg_break.ended', 'agreed_break.ended', 'peg_quote.back']

/**
 * Whether the alert of an event fires. A retraction resolves it, unless it is taken back only to be announced with other
 * data: the message with these may have come before.
 */
function fires(type: string, kind: string, data: Data, about: Data): boolean {
  const isEnd = ENDS.includes(kind) || (kind === 'system.health_drift' && about.status === 'ok')
  return !isEnd && (type !== 'event.retracted' || data.reason === 'changed')
}

/**
 * What Alertmanager sends to its receivers, version 4, with one alert. The group is that of one break, lost quote, anomaly or
 * component, so that its start and its end have the same `groupKey` and the same `fingerprint`.
 */
function event({ content, base, names }: Delivery): string {
  const { event_type: type, published_at } = content
  const data = JSON.parse(content.data) as Data
  const message = messageOf(content, names)
  const stables = stablesIn(content)
  const url = pageUrl(message.path, base)
  const { type: kind, family, about, subject } = incidentOf(type, data)
  const key = `plumbline/${family}:${subject}`
  const isFiring = fires(type, kind, data, about)
  const status = isFiring ? 'firing' : 'resolved'
  const published = published_at.toISOString()
  const startsAt = textOf(about.started_at ?? about.window_start ?? about.detected_at) || published
  const rule = textOf(about.severity ?? about.kind ?? about.status)
  const labels = {
    alertname: ALERT_NAMES[family] ?? family,
    severity: message.level,
    ...(stables.length > 0 && { stable: stables.join(',') }),
    ...(rule !== '' && kind !== 'system.health_drift' && { rule }),
    ...(textOf(about.component) !== '' && { component: textOf(about.component) }),
  }
  const { title: summary, why: description, path } = message
  const annotations = { summary, description, ...(url === null && { path }) }
  return JSON.stringify({
    version: '4',
    groupKey: key,
    truncatedAlerts: 0,
    status,
    receiver: 'plumbline',
    groupLabels: { alertname: labels.alertname },
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: base ?? '',
    alerts: [
      {
        status,
        labels,
        annotations,
        startsAt,
        endsAt: isFiring ? NEVER : textOf(about.ended_at ?? about.detected_at) || published,
        generatorURL: url ?? '',
        fingerprint: createHash('sha256').update(key).digest('hex').slice(0, 16),
      },
    ],
  })
}

type Payload = {
  status: string
  groupLabels: object
  commonLabels: object
  commonAnnotations: object
  alerts: unknown[]
}

/**
 * The alerts of several events in one payload, in order, as they would be alone. New subscriptions of this format have no digest; one
 * that had another format may have an event left that was held before.
 */
function digest({ content }: Delivery, events: readonly Delivery[]): string {
  const payloads = events.map((delivery) => JSON.parse(event(delivery)) as Payload)
  return JSON.stringify({
    ...payloads[0],
    groupKey: `plumbline/digest:${content.event_id}`,
    status: payloads.some(({ status }) => status === 'firing') ? 'firing' : 'resolved',
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    alerts: payloads.flatMap(({ alerts }) => alerts),
  })
}

export const alertmanager: Writer = { contentType: JSON_TYPE, usesNames: true, event, digest }
