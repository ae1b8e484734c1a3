import { expect } from 'vitest'
import { readLedger } from '../../../../clickhouse/chain/ledger.js'
import type { Episode } from '../../../../local/chain/episodes.js'
import { plannedFlows } from '../../../../local/chain/planned-events.js'
import { flowAnomaliesOracle, scoreOracle } from '../../../../oracle/flow-anomalies.js'
import { DEFAULT_FLOW_DETECTORS } from '../../../../tools/backtest/flow-detectors.js'
import { checkFlowLabels, edgesBefore, parseFlowLabels } from '../../../../tools/backtest/flow-labels.js'
import { flowReportOf } from '../../../../tools/backtest/flow-report.js'
import { runFlowDetectors } from '../../../../tools/backtest/flow-run.js'
import { test as base } from '../../../support/app.js'
import {
  anomaliesOf,
  expectAnomalies,
  FLOW_ANOMALIES_JOB as JOB,
  storedFlows,
} from '../../../support/flow-anomalies.js'
import { type GrowingMarket, growingMarket } from '../../../support/growing-market.js'
import { ingestedTo, startIngest } from '../../../support/ingest.js'
import { runPass, slotsOf } from '../../../support/slots.js'

const WINDOW = 900
const BLOCK_SECONDS = 300

/** Forty hours, long enough for some edges to have the ten observations that a score needs. */
const BLOCKS = 480

const test = base.extend<{ chain: GrowingMarket }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  chain: async ({}, use) => {
    // Its blocks are at the same places in their windows in every run.
    const chain = await growingMarket({ seed: 2, blocks: BLOCKS, blockSeconds: BLOCK_SECONDS, stables: 9 })
    await chain.mineTo(BLOCKS)
    await use(chain)
    await chain.remove()
  },
})

test('every planned burst of a market is found unless only an earlier one hides it, and the share of other findings is printed', {
  timeout: 900_000,
}, async ({ app, clickhouse, clickhouseEnv, chain }) => {
  const ingest = startIngest(clickhouseEnv, chain.rpcUrl)
  await ingestedTo(clickhouse, BLOCKS, ingest, 500)
  await ingest.kill('SIGTERM')
  const result = await clickhouse.query({
    query:
      'SELECT toUInt32(block_number) AS number, toUnixTimestamp(block_time) AS time FROM blocks ORDER BY blocks.block_number',
    format: 'JSONEachRow',
  })
  const blocks = await result.json<{ number: number; time: number }>()
  const timeOf = new Map(blocks.map(({ number, time }) => [number, time]))
  const [start, end] = [timeOf.get(1) ?? 0, timeOf.get(BLOCKS) ?? 0]
  await runPass(clickhouse, JOB, slotsOf(JOB, start, end))

  const flows = await storedFlows(clickhouse)
  const found = await anomaliesOf(app)
  expectAnomalies(found, flowAnomaliesOracle(flows, start - WINDOW, Math.floor(end / WINDOW) * WINDOW), 'market')

  const { plan } = chain
  const edges = new Set(flows.map(({ from_token, to_token }) => `${from_token} ${to_token}`))
  const flowsOf = (edge: string) => flows.filter((flow) => `${flow.from_token} ${flow.to_token}` === edge)
  const burstWindows = new Set<string>()
  let [judged, hits] = [0, 0]
  const inBurst = (edge: string, time: number) => burstWindows.has(`${edge} ${Math.floor(time / WINDOW) * WINDOW}`)
  const bursts = plan.episodes(0, BLOCKS + 1).filter((e): e is Episode & { kind: 'burst' } => e.kind === 'burst')
  for (const { stable, to, fromBlock, toBlock } of bursts) {
    const edge = `${plan.stable(stable).address} ${plan.stable(to).address}`
    for (let block = fromBlock; block < toBlock; block++) {
      const window = Math.floor((timeOf.get(block) ?? 0) / WINDOW) * WINDOW
      if (burstWindows.has(`${edge} ${window}`) || window + WINDOW > end) continue
      const about = `${stable} to ${to} in block ${block}`
      const own = flowsOf(edge)
      const score = scoreOracle(own, window)
      // As if no burst had been before it.
      const alone = scoreOracle(
        own.filter(({ block_time }) => !inBurst(edge, block_time)),
        window,
      )
      burstWindows.add(`${edge} ${window}`)
      if (score === null) continue
      judged++
      expect(score.z_score, about).toBeGreaterThan(3)
      if (!score.isAnomaly) {
        // Bursts before it make large windows usual; nothing else may. Without them, too few windows may be left for a score.
        if (alone !== null) expect(alone.isAnomaly, about).toBe(true)
        continue
      }
      hits++
      expect(found.map((one) => `${one.from_token} ${one.to_token} ${Date.parse(one.window_start) / 1000}`)).toContain(
        `${edge} ${window}`,
      )
    }
  }
  expect(judged).toBeGreaterThanOrEqual(3)
  expect(hits).toBeGreaterThanOrEqual(3)

  let scored = 0
  for (const edge of edges) {
    const own = flowsOf(edge)
    for (let window = Math.ceil(start / WINDOW) * WINDOW; window + WINDOW <= end; window += WINDOW)
      if (!burstWindows.has(`${edge} ${window}`) && scoreOracle(own, window) !== null) scored++
  }
  const others = found.filter(
    ({ from_token, to_token, window_start }) =>
      !burstWindows.has(`${from_token} ${to_token} ${Date.parse(window_start) / 1000}`),
  )
  console.log(
    `${hits} of ${judged} scored windows of ${bursts.length} planned bursts found; outside them ${others.length} of ${scored} scored windows are anomalies: ${((100 * others.length) / scored).toFixed(2)} %`,
  )
  expect(scored).toBeGreaterThan(100)

  // A backtest with the labels that the chain writes finds the same windows.
  const range = { from: start - BLOCK_SECONDS, to: end + 1 }
  const labels = parseFlowLabels(plannedFlows(plan, range.from))
  checkFlowLabels(labels, range, await edgesBefore(clickhouse, range))
  const { ledger } = await readLedger(clickhouse, {})
  const options = { ledger, labels, stables: null }
  const run = await runFlowDetectors(clickhouse, DEFAULT_FLOW_DETECTORS, range, options, new AbortController().signal)
  const { detectors } = flowReportOf(DEFAULT_FLOW_DETECTORS, run, labels)
  const starts = detectors[0]?.events.flatMap(({ from_token, to_token, started_at, ended_at }) =>
    Array.from({ length: (Date.parse(ended_at) - Date.parse(started_at)) / 1000 / WINDOW }, (_, i) =>
      [from_token, to_token, Date.parse(started_at) / 1000 + i * WINDOW].join(' '),
    ),
  )
  expect(starts?.sort()).toEqual(
    found
      .map(({ from_token, to_token, window_start }) =>
        [from_token, to_token, Date.parse(window_start) / 1000].join(' '),
      )
      .sort(),
  )
  for (const { detector, score } of detectors)
    console.log(
      `${detector.name}: ${score.found} of ${score.labels} bursts, ${score.false_alarms} false alarms, ${score.unmeasured_labels} not measured`,
    )
  expect(detectors[0]?.score.found).toBeGreaterThanOrEqual(3)
})
