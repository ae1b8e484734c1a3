import { FLOW_WINDOW_SECONDS } from '../../clickhouse/flows/buckets.js'
import { DAY_SECONDS, WEEK_SECONDS } from '../../process/instants.js'
import type { FlowDetector } from './flow-detectors.js'
import { edgeKey, type FlowLabel } from './flow-labels.js'
import type { Counts, EdgeRun, FlowEvent, FlowRun } from './flow-run.js'
import { type Judgement, judge, ratio, UNJUDGED } from './judge.js'
import type { Range } from './prices.js'
import { type Column, csvText, type Format, iso, JUDGED_COLUMNS, NO_LABELS, tableOf, text } from './report.js'

/** A label of at least ten times the usual volume, or at most a tenth, is clear. */
const CLEAR_MULTIPLE = 10

/** The figures of a detector of flow anomalies. Null: there was nothing to compute it from. */
export type FlowFigures = { [Figure in keyof Judgement]: Judgement[Figure] | null } & {
  edges: number
  edge_weeks: number
  /** Seconds of the range whose blocks are not all read: no edge is measured there. */
  unread_seconds: number
  events: number
  /** In a day of the range that is wholly read. */
  events_per_day: number | null
  false_alarms_per_edge_week: number | null
  /** Measured windows outside the labels, and how many of them are flagged. */
  ordinary_windows: number
  flagged_windows: number
  flagged_windows_share: number | null
  /** Those with a flow on an edge that is active in at most a tenth of the windows of its baseline. */
  sparse_trades: number
  flagged_sparse_trades: number
  flagged_sparse_trades_share: number | null
}

const isAbout = ({ direction }: FlowEvent, { multiple }: FlowLabel): boolean => (direction === 'above') === multiple > 1

const isClear = ({ multiple }: FlowLabel): boolean => multiple >= CLEAR_MULTIPLE || multiple <= 1 / CLEAR_MULTIPLE

/** How many windows a label touches. */
const windowsOf = ({ from, to }: Range): number =>
  Math.ceil(to / FLOW_WINDOW_SECONDS) - Math.floor(from / FLOW_WINDOW_SECONDS)

const lengthOf = (parts: readonly Range[]): number => parts.reduce((sum, { from, to }) => sum + to - from, 0)

const totalOf = (counts: readonly Counts[]): Counts => ({
  windows: counts.reduce((sum, { windows }) => sum + windows, 0),
  sparse_trades: counts.reduce((sum, { sparse_trades }) => sum + sparse_trades, 0),
})

/** The figures of the detector at a place of the list that was run; `labels` are null if nothing is known. */
function figuresOf(
  detector: FlowDetector,
  at: number,
  { range, edges, unread }: FlowRun,
  labels: readonly FlowLabel[] | null,
): FlowFigures {
  const resultOf = ({ byDetector }: EdgeRun) => byDetector[at] as EdgeRun['byDetector'][number]
  const measured = edges.reduce((sum, { measured_seconds }) => sum + measured_seconds, 0)
  const judgement =
    labels &&
    judge(
      edges.map((edge) => ({
        subject: edgeKey(edge.from_token, edge.to_token),
        events: resultOf(edge).events,
        gaps: edge.gaps,
      })),
      labels.map((label) => ({ subject: edgeKey(label.from_token, label.to_token), ...label })),
      range,
      { isExpected: (label) => windowsOf(label) >= detector.min_windows, isClear, isAbout },
    )
  const ordinary = totalOf(edges.map((edge) => edge.counts))
  const flagged = totalOf(edges.map((edge) => resultOf(edge).flagged))
  const events = edges.reduce((sum, edge) => sum + resultOf(edge).events.length, 0)
  return {
    edges: edges.length,
    edge_weeks: measured / WEEK_SECONDS,
    unread_seconds: lengthOf(unread),
    events,
    events_per_day: ratio(events * DAY_SECONDS, range.to - range.from - lengthOf(unread)),
    ...(judgement ?? UNJUDGED),
    false_alarms_per_edge_week: judgement && ratio(judgement.false_alarms * WEEK_SECONDS, measured),
    ordinary_windows: ordinary.windows,
    flagged_windows: flagged.windows,
    flagged_windows_share: ratio(flagged.windows, ordinary.windows),
    sparse_trades: ordinary.sparse_trades,
    flagged_sparse_trades: flagged.sparse_trades,
    flagged_sparse_trades_share: ratio(flagged.sparse_trades, ordinary.sparse_trades),
  }
}

const shownRange = ({ from, to }: Range) => ({ from: iso(from), to: iso(to) })

export type FlowReport = ReturnType<typeof flowReportOf>

/** A backtest of flow anomalies as it is printed as JSON. */
export function flowReportOf(detectors: readonly FlowDetector[], run: FlowRun, labels: readonly FlowLabel[] | null) {
  return {
    ...shownRange(run.range),
    unread: run.unread.map(shownRange),
    detectors: detectors.map((detector, at) => ({
      detector,
      score: figuresOf(detector, at, run, labels),
      events: run.edges.flatMap(({ from_token, to_token, byDetector }) =>
        (byDetector[at] as EdgeRun['byDetector'][number]).events.map(
          ({ direction, started_at, confirmed_at, ended_at }) => ({
            from_token,
            to_token,
            direction,
            started_at: iso(started_at),
            confirmed_at: iso(confirmed_at),
            ended_at: iso(ended_at),
          }),
        ),
      ),
    })),
  }
}

const percent = (share: number | null): string => (share === null ? '-' : `${(100 * share).toFixed(3)} %`)

const COLUMNS: readonly Column<FlowFigures>[] = [
  ...JUDGED_COLUMNS,
  ['a day', ({ events_per_day }) => text(events_per_day, 1)],
  ['false/week', ({ false_alarms_per_edge_week: alarms }) => text(alarms, 3)],
  ['windows flagged', ({ flagged_windows_share: share }) => percent(share)],
  ['sparse trades', ({ flagged_sparse_trades_share: share }) => percent(share)],
]

function tableText({ from, to, unread, detectors }: FlowReport): string {
  const [first] = detectors
  const { edges, edge_weeks, unread_seconds, ordinary_windows, sparse_trades, unmeasured_labels } = (
    first as (typeof detectors)[number]
  ).score
  const [gap] = unread
  return tableOf(COLUMNS, detectors, [
    `${edges} edges, ${edge_weeks.toFixed(2)} edge-weeks measured from ${from} to ${to}`,
    `outside the labels ${ordinary_windows} windows, ${sparse_trades} of them with a flow on an edge that is active in at most 10 % of windows`,
    gap !== undefined &&
      `${unread_seconds} seconds of the range are not wholly read, the first from ${gap.from} to ${gap.to}: no detector can find anything there`,
    unmeasured_labels && `${unmeasured_labels} labels lie where their edge has no score, and do not count`,
    unmeasured_labels === null && NO_LABELS,
  ])
}

/** A backtest of flow anomalies as text in a format. */
export const SHOWN_FLOWS: Record<Format, (report: FlowReport) => string> = {
  table: tableText,
  json: (report) => JSON.stringify(report, null, 2),
  csv: csvText,
}
