import { pino } from 'pino'
import { expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { allStablecoins } from '../../../../clickhouse/stablecoins/stablecoins.js'
import { plannedBreaks } from '../../../../local/chain/planned-events.js'
import { randomFor } from '../../../../local/chain/random.js'
import { type OracleEvent, type OracleSample, pegEventsOracle } from '../../../../oracle/peg-events.js'
import { DEFAULT_DETECTORS } from '../../../../tools/backtest/detectors.js'
import { parseLabels } from '../../../../tools/backtest/labels.js'
import { pricedStables } from '../../../../tools/backtest/prices.js'
import { reportOf } from '../../../../tools/backtest/report.js'
import { runDetectors } from '../../../../tools/backtest/run.js'
import { useStillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import { eventsOf, PEG_EVENTS_JOB as JOB, storedDepths, withPublication } from '../../../support/peg-events.js'
import { test } from '../../../support/services.js'
import { runSlots, slotsOf } from '../../../support/slots.js'

// Four hours with a block every twenty seconds, so that each slot has several.
const BLOCKS = 720
const BLOCK_SECONDS = 20
const INSTANTS = 200

const chain = useStillChain({ historyBlocks: BLOCKS, blockSeconds: BLOCK_SECONDS, seed: 4 })

test('the planned breaks of a market are found and no others, and at any moment they match the samples', {
  timeout: 600_000,
}, async ({ clickhouseEnv, clickhouse }) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const result = await clickhouse.query({
    query: `
      SELECT stable, toUnixTimestamp(block_time) AS block_time, toUInt32(block_number) AS block_number, sell_micros
      FROM peg_samples ORDER BY stable, block_number`,
    format: 'JSONEachRow',
  })
  const samples = await result.json<OracleSample & { stable: string }>()
  const depths = await storedDepths(clickhouse)
  const [first, last] = [samples[0]?.block_time ?? 0, samples.at(-1)?.block_time ?? 0]
  const slots = slotsOf(JOB, first, last)
  await runSlots(clickhouse, JOB, slots)
  const horizon = (slots.at(-1)?.at.getTime() ?? 0) / 1000
  const now = new Date((last + 30) * 1000)
  const app = await buildApp({ clickhouse, now: () => now, logger: pino({ level: 'silent' }) })
  const stables = await allStablecoins(clickhouse, { before_block: BLOCKS + 1 })
  const { plan } = chain

  // The plan knows neither the node nor the database. Only breaks leave the allowed range; a blip does so only for a
  // short time.
  const outcomes = new Map<string, number>()
  for (const { stable, symbol } of stables) {
    const planned = plan
      .episodes(1, BLOCKS)
      .flatMap((episode) => ('sizeBps' in episode && episode.stable === symbol ? [episode] : []))
      .flatMap(({ fromBlock, toBlock, sizeBps }) => {
        const duration_seconds = (toBlock - fromBlock) * BLOCK_SECONDS
        const direction = sizeBps < 0 ? 'below' : 'above'
        const known = { direction, started_block: fromBlock, ended_block: toBlock, duration_seconds, ongoing: false }
        const max_deviation_bps = Math.abs(sizeBps)
        const isMild = duration_seconds >= 300
        const isSevere = max_deviation_bps > 50 && duration_seconds >= 60
        return [
          ...(isMild ? [{ severity: 'mild', ...known, max_deviation_bps }] : []),
          ...(isSevere ? [{ severity: 'severe', ...known, max_deviation_bps }] : []),
        ]
      })
      .reverse()
    const found = await eventsOf(app, stable)
    expect(found, symbol).toMatchObject(planned)
    expect(found).toHaveLength(planned.length)
    for (const { severity } of found) outcomes.set(severity, (outcomes.get(severity) ?? 0) + 1)
  }
  expect(outcomes.get('mild')).toBeGreaterThan(1)
  expect(outcomes.get('severe')).toBeGreaterThan(0)
  const kinds = new Set(plan.episodes(1, BLOCKS).map(({ kind }) => kind))
  expect([...kinds]).toEqual(expect.arrayContaining(['dry', 'blip', 'pause']))

  // The published tracks, run over the stored samples, find every planned break too, also where it is on another stable's way
  // to pathUSD.
  const genesis = (samples[0]?.block_time ?? 0) - (samples[0]?.block_number ?? 0) * BLOCK_SECONDS
  const labels = parseLabels(plannedBreaks(plan, genesis))
  const range = { from: first - 1, to: last }
  const runs = []
  for (const stable of await pricedStables(clickhouse, range))
    runs.push(await runDetectors(clickhouse, DEFAULT_DETECTORS, { stable, ...range }, new AbortController().signal))
  for (const { detector, score } of reportOf(DEFAULT_DETECTORS, runs, labels, range).detectors) {
    const { recall, false_alarms, labels: expected } = score
    expect({ recall, false_alarms }, detector.name).toEqual({ recall: 1, false_alarms: 0 })
    expect(expected).toBeGreaterThan(1)
  }

  const published = await withPublication<OracleEvent>(clickhouse)
  const random = randomFor(4, 'instants')
  const eventful = stables.filter(({ symbol }) => plan.episodes(1, BLOCKS).some(({ stable }) => stable === symbol))
  let events = 0
  for (let i = 0; i < INSTANTS; i++) {
    const { stable, symbol } = random.pick(random.chance(0.8) ? eventful : stables)
    const own = samples.filter((sample) => sample.stable === stable)
    const asOf = random.int(first, last + 30)
    const depth = depths.filter((sample) => sample.stable === stable)
    const expected = pegEventsOracle(own, Math.min(asOf, horizon), depth)
    expect(await eventsOf(app, stable, `?as_of=${asOf}`), `${symbol} at ${asOf}`).toEqual(published(stable, expected))
    events += expected.length
  }
  expect(events).toBeGreaterThan(50)
  await app.close()
})
