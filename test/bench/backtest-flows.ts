// Detectors of flow anomalies on generated markets with known surges, drops and silences, and on the planned swaps of the local
// market, whose labels are its planned bursts.
//   node dist/test/bench/backtest-flows.js [first seed] [number of seeds] [days of history] [hours of the local market]
import type { ClickHouseClient } from '@clickhouse/client'
import { insertFacts } from '../../clickhouse/facts/facts.js'
import { FLOW_WINDOW_SECONDS as WINDOW } from '../../clickhouse/flows/buckets.js'
import type { Flow } from '../../clickhouse/flows/flows.js'
import { planMarket } from '../../local/chain/plan.js'
import { plannedFlows } from '../../local/chain/planned-events.js'
import { type Random, randomFor } from '../../local/chain/random.js'
import { DEFAULT_FLOW_DETECTORS } from '../../tools/backtest/flow-detectors.js'
import { type FlowLabel, parseFlowLabels } from '../../tools/backtest/flow-labels.js'
import { flowReportOf, SHOWN_FLOWS } from '../../tools/backtest/flow-report.js'
import { type FlowRun, runFlowDetectors } from '../../tools/backtest/flow-run.js'
import { plannedSwaps } from '../support/planned-swaps.js'
import { generatedStable } from './generate.js'
import { type Stack, startStack } from './stack.js'

/** The published table is of the seeds from 101 on; no limit of a detector was chosen on any of them. */
const [first = 101, count = 20, days = 8, hours = 24] = process.argv.slice(2).map(Number)
const DAY = 86_400
const START = 1_767_225_600
/** A week of baselines or more, with a day in which edges begin; then the two days that are scored. */
const RANGE = { from: START + days * DAY, to: START + (days + 2) * DAY }
/** The default market of the local chain. */
const LOCAL = { from: START, to: START + hours * 3600 }
const EDGES = 96
const PORTION = 20_000

/** From which to which share of windows an edge is active; as many edges of each kind. */
const ACTIVITIES = { sparse: [0.015, 0.1], medium: [0.1, 0.6], dense: [0.6, 0.99] } as const
type Kind = keyof typeof ACTIVITIES
const KINDS = Object.keys(ACTIVITIES) as Kind[]

/** How long each lasts in windows, by which factor the volume changes, and on which edges it happens. */
const EPISODES = {
  surge: { windows: [1, 8], multiple: [3, 100], kinds: KINDS },
  drop: { windows: [4, 16], multiple: [0.02, 0.3], kinds: ['dense'] },
  silence: { windows: [8, 48], multiple: [0, 0], kinds: ['dense'] },
} as const
type Episode = { name: keyof typeof EPISODES; from: number; to: number; multiple: number }

const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
const between = (random: Random, [least, most]: readonly [number, number]): number =>
  least + (most - least) * random.next()

/** What happens to an edge in the scored days, if anything does. */
function episodeOf(random: Random, kind: Kind): Episode | null {
  if (random.chance(0.5)) return null
  const names = (Object.keys(EPISODES) as Episode['name'][]).filter((name) =>
    (EPISODES[name].kinds as readonly Kind[]).includes(kind),
  )
  const name = random.pick(names)
  const { windows, multiple } = EPISODES[name]
  const from = RANGE.from + random.int(0, 140) * WINDOW
  const factor = multiple[0] === 0 ? 0 : multiple[0] * (multiple[1] / multiple[0]) ** random.next()
  return { name, from, to: from + random.int(windows[0], windows[1]) * WINDOW, multiple: factor }
}

type Market = { flows: Flow[]; labels: FlowLabel[] }

function generated(seed: number): Market {
  const flows: Flow[] = []
  const labels: FlowLabel[] = []
  for (let edge = 0; edge < EDGES; edge++) {
    const random = randomFor(seed, 'flow backtest', edge)
    const kind = KINDS[edge % KINDS.length] as Kind
    const [from_token, to_token] = [generatedStable(2 * edge), generatedStable(2 * edge + 1)]
    const activity = between(random, ACTIVITIES[kind])
    // Log-normal volumes around a size of the edge's own, from 150 USD to a million; half of the edges have days and nights.
    const [size, deviation] = [between(random, [5, 14]), between(random, [0.2, 1.5])]
    const [swing, phase] = [random.chance(0.5) ? 0.6 : 0, random.next()]
    const planned = episodeOf(random, kind)
    if (planned) {
      const { from, to, multiple } = planned
      labels.push({ from_token, to_token, from, to, multiple, line: labels.length + 2 })
    }
    for (let at = START + random.int(0, 95) * WINDOW; at < RANGE.to; at += WINDOW) {
      const episode = planned && planned.from <= at && at < planned.to ? planned : null
      const now = Math.min(0.995, activity * (1 + swing * Math.sin(2 * Math.PI * ((at % DAY) / DAY + phase))))
      const [isActive, distance] = [random.chance(now), normal(random)]
      if (episode?.multiple === 0 || (episode?.name !== 'surge' && !isActive)) continue
      const usd_micros = Math.round((episode?.multiple ?? 1) * Math.exp(size + deviation * distance) * 1e6)
      const block_time = at + 450
      flows.push({
        ...{ kind: 'swap', from_token, to_token, account: '', amount_in_raw: '0', amount_out_raw: '0', path: [] },
        ...{ usd_micros: `${usd_micros}`, remote_chain: null, block_time, tx_hash: `0x${edge}-${at}` },
        ...{ block_number: (at - START) / WINDOW + 1, log_index: edge },
      })
    }
  }
  return { flows, labels }
}

function planned(seed: number): Market {
  const plan = planMarket({ seed, blocks: hours * 60, blockSeconds: 60, liveBlockSeconds: 1, stables: 10 })
  return { flows: plannedSwaps(plan, START), labels: parseFlowLabels(plannedFlows(plan, START)) }
}

type Range = FlowRun['range']

/** Everything is read since the first block. */
const ledgerTo = (to_time: number) => ({
  ranges: [{ family: 'logs' as const, stables: [], from_block: 1, to_block: 100_000, from_time: START, to_time }],
})

async function runSeed(
  clickhouse: ClickHouseClient,
  seed: number,
  { flows, labels }: Market,
  range: Range,
): Promise<FlowRun> {
  for (let from = 0; from < flows.length; from += PORTION)
    await insertFacts(clickhouse, 'flows', flows.slice(from, from + PORTION), `${seed} ${from}`)
  await clickhouse.command({ query: 'OPTIMIZE TABLE flow_buckets FINAL' })
  const options = { ledger: ledgerTo(range.to), labels, stables: null }
  return runFlowDetectors(clickhouse, DEFAULT_FLOW_DETECTORS, range, options, new AbortController().signal)
}

/** Prints the figures of the detectors over the markets of all seeds. */
async function measure(stack: Stack, title: string, marketOf: (seed: number) => Market, range: Range): Promise<void> {
  const all: FlowRun = { range, edges: [], unread: [] }
  const labels: FlowLabel[] = []
  for (let seed = first; seed < first + count; seed++) {
    const { clickhouse } = await stack.database(`seed_${seed}`)
    const market = marketOf(seed)
    const { edges } = await runSeed(clickhouse, seed, market, range)
    // Edges of different markets may have the same addresses: here they are told apart.
    const own = <Edge extends { from_token: string }>(edge: Edge): Edge => ({
      ...edge,
      from_token: `${edge.from_token} of ${seed}`,
    })
    all.edges.push(...edges.map(own))
    labels.push(...market.labels.map(own))
    await clickhouse.command({ query: `DROP DATABASE seed_${seed} SYNC` })
  }
  console.log(`${title}, seeds ${first} to ${first + count - 1}`)
  console.log(`${SHOWN_FLOWS.table(flowReportOf(DEFAULT_FLOW_DETECTORS, all, labels))}\n`)
}

const stack = await startStack()
try {
  await measure(stack, `the local market, ${hours} hours`, planned, LOCAL)
  await measure(stack, `${EDGES} generated edges, two days after ${days} days`, generated, RANGE)
} finally {
  await stack.close()
}
