import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { readLedger } from '../../../../clickhouse/chain/ledger.js'
import { planMarket } from '../../../../local/chain/plan.js'
import { plannedFlows } from '../../../../local/chain/planned-events.js'
import { randomFor } from '../../../../local/chain/random.js'
import { flowAnomaliesOracle } from '../../../../oracle/flow-anomalies.js'
import { flowBacktestOracle } from '../../../../oracle/flow-backtest.js'
import { DEFAULT_FLOW_DETECTORS, FlowDetectors } from '../../../../tools/backtest/flow-detectors.js'
import {
  checkFlowLabels,
  edgesBefore,
  type FlowLabel,
  parseFlowLabels,
} from '../../../../tools/backtest/flow-labels.js'
import { flowReportOf } from '../../../../tools/backtest/flow-report.js'
import { runFlowDetectors } from '../../../../tools/backtest/flow-run.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { FLOW_ANOMALIES_JOB as JOB, storedFlows } from '../../../support/flow-anomalies.js'
import { wildFlows } from '../../../support/flow-market.js'
import { addFlows } from '../../../support/flow-scores.js'
import { plannedSwaps } from '../../../support/planned-swaps.js'
import { flow, stableAddress } from '../../../support/rows.js'
import { test } from '../../../support/services.js'
import { runSlots, slotsOf } from '../../../support/slots.js'

const PROGRAM = new URL('../../../../dist/tools/backtest/backtest-main.js', import.meta.url).pathname
const WINDOW = 900
const DAY = 86_400
/** The end of a window. */
const END = 1_780_000_200 - (1_780_000_200 % WINDOW)
const never = new AbortController().signal
const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/** The backtest as it is printed as JSON. */
async function backtest(
  clickhouse: ClickHouseClient,
  range: { from: number; to: number },
  {
    labels = null,
    detectors = DEFAULT_FLOW_DETECTORS,
    stables = null,
  }: {
    labels?: readonly FlowLabel[] | null
    detectors?: typeof DEFAULT_FLOW_DETECTORS
    stables?: readonly string[] | null
  } = {},
) {
  const { ledger } = await readLedger(clickhouse, {})
  const run = await runFlowDetectors(clickhouse, detectors, range, { ledger, labels: labels ?? [], stables }, never)
  return flowReportOf(detectors, run, labels)
}

test('every figure is the one that follows from the raw flows', { timeout: 300_000 }, async ({ clickhouse }) => {
  const detectors = FlowDetectors.parse([
    ...DEFAULT_FLOW_DETECTORS,
    { name: 'z_long', measure: 'z_score', limit: 3, min_windows: 2 },
    { name: 'q_near', measure: 'q_value', limit: 0.8 },
    { name: 'robust_near', measure: 'robust_z', limit: 1.5 },
  ])
  const random = randomFor(5, 'labels')
  const windows = Array.from({ length: (9 * DAY) / WINDOW }, (_, i) => END - 9 * DAY + i * WINDOW)
  const rare = [21, 22, 23].flatMap((to) =>
    windows
      .filter(() => random.chance(0.07))
      .map((at) => flow(20, to, at + 450, { usd_micros: `${random.int(1_000_000, 9_000_000)}` })),
  )
  await addFlows(clickhouse, [...wildFlows(5, END - 9 * DAY, END), ...rare], { until: END })
  const flows = await storedFlows(clickhouse)
  const range = { from: END - 40 * WINDOW, to: END }
  // Some labels are where something was found, some anywhere.
  const edges = [...new Set(flows.map(({ from_token, to_token }) => `${from_token} ${to_token}`))].filter(
    (edge) => !edge.endsWith(' '),
  )
  const found = flowAnomaliesOracle(flows, range.from, range.to).flatMap(
    ({ from_token, to_token, kind, window_start }) =>
      random.chance(0.6)
        ? [{ edge: `${from_token} ${to_token}`, at: Date.parse(window_start) / 1000, isSurge: kind === 'surge' }]
        : [],
  )
  const anywhere = Array.from({ length: 20 }, () => ({
    edge: random.pick(edges),
    at: random.int(range.from, range.to - 8000),
    isSurge: random.chance(0.7),
  }))
  const rows = [...found, ...anywhere].map(({ edge, at, isSurge }, i) => {
    const from = at + random.int(0, 600)
    const to = Math.min(range.to, from + random.int(60, 7000))
    const multiple = isSurge ? random.pick([2, 10, 40]) : random.pick([0, 0.1, 0.5])
    const [from_token = '', to_token = ''] = edge.split(' ')
    return { from_token, to_token, from, to, multiple, line: i + 2 }
  })
  const apart = rows.filter(
    (one, i) =>
      !rows
        .slice(0, i)
        .some(
          (other) =>
            other.from_token === one.from_token &&
            other.to_token === one.to_token &&
            other.from < one.to &&
            other.to > one.from,
        ),
  )
  const report = await backtest(clickhouse, range, { labels: apart, detectors })
  const expected = flowBacktestOracle(flows, detectors, apart, range)
  for (const [i, { detector, score }] of report.detectors.entries()) {
    const { f1, ...exact } = expected[i] as (typeof expected)[number]
    expect(score, detector.name).toMatchObject(exact)
    expect(score.f1, detector.name).toEqual(f1 === null ? null : expect.closeTo(f1, 12))
  }
  const near = report.detectors.at(-1)
  for (const figure of ['found', 'false_alarms', 'labels', 'clear_labels', 'sparse_trades', 'flagged_windows'] as const)
    expect(near?.score[figure], figure).toBeGreaterThan(2)
  expect(report.detectors.some(({ score }) => (score.smaller_labels ?? 0) > 0)).toBe(true)
  // A part of the edges, judged among all of them.
  const one = stableAddress(5)
  const q = detectors.filter(({ name }) => name === 'q_near')
  const [part] = (await backtest(clickhouse, range, { detectors: q, stables: [one] })).detectors
  const all = report.detectors.find(({ detector }) => detector.name === 'q_near')
  expect(part?.events).toEqual(all?.events.filter(({ from_token, to_token }) => [from_token, to_token].includes(one)))
  expect(part?.events.length).toBeLessThan(all?.events.length as number)
})

test('what is announced is what the job announces', { timeout: 300_000 }, async ({ clickhouse }) => {
  await addFlows(clickhouse, wildFlows(7, END - 3 * DAY, END), { until: END })
  const range = { from: END - 40 * WINDOW, to: END }
  await runSlots(clickhouse, JOB, slotsOf(JOB, range.from, range.to))
  const result = await clickhouse.query({
    query: `
      SELECT from_token, to_token, if(kind = 'surge', 'above', 'below') AS direction, toUnixTimestamp(window_start) AS start
      FROM flow_anomalies FINAL WHERE window_start >= toDateTime(${range.from}, 'UTC') AND window_start < toDateTime(${range.to}, 'UTC')
      ORDER BY ALL`,
    format: 'JSONEachRow',
  })
  const announced = await result.json<{ from_token: string; to_token: string; direction: string; start: number }>()
  const { detectors } = await backtest(clickhouse, range, { detectors: DEFAULT_FLOW_DETECTORS.slice(0, 1) })
  const windows = (detectors[0]?.events ?? []).flatMap(({ started_at, confirmed_at: _, ended_at, ...event }) => {
    const [first, last] = [Date.parse(started_at) / 1000, Date.parse(ended_at) / 1000]
    return Array.from({ length: (last - first) / WINDOW }, (__, i) => ({ ...event, start: first + i * WINDOW }))
  })
  const inOrder = (a: object, b: object): number => (Object.values(a).join() < Object.values(b).join() ? -1 : 1)
  expect(windows.sort(inOrder)).toEqual(announced.sort(inOrder))
  expect(windows.length).toBeGreaterThan(2)
})

test('the planned bursts of a market are its labels', { timeout: 300_000 }, async ({ clickhouse }) => {
  const plan = planMarket({ seed: 4, blocks: 3 * 1440, blockSeconds: 60, liveBlockSeconds: 1, stables: 9 })
  const range = { from: END - 60 * WINDOW, to: END }
  const madeAt = END - 3 * DAY
  await addFlows(clickhouse, plannedSwaps(plan, madeAt), { until: END })
  const labels = parseFlowLabels(plannedFlows(plan, madeAt)).filter(({ from }) => from >= range.from)
  checkFlowLabels(labels, range, await edgesBefore(clickhouse, range))
  const { detectors, unread } = await backtest(clickhouse, range, { labels })
  expect(unread).toEqual([])
  const [announced, z, robust, q] = detectors.map(({ score }) => score)
  for (const score of [announced, z, robust, q]) {
    expect((score?.labels ?? 0) + (score?.unmeasured_labels ?? 0)).toBe(labels.length)
    expect(score?.labels).toBeGreaterThan(5)
  }
  // Only other bursts on its edge, which are part of its baseline, hide a burst from z. Volumes of this market are spread so widely
  // that one alone is not unusual; that many transactions are.
  expect(announced?.recall).toBeGreaterThan(0.5)
  expect(robust?.recall).toBeGreaterThanOrEqual(z?.recall as number)
  expect(robust?.precision).toBeGreaterThan(0.9)
  expect(z?.precision).toBeLessThan(0.15)
  expect(z?.flagged_windows).toBeGreaterThan(announced?.flagged_windows as number)
  expect(q?.flagged_windows_share).toBeLessThan(0.003)
})

test('the program says what is not read, names bad labels by their line, and writes nothing', {
  timeout: 300_000,
}, async ({ clickhouse, clickhouseEnv }) => {
  // One trade in a window of about 100 USD; once of ten thousand, and some time later blocks that are missing.
  const start = END - 26 * WINDOW
  const surge = start + 15 * WINDOW
  const gap = { from: start + 18 * WINDOW, to: start + 22 * WINDOW }
  const trades = Array.from({ length: 26 }, (_, i) => {
    const at = start + i * WINDOW + 450
    return flow(1, 2, at, { usd_micros: `${at === surge + 450 ? 10_000_000_000 : 95_000_000 + (i % 11) * 1_000_000}` })
  })
  const before = trades.filter(({ block_time }) => block_time < gap.from)
  const after = trades.filter(({ block_time }) => block_time > gap.to)
  await addFlows(clickhouse, before, { until: gap.from + 1 })
  await addFlows(clickhouse, after, { until: END, firstBlock: before.length + 500 })
  const state = await fingerprint(clickhouse)
  const folder = await mkdtemp(join(tmpdir(), 'backtest-'))
  try {
    const labels = join(folder, 'labels.csv')
    const run = async (...args: string[]): Promise<string> => {
      const range = ['--flows', '--from', `${start}`, '--to', `${END}`]
      return (await promisify(execFile)(process.execPath, [PROGRAM, ...range, ...args], { env: clickhouseEnv })).stdout
    }
    const [a, b] = [stableAddress(1), stableAddress(2)]
    const write = (...rows: string[]): Promise<void> =>
      writeFile(labels, ['from_token,to_token,from,to,multiple', ...rows].join('\n'))

    await write(`${a},${b},${iso(surge)},${iso(surge + WINDOW)},100`, `${a},${b},${gap.from},${gap.from + 900},0`)
    const report = JSON.parse(await run('--labels', labels, '--format', 'json'))
    // The first block after the gap is in the middle of a window.
    expect(report).toMatchObject({
      from: iso(start),
      to: iso(END),
      unread: [{ from: iso(gap.from), to: iso(gap.to + WINDOW) }],
    })
    // Up to the gap all is read since the first block, and ten windows are observations; after it, the edge would need a week.
    for (const { score } of report.detectors)
      expect(score).toMatchObject({
        ...{ edges: 1, edge_weeks: (8 * WINDOW) / (7 * DAY), unread_seconds: 5 * WINDOW },
        ...{ labels: 1, unmeasured_labels: 1, found: 1, recall: 1, delay_p50_seconds: WINDOW },
      })
    const detectors = join(folder, 'detectors.json')
    await writeFile(detectors, JSON.stringify([{ name: 'q_only', measure: 'q_value', limit: 0.01 }]))
    expect(await run('--labels', labels, '--detectors', detectors)).toMatch(
      /q_only +1 +1 +1 +1 .*4500 seconds of the range are not wholly read.*1 labels lie where their edge has no score/s,
    )

    await write(`${a},${b},${surge},${surge + 900},9`, `${b},${a},${surge},${surge + 900},9`, `${a},${b},100,200,9`)
    const refused = run('--labels', labels)
    await expect(refused).rejects.toThrow(/labels, line 3: no flow of this edge is stored/)
    await expect(refused).rejects.toThrow(/labels, line 4: is not within the range/)
    await expect(run('--to', `${start + 2 * WINDOW}`)).rejects.toThrow(/no edge had a score in this range/)
  } finally {
    await rm(folder, { recursive: true })
  }
  expect(await fingerprint(clickhouse)).toEqual(state)
})
