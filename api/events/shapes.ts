import { z } from 'zod'
import { STEADY_FAMILIES } from '../../clickhouse/chain/batches.js'
import type { LoggedEvent } from '../../clickhouse/events/log.js'
import { EVENT_TYPES, type EventType, publishedEvent } from '../../clickhouse/events/types.js'
import { Direction, Severity } from '../../clickhouse/peg/break-filter.js'
import { QuoteStatus } from '../../clickhouse/peg/price.js'
import { FlowAnomalyShape, UnusualFlowShape } from '../flows/shapes.js'

const PegBreakStart = z.object({
  stable: z.string().meta({ description: 'Address' }),
  severity: Severity.meta({
    description: 'mild: more than 10 bps from 1.00 for at least 5 minutes; severe: more than 50 bps for at least 1',
  }),
  direction: Direction.meta({ description: 'On which side of 1.00 it began' }),
  started_at: z.iso.datetime().meta({ description: 'Time of the first sample outside' }),
  max_deviation_bps: z.number().meta({ description: 'Largest distance from 1.00 in basis points, so far' }),
  started_block: z.int().meta({ description: 'Block of that sample' }),
  standing_tokens: z.int().optional().meta({
    description:
      'The largest sampled size up to which every size sold beyond the limit of the severity, on the side of direction, when the break was confirmed; 0: none. Absent if unknown',
  }),
  thin: z.boolean().optional().meta({
    description:
      'Whether standing_tokens is below 10,000: the book contradicts the price of one token. Absent if unknown',
  }),
})

const lasted = {
  ended_block: z.int().meta({ description: 'Block of that sample' }),
  duration_seconds: z.int().meta({ description: 'From started_at to ended_at' }),
}

const PegBreakEnd = z.object({
  ...PegBreakStart.shape,
  ended_at: z.iso.datetime().meta({ description: 'Time of the first sample back inside' }),
  ...lasted,
})

const AgreedBreakStart = z.object({
  ...PegBreakStart.omit({ standing_tokens: true, thin: true }).shape,
  severity: z.enum(['mild', 'severe']).meta({
    description: 'mild: smoothed price more than 10 bps from 1.00 for 5 minutes; severe: more than 50 bps for 1',
  }),
  started_at: z.iso.datetime().meta({ description: 'Time of the first sample whose smoothed price is outside' }),
  max_deviation_bps: z.number().meta({ description: 'Largest distance of the agreed price from 1.00 in bps, so far' }),
})

const AgreedBreakEnd = z.object({
  ...AgreedBreakStart.shape,
  ended_at: z.iso.datetime().meta({
    description: 'Time of the first sample whose smoothed price is back within 7 bps (mild) or 35 bps (severe)',
  }),
  ...lasted,
})

const QuoteLost = z.object({
  stable: PegBreakStart.shape.stable,
  status: QuoteStatus.meta({ description: 'Why that block has no quote: no_liquidity if nobody bought' }),
  started_at: z.iso.datetime().meta({ description: 'Time of the first block without a quote' }),
  started_block: z.int().meta({ description: 'That block' }),
})

const QuoteBack = z.object({
  ...QuoteLost.shape,
  ended_at: z.iso.datetime().meta({ description: 'Time of the first block with a quote again' }),
  ...lasted,
})

const DATASETS = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(['blocks', ...STEADY_FAMILIES])

const HealthDrift = z.object({
  component: z.string().meta({
    description: `ingest, sampling, job:<name>, dataset:<${DATASETS}> or webhook <id>`,
  }),
  status: z.enum(['ok', 'behind', 'stalled', 'overdue', 'gaps', 'disabled']).meta({
    description: 'The new status; disabled: a webhook whose receiver has failed for days or is gone',
  }),
  lag_blocks: z
    .int()
    .nullable()
    .meta({ description: 'Blocks behind, or blocks missing from a dataset; null if not measured' }),
  lag_seconds: z.int().nullable().meta({ description: 'Seconds behind; null if not measured' }),
  detected_at: z.iso.datetime().meta({ description: 'When the monitor noticed it' }),
})

const EventRetracted = z.object({
  retracts: z.string().meta({ description: 'id of the event that is taken back' }),
  retracted_event: z.enum(EVENT_TYPES).meta({ description: 'Its type' }),
  stables: z.array(z.string()).meta({ description: 'Its stables: one, or both ends of an edge, sender first' }),
  occurred_at: z.iso.datetime().meta({ description: 'Its occurred_at' }),
  recorded_at: z.iso.datetime().meta({ description: 'Its recorded_at' }),
  reason: z.enum(['not_found', 'changed']).meta({
    description:
      'not_found: it did not happen, as the chain was reorganized or blocks that were read later show; changed: it happened with other data, which an event of its own announces',
  }),
  original: z.record(z.string(), z.unknown()).meta({ description: 'Its data' }),
})

const DATA = {
  'peg_break.started': PegBreakStart,
  'peg_break.ended': PegBreakEnd,
  'agreed_break.started': AgreedBreakStart,
  'agreed_break.ended': AgreedBreakEnd,
  'peg_quote.lost': QuoteLost,
  'peg_quote.back': QuoteBack,
  'flow_anomaly.detected': FlowAnomalyShape,
  'unusual_flow.detected': UnusualFlowShape,
  'system.health_drift': HealthDrift,
  'event.retracted': EventRetracted,
} as const

const envelope = {
  id: z
    .string()
    .meta({ description: 'The same id in this list, on the stream and in webhooks; each id is announced once' }),
  sequence: z.int().meta({ description: 'Its position in the log; pass it as `after` to continue from here' }),
  occurred_at: z.iso.datetime().meta({ description: 'Time of the event, by the clock of the chain' }),
  recorded_at: z.iso
    .datetime()
    .meta({ description: 'When this service recorded it; later than occurred_at if a detector had to catch up' }),
  published_at: z.iso
    .datetime()
    .meta({ description: 'The same as recorded_at: an event is published when it is recorded' }),
}

/** The name of a type's schema in /openapi.json, such as `EventPegBreakStarted`. */
const schemaName = (type: EventType): string =>
  `Event${type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`

// Each has a name: generators of clients have none of their own for the variants of a union.
const shapeOf = <Type extends EventType>(type: Type) =>
  z
    .object({
      ...envelope,
      event: z.literal(type).meta({ description: 'Its type' }),
      data: DATA[type].meta({ id: `${schemaName(type)}Data`, description: 'What happened' }),
    })
    .meta({ id: schemaName(type), description: `An event of the type ${type}` })

/** An event as clickhouse/events/types.ts makes it, by its type. */
export const EventShape = z
  .discriminatedUnion('event', [
    shapeOf('peg_break.started'),
    shapeOf('peg_break.ended'),
    shapeOf('agreed_break.started'),
    shapeOf('agreed_break.ended'),
    shapeOf('peg_quote.lost'),
    shapeOf('peg_quote.back'),
    shapeOf('flow_anomaly.detected'),
    shapeOf('unusual_flow.detected'),
    shapeOf('system.health_drift'),
    shapeOf('event.retracted'),
  ])
  .meta({
    id: 'Event',
    description: 'Something that happened, with the data of its type',
    discriminator: {
      propertyName: 'event',
      mapping: Object.fromEntries(EVENT_TYPES.map((type) => [type, `#/components/schemas/${schemaName(type)}`])),
    },
  })

/** An event of the log as it is published. The serializer checks that its data match its type. */
export const shapedEvent = (event: LoggedEvent) => publishedEvent(event) as z.input<typeof EventShape>

/** The first message of a stream. */
export const StreamReady = z
  .object({
    sequence: z.int().meta({ description: 'Position in the log behind which the stream begins' }),
    unknown_position: z.boolean().optional().meta({
      description:
        'true if `Last-Event-ID` is not a position of this log, so that the stream begins at the newest event: read the list of events for what you missed; absent otherwise',
    }),
  })
  .meta({ id: 'StreamReady', description: 'The first message of a stream' })

export type StreamReady = z.infer<typeof StreamReady>

/** A stable's newest sample, as the stream has it. */
export const PegSample = z
  .object({
    stable: z.string().meta({ description: 'Address' }),
    status: QuoteStatus.meta({ description: 'Whether one token can be sold, and why not' }),
    price_vs_refusd: z
      .number()
      .nullable()
      .meta({ description: 'What one token sells for, in the reference stable; null without a quote' }),
    spread_bps: z.number().nullable().meta({ description: 'Distance of that price from 1 in basis points' }),
    buy_price: z.number().nullable().meta({ description: 'What one token costs, in the reference stable' }),
    mid_price: z.number().nullable().meta({ description: 'Halfway between both; null without both' }),
    block_number: z.int().meta({ description: 'Block of the sample' }),
    sampled_at: z.string().meta({ description: 'Time of that block, UTC, such as `2026-07-01 12:00:00+00`' }),
  })
  .meta({ id: 'PegSample', description: 'A stable’s newest sample, as the stream has it' })

export type PegSample = z.infer<typeof PegSample>

const messageOf = (event: { const: string } | { enum: readonly string[] }, data: string) => ({
  type: 'object',
  properties: {
    event: { type: 'string', ...event },
    id: { type: 'string', description: 'Position in the log; samples have none' },
    data: { $ref: `#/components/schemas/${data}` },
  },
  required: ['event', 'data'],
})

/** A stream as JSON Schema has it, its messages in a list. */
export const STREAM_CONTENT = {
  type: 'array',
  items: {
    oneOf: [
      messageOf({ const: 'ready' }, 'StreamReady'),
      messageOf({ const: 'peg_sample' }, 'PegSample'),
      messageOf({ enum: EVENT_TYPES }, 'Event'),
    ],
  },
}
