import { z } from 'zod'
import { MIN_ABS_Z } from '../../../clickhouse/flows/scores.js'
import { Direction, Severity, type Track } from '../../../clickhouse/peg/break-filter.js'
import { BREAK_RULES } from '../../../clickhouse/peg/rules.js'
import { isThin } from '../../../clickhouse/peg/standing.js'
import { Address } from '../../../clickhouse/store/values.js'
import { numberText, safeName, spanText, timeText } from './text.js'

/** Symbols of stables by address, as their issuers wrote them. */
export type Names = ReadonlyMap<string, string>

/** An event in plain words, without markup. Names in it are safe, and addresses and numbers were checked. */
type Words = {
  title: string
  /** What happened, to what, since when, and by which rule. */
  why: string
}

const time = z.iso.datetime()
const block = z.int()

const Break = z.object({
  stable: Address,
  severity: Severity,
  direction: Direction,
  started_at: time,
  started_block: block,
  max_deviation_bps: z.number(),
  standing_tokens: z.int().optional(),
})
const Ended = { ended_at: time, ended_block: block, duration_seconds: z.int() }
const Loss = z.object({ stable: Address, status: z.string(), started_at: time, started_block: block })
/** A window of an edge that one of the two rules announces. */
const FlowWindow = z.object({
  from_token: Address,
  to_token: Address,
  kind: z.enum(['surge', 'drop', 'silence']),
  window_start: time,
  window_end: time,
  observed_flow_usd: z.number(),
  silent_windows: z.int().nullable(),
})
const Anomaly = FlowWindow.extend({
  baseline_mean_usd: z.number(),
  z_score: z.number(),
  longest_silence_windows: z.int().nullable(),
})
const Unusual = FlowWindow.extend({
  tx_count: z.int(),
  expected_low_usd: z.number().nullable(),
  expected_high_usd: z.number().nullable(),
})
const Drift = z.object({
  component: z.string(),
  status: z.string(),
  lag_blocks: z.number().nullable(),
  lag_seconds: z.number().nullable(),
  detected_at: time,
})
const Retraction = z.object({
  retracts: z.string(),
  retracted_event: z.string(),
  stables: z.array(Address),
  occurred_at: time,
  reason: z.string(),
})

/** A stable by its name, if it has one, and its address. */
export const named = (stable: string, names: Names): string => {
  const name = safeName(names.get(stable) ?? '')
  return name === '' ? stable : `${name} (${stable})`
}
const short = (stable: string, names: Names): string =>
  safeName(names.get(stable) ?? '') || `${stable.slice(0, 6)}…${stable.slice(-4)}`

const standingText = (tokens: number | undefined): string =>
  tokens === undefined
    ? ''
    : ` It stood for ${numberText(tokens)} tokens${isThin(tokens) ? ': thin, a few bids can make it' : ''}.`

const ruleText = (track: Track, severity: Severity): string => {
  const { enter_bps, min_seconds } = BREAK_RULES[track][severity]
  const price = track === 'agreed' ? 'agreed price' : 'price of one token'
  return `Rule ${severity}: ${price} more than ${enter_bps} bps from the peg for ${spanText(min_seconds)}.`
}

function breakStarted(data: unknown, names: Names, track: Track): Words {
  const { stable, severity, direction, started_at, started_block, max_deviation_bps, standing_tokens } =
    Break.parse(data)
  return {
    title: `${short(stable, names)}: ${severity} ${track === 'agreed' ? 'agreed ' : ''}peg break started`,
    why:
      `${named(stable, names)} is up to ${max_deviation_bps} bps ${direction} its peg, outside the limit since ${timeText(started_at)} ` +
      `(block ${started_block}). ${ruleText(track, severity)}${standingText(standing_tokens)}`,
  }
}

function breakEnded(data: unknown, names: Names, track: Track): Words {
  const { stable, severity, direction, started_at, max_deviation_bps, ended_at, ended_block, duration_seconds } =
    Break.extend(Ended).parse(data)
  const { exit_bps } = BREAK_RULES[track][severity]
  return {
    title: `${short(stable, names)}: ${severity} ${track === 'agreed' ? 'agreed ' : ''}peg break ended after ${spanText(duration_seconds)}`,
    why:
      `${named(stable, names)} is within ${exit_bps} bps of its peg since ${timeText(ended_at)} (block ${ended_block}). ` +
      `It was up to ${max_deviation_bps} bps ${direction} its peg, outside since ${timeText(started_at)}. ${ruleText(track, severity)}`,
  }
}

const STATUS_TEXTS: Record<string, string> = {
  no_liquidity: 'nobody buys it',
  no_pair: 'the exchange has no book for it',
  paused: 'its transfers are paused',
  failed: 'the exchange refuses to quote it',
  out_of_range: 'its quote is below 0.5 or above 2',
  too_deep: 'too many books lie between it and the reference',
}

function quoteLost(data: unknown, names: Names): Words {
  const { stable, status, started_at, started_block } = Loss.parse(data)
  const { unquoted_seconds } = BREAK_RULES.agreed.mild
  return {
    title: `${short(stable, names)}: quote lost`,
    why:
      `${named(stable, names)} has no price: ${STATUS_TEXTS[status] ?? safeName(status)}, since ${timeText(started_at)} (block ${started_block}). ` +
      `Its distance from the peg is not known. Rule: no quote for ${unquoted_seconds} s.`,
  }
}

function quoteBack(data: unknown, names: Names): Words {
  const { stable, status, started_at, ended_at, ended_block, duration_seconds } = Loss.extend(Ended).parse(data)
  return {
    title: `${short(stable, names)}: quote back after ${spanText(duration_seconds)}`,
    why:
      `${named(stable, names)} has a price since ${timeText(ended_at)} (block ${ended_block}). ` +
      `It had none since ${timeText(started_at)}: ${STATUS_TEXTS[status] ?? safeName(status)}.`,
  }
}

function anomaly(data: unknown, names: Names): Words {
  const told = Anomaly.parse(data)
  const { from_token, to_token, kind, observed_flow_usd, baseline_mean_usd, z_score } = told
  const { silent_windows, longest_silence_windows } = told
  const rule =
    kind === 'silence'
      ? `Rule silence: ${silent_windows} windows of 15 minutes without a flow, at most ${longest_silence_windows} in the week before.`
      : `Rule ${kind}: ${numberText(Math.abs(z_score))} standard deviations ${z_score < 0 ? 'below' : 'above'} the 7-day mean, at least ${MIN_ABS_Z}.`
  return {
    title: `${short(from_token, names)} to ${short(to_token, names)}: flow ${kind}`,
    why:
      `${numberText(observed_flow_usd)} USD went from ${named(from_token, names)} to ${named(to_token, names)} ` +
      `between ${timeText(told.window_start)} and ${timeText(told.window_end)}; the mean of 15 minutes is ${numberText(baseline_mean_usd)} USD. ${rule}`,
  }
}

function unusual(data: unknown, names: Names): Words {
  const { from_token, to_token, kind, observed_flow_usd, tx_count, ...told } = Unusual.parse(data)
  const { expected_low_usd: low, expected_high_usd: high, silent_windows } = told
  const usual = low === null || high === null ? '' : `, where ${numberText(low)} to ${numberText(high)} USD are usual`
  const rule =
    kind === 'silence'
      ? `Rule robust silence: ${silent_windows} windows of 15 minutes without a flow are improbable.`
      : `Rule robust ${kind}: the volume or the number of transactions is at least ${MIN_ABS_Z} robust deviations from the median.`
  return {
    title: `${short(from_token, names)} to ${short(to_token, names)}: unusual flow, ${kind}`,
    why:
      `${numberText(observed_flow_usd)} USD in ${numberText(tx_count)} transactions went from ${named(from_token, names)} to ${named(to_token, names)} ` +
      `between ${timeText(told.window_start)} and ${timeText(told.window_end)}${usual}. ${rule}`,
  }
}

const COMPONENT_TEXTS: Record<string, string> = {
  behind: 'the newest stored block is too old, so events come late',
  stalled: 'no stable was sampled for too long, so peg breaks are not seen',
  overdue: 'a job is too far behind the newest block, so its events come late',
  gaps: 'blocks or their data are missing',
  disabled: 'its receiver failed for days or is gone, so nothing is sent to it',
}

/** Names of components have colons and spaces. They come from the service itself. */
const componentText = (component: string): string => component.replaceAll(/[^\w: -]/g, '?').slice(0, 100)

function drift(data: unknown): Words {
  const { component, status, lag_blocks, lag_seconds, detected_at } = Drift.parse(data)
  const lags = [
    typeof lag_seconds === 'number' && spanText(lag_seconds),
    typeof lag_blocks === 'number' && `${numberText(lag_blocks)} blocks`,
  ].filter(Boolean)
  const lag = lags.length === 0 ? '' : ` (${lags.join(', ')})`
  const state = status === 'ok' ? 'it works again' : (COMPONENT_TEXTS[status] ?? safeName(status))
  return {
    title: `Plumbline: ${componentText(component)} is ${safeName(status)}`,
    why: `The service's own ${componentText(component)} changed to ${safeName(status)} at ${timeText(detected_at)}: ${state}${lag}.`,
  }
}

/** What was announced by the types of events that can be taken back. */
const ANNOUNCED: Record<string, string> = {
  'peg_break.started': 'start of a peg break',
  'peg_break.ended': 'end of a peg break',
  'agreed_break.started': 'start of an agreed peg break',
  'agreed_break.ended': 'end of an agreed peg break',
  'peg_quote.lost': 'loss of its quote',
  'peg_quote.back': 'return of its quote',
  'flow_anomaly.detected': 'flow anomaly',
  'unusual_flow.detected': 'unusual flow',
}

const REASON_TEXTS: Record<string, string> = {
  not_found: 'It did not happen: the chain or blocks that were read later show it.',
  changed: 'It happened with other data, which another message has.',
}

function retraction(data: unknown, names: Names): Words {
  const { retracts, retracted_event, stables, occurred_at, reason } = Retraction.parse(data)
  const about = stables.map((stable) => named(stable, names)).join(' and ')
  const event = ANNOUNCED[retracted_event] ?? safeName(retracted_event)
  return {
    title: `${stables.map((stable) => short(stable, names)).join(' to ')}: taken back: ${event}`,
    why:
      `The ${event} of ${about} at ${timeText(occurred_at)} (${retracts.replaceAll(/\W/g, '')}) is taken back. ` +
      `${REASON_TEXTS[reason] ?? safeName(reason)}`,
  }
}

/** An event in words. Throws for data without what the words need. */
export function wordsOf(type: string, data: Record<string, unknown>, names: Names): Words {
  switch (type) {
    case 'peg_break.started':
      return breakStarted(data, names, 'published')
    case 'agreed_break.started':
      return breakStarted(data, names, 'agreed')
    case 'peg_break.ended':
      return breakEnded(data, names, 'published')
    case 'agreed_break.ended':
      return breakEnded(data, names, 'agreed')
    case 'peg_quote.lost':
      return quoteLost(data, names)
    case 'peg_quote.back':
      return quoteBack(data, names)
    case 'flow_anomaly.detected':
      return anomaly(data, names)
    case 'unusual_flow.detected':
      return unusual(data, names)
    case 'system.health_drift':
      return drift(data)
    case 'event.retracted':
      return retraction(data, names)
    default:
      throw new Error(`unknown event type ${type}`)
  }
}
