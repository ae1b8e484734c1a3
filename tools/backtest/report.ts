import { stringify } from 'csv-stringify/sync'
import type { FoundBreak } from '../../clickhouse/peg/hysteresis.js'
import { table } from '../../process/command-line.js'
import { isoSeconds } from '../../process/instants.js'
import type { Detector } from './detectors.js'
import type { Judgement } from './judge.js'
import type { Label } from './labels.js'
import type { Range } from './prices.js'
import type { StableRun } from './run.js'
import { type Score, scoreOf } from './score.js'

export const FORMATS = ['table', 'json', 'csv'] as const
export type Format = (typeof FORMATS)[number]

export const iso = (seconds: number): string => isoSeconds(new Date(seconds * 1000))

const shown = ({ started_at, confirmed_at, ended_at, seen: _, ...pegBreak }: FoundBreak) => ({
  started_at: iso(started_at),
  confirmed_at: iso(confirmed_at),
  ended_at: ended_at === null ? null : iso(ended_at),
  ...pegBreak,
})

export type Report = ReturnType<typeof reportOf>

/** A backtest as it is printed as JSON. `runs` has, for each stable, what each detector found, in the order of `detectors`. */
export function reportOf(
  detectors: readonly Detector[],
  runs: readonly (readonly StableRun[])[],
  labels: readonly Label[] | null,
  range: Range,
) {
  return {
    from: iso(range.from),
    to: iso(range.to),
    detectors: detectors.map((detector, i) => {
      const detectorRuns = runs.map((run) => run[i] as StableRun)
      return {
        detector,
        score: scoreOf(detector, detectorRuns, labels, range),
        breaks: detectorRuns.flatMap(({ stable, breaks }) =>
          breaks.map((pegBreak) => ({ stable, ...shown(pegBreak) })),
        ),
        gaps: detectorRuns.flatMap(({ stable, gaps }) =>
          gaps.map(({ from, to }) => ({ stable, from: iso(from), to: iso(to) })),
        ),
      }
    }),
  }
}

/** A figure of a table. */
export const text = (value: number | null, digits = 2): string =>
  value === null ? '-' : Number.isInteger(value) ? `${value}` : value.toFixed(digits)

/** A column of a table: its head, and what it has of a score. */
export type Column<Figures> = readonly [string, (score: Figures) => string]

/** What every table has of how detectors agree with labels. */
export const JUDGED_COLUMNS: readonly Column<Pick<Score, keyof Judgement | 'events'>>[] = [
  ['events', ({ events }) => text(events)],
  ['labels', ({ labels }) => text(labels)],
  ['found', ({ found }) => text(found)],
  ['recall', ({ recall }) => text(recall)],
  ['clear', ({ clear_recall }) => text(clear_recall)],
  ['precision', ({ precision }) => text(precision)],
  ['F1', ({ f1 }) => text(f1)],
  ['delay p50', ({ delay_p50_seconds: delay }) => (delay === null ? '-' : `${delay} s`)],
  ['p95', ({ delay_p95_seconds: delay }) => (delay === null ? '-' : `${delay} s`)],
]

const COLUMNS: readonly Column<Score>[] = [
  ...JUDGED_COLUMNS,
  ['false/week', ({ false_alarms_per_stable_week: alarms }) => text(alarms, 3)],
]

/** A table of detectors, and what is to be known about it. */
export function tableOf<Figures>(
  columns: readonly Column<Figures>[],
  rows: readonly { detector: { name: string }; score: Figures }[],
  notes: readonly (string | boolean | 0 | null)[],
): string {
  const head = ['detector', ...columns.map(([name]) => name)]
  const body = rows.map(({ detector, score }) => [detector.name, ...columns.map(([, show]) => show(score))])
  return [table([head, ...body]), '', ...notes.filter((note) => typeof note === 'string')].join('\n')
}

export const NO_LABELS = 'no labels: neither recall nor precision is known (--labels)'

function tableText({ from, to, detectors }: Report): string {
  const [first] = detectors
  const { stables, stable_weeks, missing_seconds, unmeasured_labels } = (first as (typeof detectors)[number]).score
  return tableOf(COLUMNS, detectors, [
    `${stables} stables, ${stable_weeks.toFixed(2)} stable-weeks measured from ${from} to ${to}`,
    missing_seconds > 0 && `${missing_seconds} seconds of them are not measured: no detector can find anything there`,
    unmeasured_labels && `${unmeasured_labels} labels lie where nothing is measured, and do not count`,
    unmeasured_labels === null && NO_LABELS,
  ])
}

/** A line for each detector: its settings, the range and its figures. */
export const csvText = ({
  from,
  to,
  detectors,
}: {
  from: string
  to: string
  detectors: readonly { detector: object; score: object }[]
}): string =>
  stringify(
    detectors.map(({ detector, score }) => ({ ...detector, from, to, ...score })),
    { header: true },
  ).trimEnd()

/** A backtest as text in a format. */
export const SHOWN: Record<Format, (report: Report) => string> = {
  table: tableText,
  json: (report) => JSON.stringify(report, null, 2),
  csv: csvText,
}
