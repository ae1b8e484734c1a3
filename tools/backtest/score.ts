import { WEEK_SECONDS } from '../../process/instants.js'
import type { Detector } from './detectors.js'
import { type Judgement, judge, ratio, UNJUDGED } from './judge.js'
import type { Label } from './labels.js'
import type { Range } from './prices.js'
import type { StableRun } from './run.js'

/**
 * The figures of a detector. Null: there was nothing to compute it from. It has to find labels beyond its limit for its duration;
 * those of at least twice its limit and twice its duration are clear.
 */
export type Score = { [Figure in keyof Judgement]: Judgement[Figure] | null } & {
  stables: number
  stable_weeks: number
  /** Seconds of the range, over all stables, that no sample speaks for. */
  missing_seconds: number
  events: number
  false_alarms_per_stable_week: number | null
}

/** Whether a label is at least `times` the limit and the duration of a detector. */
function isBeyond({ from, to, bps }: Label, detector: Detector, times: number): boolean {
  if (bps === null) return detector.unquoted_seconds !== null && to - from >= detector.unquoted_seconds * times
  const isLarge = times === 1 ? Math.abs(bps) > detector.enter_bps : Math.abs(bps) >= detector.enter_bps * times
  return isLarge && to - from >= detector.min_seconds * times
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
  const judgement =
    labels &&
    judge(
      runs.map(({ stable, breaks, gaps }) => ({ subject: stable, events: breaks, gaps })),
      labels.map((label) => ({ subject: label.stable, ...label })),
      // The range is the time after its start.
      { from: range.from + 1, to: range.to },
      { isExpected: (label) => isBeyond(label, detector, 1), isClear: (label) => isBeyond(label, detector, 2) },
    )
  return {
    stables: runs.length,
    stable_weeks: measured / WEEK_SECONDS,
    missing_seconds: runs.flatMap(({ gaps }) => gaps).reduce((sum, { from, to }) => sum + to - from, 0),
    events: runs.reduce((sum, { breaks }) => sum + breaks.length, 0),
    ...(judgement ?? UNJUDGED),
    false_alarms_per_stable_week: judgement && ratio(judgement.false_alarms * WEEK_SECONDS, measured),
  }
}
