import type { Range } from './prices.js'

/** Something that a detector found, in unix seconds: known from `confirmed_at` on, not over yet if it has no end. */
type FoundEvent = { started_at: number; confirmed_at: number; ended_at: number | null }

/** Something that is known to have happened to a stable or an edge, in [from, to), in unix seconds. */
type SubjectLabel = { subject: string } & Range

/** What was found of a stable or an edge, and where nothing of it was measured. */
type Searched<Event extends FoundEvent> = { subject: string; events: readonly Event[]; gaps: readonly Range[] }

/** How well what was found agrees with what is known. A ratio is null if there was nothing to compute it from. */
export type Judgement = {
  /** Labels of what the detector has to find, measured from start to end. */
  labels: number
  /** Other measured labels: too small or too short for it. */
  smaller_labels: number
  /** Labels that lie, in part or whole, where nothing was measured, outside the range, or of a subject that was not run. */
  unmeasured_labels: number
  found: number
  recall: number | null
  /** Labels that every detector of its kind should find. */
  clear_labels: number
  clear_recall: number | null
  /** Events that no label explains. */
  false_alarms: number
  precision: number | null
  f1: number | null
  /** From the start of a label to when its first event is confirmed, in seconds. */
  delay_p50_seconds: number | null
  delay_p95_seconds: number | null
}

/** What is left of it without labels. */
export const UNJUDGED: Record<keyof Judgement, null> = {
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
  delay_p50_seconds: null,
  delay_p95_seconds: null,
}

export const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)

/** The smallest value that at least the share `p` of the values do not exceed; null without values. */
function quantile(values: readonly number[], p: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? null
}

/** The harmonic mean of recall and precision. */
function f1Of(recall: number | null, precision: number | null): number | null {
  if (recall === null || precision === null) return null
  return recall + precision === 0 ? 0 : (2 * recall * precision) / (recall + precision)
}

/**
 * Compares what was found in [range.from, range.to) with the labels. An event belongs to a label of its subject that it
 * overlaps and that `isAbout` allows. `isExpected` decides which labels count for recall, `isClear` which of these are clear.
 */
export function judge<Event extends FoundEvent, Label extends SubjectLabel>(
  runs: readonly Searched<Event>[],
  labels: readonly Label[],
  range: Range,
  {
    isExpected,
    isClear,
    isAbout = () => true,
  }: {
    isExpected: (label: Label) => boolean
    isClear: (label: Label) => boolean
    isAbout?: (event: Event, label: Label) => boolean
  },
): Judgement {
  const runOf = new Map(runs.map((run) => [run.subject, run]))
  const explains = (label: Label, event: Event): boolean =>
    event.started_at < label.to && (event.ended_at === null || event.ended_at > label.from) && isAbout(event, label)
  const isMeasured = (label: Label): boolean => {
    const gaps = runOf.get(label.subject)?.gaps
    return (
      gaps !== undefined &&
      label.from >= range.from &&
      label.to <= range.to &&
      !gaps.some(({ from, to }) => from < label.to && to > label.from)
    )
  }
  const firstOf = (label: Label) => runOf.get(label.subject)?.events.find((event) => explains(label, event))
  const measured = labels.filter(isMeasured)
  const expected = measured.filter(isExpected)
  const clear = expected.filter(isClear)
  const delays = expected.flatMap((label) => {
    const first = firstOf(label)
    return first ? [Math.max(0, first.confirmed_at - label.from)] : []
  })
  const explained = runs.flatMap(({ subject, events }) => {
    const subjectLabels = labels.filter((label) => label.subject === subject)
    return events.map((event) => subjectLabels.some((label) => explains(label, event)))
  })
  const falseAlarms = explained.filter((isTrue) => !isTrue).length
  const recall = ratio(delays.length, expected.length)
  const precision = ratio(explained.length - falseAlarms, explained.length)
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
    delay_p50_seconds: quantile(delays, 0.5),
    delay_p95_seconds: quantile(delays, 0.95),
  }
}
