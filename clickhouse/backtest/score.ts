import { WEEK_SECONDS } from '../../process/instants.js'
import type { FoundBreak } from '../peg/hysteresis.js'
import type { Detector } from './detectors.js'
import type { Label } from './labels.js'
import type { Range } from './prices.js'
import type { StableRun } from './run.js'

/** The figures of a detector. Null: there was nothing to compute it from. */
export type Score = {
  stables: number
  stable_weeks: number
  /** Seconds of the range, over all stables, that no sample speaks for. */
  missing_seconds: number
  events: number
  /** Labels of what the detector has to find: beyond its limit for its duration, and measured from start to end. */
  labels: number | null
  /** Other labels: too small or too short for it. */
  smaller_labels: number | null
  /** Labels that lie, in part or whole, where nothing was measured, outside the range, or of a stable that is not in it. */
  unmeasured_labels: number | null
  found: number | null
  recall: number | null
  /** Labels of at least twice its limit and twice its duration. */
  clear_labels: number | null
  clear_recall: number | null
  /** Events that overlap no label. */
  false_alarms: number | null
  precision: number | null
  f1: number | null
  false_alarms_per_stable_week: number | null
  /** From the start of a label to when its first event is confirmed, in seconds. */
  delay_p50_seconds: number | null
  delay_p95_seconds: number | null
}

const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)

/** The smallest value that at least the share `p` of the values do not exceed; null without values. */
function quantile(values: readonly number[], p: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? null
}

const overlaps = (found: FoundBreak, { from, to }: Range): boolean =>
  found.started_at < to && (found.ended_at === null || found.ended_at > from)

/** Whether a label is at least `times` the limit and the duration of a detector. */
function isBeyond({ from, to, bps }: Label, detector: Detector, times: number): boolean {
  if (bps === null) return detector.unquoted_seconds !== null && to - from >= detector.unquoted_seconds * times
  const isLarge = times === 1 ? Math.abs(bps) > detector.enter_bps : Math.abs(bps) >= detector.enter_bps * times
  return isLarge && to - from >= detector.min_seconds * times
}

/** What is left of the score without labels. */
const UNJUDGED = {
  labels: null,
  smaller_labels: null,
  unmeasured_labels: null,
  found: null,
  recall: null,
  clear_labels: null,
  clear_recall: null,
  false_alarms: null,
  precision: null,
  f1: null,
  false_alarms_per_stable_week: null,
  delay_p50_seconds: null,
  delay_p95_seconds: null,
}

/**
 * Compares what a detector found in each stable of a range with what is known to have happened there; `labels` are null if
 * nothing is known.
 */
export function scoreOf(
  detector: Detector,
  runs: readonly StableRun[],
  labels: readonly Label[] | null,
  range: Range,
): Score {
  const measured = runs.reduce((sum, { measured_seconds }) => sum + measured_seconds, 0)
  const score = {
    stables: runs.length,
    stable_weeks: measured / WEEK_SECONDS,
    missing_seconds: runs.flatMap(({ gaps }) => gaps).reduce((sum, { from, to }) => sum + to - from, 0),
    events: runs.reduce((sum, { breaks }) => sum + breaks.length, 0),
  }
  return { ...score, ...(labels ? judged(detector, runs, labels, range, measured) : UNJUDGED) }
}

function judged(
  detector: Detector,
  runs: readonly StableRun[],
  labels: readonly Label[],
  range: Range,
  measuredSeconds: number,
): Omit<Score, 'stables' | 'stable_weeks' | 'missing_seconds' | 'events'> {
  const runOf = new Map(runs.map((run) => [run.stable, run]))
  const isMeasured = (label: Label): boolean => {
    const run = runOf.get(label.stable)
    return (
      run !== undefined &&
      label.from > range.from &&
      label.to <= range.to &&
      !run.gaps.some(({ from, to }) => from < label.to && to > label.from)
    )
  }
  const firstOf = (label: Label) => runOf.get(label.stable)?.breaks.find((found) => overlaps(found, label))
  const measured = labels.filter(isMeasured)
  const expected = measured.filter((label) => isBeyond(label, detector, 1))
  const clear = expected.filter((label) => isBeyond(label, detector, 2))
  const delays = expected.flatMap((label) => {
    const first = firstOf(label)
    return first ? [Math.max(0, first.confirmed_at - label.from)] : []
  })
  const events = runs.flatMap(({ stable, breaks }) => {
    const own = labels.filter((label) => label.stable === stable)
    return breaks.map((found) => own.some((label) => overlaps(found, label)))
  })
  const falseAlarms = events.filter((isTrue) => !isTrue).length
  const recall = ratio(delays.length, expected.length)
  const precision = ratio(events.length - falseAlarms, events.length)
  return {
    labels: expected.length,
    smaller_labels: measured.length - expected.length,
    unmeasured_labels: labels.length - measured.length,
    found: delays.length,
    recall,
    clear_labels: clear.length,
    clear_recall: ratio(clear.filter((label) => firstOf(label) !== undefined).length, clear.length),
    false_alarms: falseAlarms,
    precision,
    f1: f1Of(recall, precision),
    false_alarms_per_stable_week: ratio(falseAlarms * WEEK_SECONDS, measuredSeconds),
    delay_p50_seconds: quantile(delays, 0.5),
    delay_p95_seconds: quantile(delays, 0.95),
  }
}

/** The harmonic mean of recall and precision. */
function f1Of(recall: number | null, precision: number | null): number | null {
  if (recall === null || precision === null) return null
  return recall + precision === 0 ? 0 : (2 * recall * precision) / (recall + precision)
}
