import { expect, test } from 'vitest'
import { Detector } from '../../../../tools/backtest/detectors.js'
import type { Label } from '../../../../tools/backtest/labels.js'
import type { StableRun } from '../../../../tools/backtest/run.js'
import { scoreOf } from '../../../../tools/backtest/score.js'

const WEEK = 7 * 86_400
const RANGE = { from: 0, to: WEEK }
const mild = Detector.parse({ name: 'mild', enter_bps: 10, min_seconds: 300, unquoted_seconds: 60 })

const found = (started_at: number, confirmed_at: number, ended_at: number | null) => ({
  kind: 'deviation' as const,
  direction: 'below' as const,
  started_at,
  started_block: started_at,
  confirmed_at,
  ended_at,
  ended_block: ended_at,
  max_deviation_bps: 20,
  seen: { first_at: 0, first_block: 0, inside_at: null, inside_block: null },
})

const run = (stable: string, changes: Partial<StableRun>): StableRun => ({
  stable,
  breaks: [],
  samples: WEEK,
  measured_seconds: WEEK,
  gaps: [],
  ...changes,
})

const label = (stable: string, from: number, to: number, bps: number | null): Label => ({ stable, from, to, bps })

test('recall, precision, F1 and delays are those of a count by hand', () => {
  const runs = [
    run('a', { breaks: [found(1010, 1310, 1600), found(5000, 5300, 5400)] }),
    // One label, found in two pieces: one break is found, and neither piece is a false alarm.
    run('b', { breaks: [found(2000, 2300, 2400), found(2450, 2750, null)] }),
  ]
  const labels = [
    label('a', 1000, 1600, -30), // found after 310 s; clear: 30 >= 20, 600 s
    label('b', 2000, 3000, 15), // found after 300 s; not twice the limit
    label('b', 4000, 4600, 12), // by the break in progress, which overlaps it; confirmed before it began
    label('a', 8000, 8600, null), // missed; clear, as 600 >= 120
    label('a', 9000, 9100, 40), // too short for this detector
    label('b', 9000, 9900, 10), // at the limit, not beyond it
  ]
  expect(scoreOf(mild, runs, labels, RANGE)).toEqual({
    stables: 2,
    stable_weeks: 2,
    missing_seconds: 0,
    events: 4,
    labels: 4,
    smaller_labels: 2,
    unmeasured_labels: 0,
    found: 3,
    recall: 0.75,
    clear_labels: 2,
    clear_recall: 0.5,
    false_alarms: 1,
    precision: 0.75,
    f1: 0.75,
    false_alarms_per_stable_week: 0.5,
    delay_p50_seconds: 300,
    delay_p95_seconds: 310,
  })
})

test('labels where nothing was measured do not count, and what was found there is no false alarm', () => {
  const runs = [
    run('a', { breaks: [found(1500, 1800, 1900)], gaps: [{ from: 1000, to: 1400 }], measured_seconds: WEEK - 400 }),
  ]
  const labels = [
    label('a', 1200, 2000, 30), // begins in the gap
    label('a', 1400, 1450, 30), // begins where the gap ends: measured, but too short
    label('a', WEEK - 100, WEEK + 500, 30), // lies partly after the range
    label('c', 100, 900, 30), // is of a stable that was not run
  ]
  expect(scoreOf(mild, runs, labels, RANGE)).toMatchObject({
    missing_seconds: 400,
    labels: 0,
    smaller_labels: 1,
    unmeasured_labels: 3,
    false_alarms: 0,
    recall: null,
    precision: 1,
    f1: null,
    delay_p50_seconds: null,
  })
})

test('without labels nothing is known of recall and precision', () => {
  const score = scoreOf(mild, [run('a', { breaks: [found(0, 300, null)] })], null, RANGE)
  expect(score).toMatchObject({ events: 1, stable_weeks: 1, recall: null, precision: null, false_alarms: null })
})

test('nothing found of something is a recall of 0, not an unknown one', () => {
  const score = scoreOf(mild, [run('a', { breaks: [found(0, 300, 400)] })], [label('a', 5000, 6000, 30)], RANGE)
  expect(score).toMatchObject({ recall: 0, precision: 0, f1: 0 })
})
