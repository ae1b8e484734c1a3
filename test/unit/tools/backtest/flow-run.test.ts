import { expect, test } from 'vitest'
import { type FlowDetector, FlowDetectors } from '../../../../tools/backtest/flow-detectors.js'
import type { FlowLabel } from '../../../../tools/backtest/flow-labels.js'
import { flowReportOf, SHOWN_FLOWS } from '../../../../tools/backtest/flow-report.js'
import { EdgeTally, type SeenWindow } from '../../../../tools/backtest/flow-run.js'

const WINDOW = 900
const WEEK = 604_800
const RANGE = { from: 0, to: 20 * WINDOW }
const edge = { from_token: 'a', to_token: 'b' }
const detectors = FlowDetectors.parse([
  { name: 'one', measure: 'q_value', limit: 0.01 },
  { name: 'two', measure: 'q_value', limit: 0.01, min_windows: 2 },
])

/** A window for each letter: flagged above (^) or below (v), not flagged (.), or without a score (a space); A and S are ^ and . with a trade while sparse. */
function runOf(letters: string, labels: readonly FlowLabel[] = [], of: readonly FlowDetector[] = detectors) {
  const tally = new EdgeTally(edge, of, RANGE, labels)
  for (const [i, letter] of [...letters].entries()) {
    if (letter === ' ') continue
    const side = { '^': 'above', A: 'above', v: 'below' }[letter] as SeenWindow['flags'][number] | undefined
    tally.add({ start: i * WINDOW, isSparseTrade: 'AS'.includes(letter), flags: of.map(() => side ?? null) })
  }
  return { range: RANGE, edges: [tally.end()], unread: [] }
}

const label = (from: number, to: number, multiple: number): FlowLabel => ({ ...edge, from, to, multiple, line: 2 })
const figures = (letters: string, labels: readonly FlowLabel[] | null, of = detectors) =>
  flowReportOf(of, runOf(letters, labels ?? [], of), labels).detectors.map(({ score }) => score)

test('flagged windows in succession on one side are one event, known at the end of the last that it needs', () => {
  const { edges } = runOf('.^^v ^.^^^          ')
  const [run] = edges
  const at = (from: number, to: number, direction: string, windows: number) => ({
    direction,
    started_at: from * WINDOW,
    confirmed_at: (from + windows) * WINDOW,
    ended_at: to * WINDOW,
  })
  expect(run?.byDetector[0]?.events).toEqual([
    at(1, 3, 'above', 1),
    at(3, 4, 'below', 1),
    at(5, 6, 'above', 1),
    at(7, 10, 'above', 1),
  ])
  expect(run?.byDetector[1]?.events).toEqual([at(1, 3, 'above', 2), at(7, 10, 'above', 2)])
  expect(run).toMatchObject({
    measured_seconds: 9 * WINDOW,
    gaps: [
      { from: 4 * WINDOW, to: 5 * WINDOW },
      { from: 10 * WINDOW, to: 20 * WINDOW },
    ],
  })
})

test('recall, precision, F1, delays and shares are those of a count by hand', () => {
  //               01234567890123456789
  const letters = '..^^..vv.^...SSA..S.'
  const labels = [
    label(2 * WINDOW + 100, 4 * WINDOW, 30), // found at the end of its first window
    label(6 * WINDOW, 7 * WINDOW, 30), // what is flagged there is on the other side
    label(7 * WINDOW, 8 * WINDOW, 0.5), // found, by the event that began before it
    label(11 * WINDOW, 12 * WINDOW, 0), // missed
  ]
  const [one, two] = figures(letters, labels)
  expect(one).toEqual({
    edges: 1,
    edge_weeks: (20 * WINDOW) / WEEK,
    unread_seconds: 0,
    events: 4,
    events_per_day: (4 * 86_400) / (20 * WINDOW),
    labels: 4,
    smaller_labels: 0,
    unmeasured_labels: 0,
    found: 2,
    recall: 0.5,
    clear_labels: 3,
    clear_recall: 1 / 3,
    false_alarms: 2,
    precision: 0.5,
    f1: 0.5,
    delay_p50_seconds: 0,
    delay_p95_seconds: 800,
    false_alarms_per_edge_week: (2 * WEEK) / (20 * WINDOW),
    // Five of twenty windows have a label.
    ordinary_windows: 15,
    flagged_windows: 2,
    flagged_windows_share: 2 / 15,
    sparse_trades: 4,
    flagged_sparse_trades: 1,
    flagged_sparse_trades_share: 0.25,
  })
  // It cannot find what takes a single window.
  expect(two).toMatchObject({ events: 2, labels: 1, smaller_labels: 3, found: 1, recall: 1, precision: 1 })
})

test('a label where the edge has no score, even in part, does not count', () => {
  const labels = [label(3 * WINDOW, 5 * WINDOW, 30), { ...label(0, 900, 30), to_token: 'c' }, label(0, 900, 30)]
  expect(figures('^... ^              ', labels)[0]).toMatchObject({
    labels: 1,
    unmeasured_labels: 2,
    found: 1,
    false_alarms: 1,
  })
})

test('without labels nothing is known of recall and precision, but the share that is flagged is', () => {
  expect(figures('^S..                ', null)[0]).toMatchObject({
    events: 1,
    events_per_day: 86_400 / (20 * WINDOW),
    recall: null,
    precision: null,
    false_alarms_per_edge_week: null,
    flagged_windows_share: 0.25,
    flagged_sparse_trades_share: 0,
  })
})

test('the table says what is not read, and what is missing of the labels', () => {
  const run = { ...runOf('^...                '), unread: [{ from: 4 * WINDOW, to: 8 * WINDOW }] }
  expect(SHOWN_FLOWS.table(flowReportOf(detectors, run, null))).toMatch(
    /3600 seconds of the range are not wholly read, the first from 1970-01-01T01:00:00Z to 1970-01-01T02:00:00Z.*no labels/s,
  )
  expect(SHOWN_FLOWS.table(flowReportOf(detectors, run, [label(10 * WINDOW, 11 * WINDOW, 2)]))).toMatch(
    /1 labels lie where their edge has no score/,
  )
  const [head, row] = SHOWN_FLOWS.csv(flowReportOf(detectors, run, null)).split('\n')
  expect(head).toMatch(/^name,measure,limit,min_windows,from,to,.*recall.*flagged_windows_share/)
  expect(row).toMatch(/^one,q_value,0.01,1,1970-01-01T00:00:00Z,/)
})
