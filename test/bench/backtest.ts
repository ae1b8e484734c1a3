// Detectors of peg breaks on generated markets with known breaks.
//   node dist/test/bench/backtest.js [first seed] [number of seeds]
import type { ClickHouseClient } from '@clickhouse/client'
import type { DepthSample } from '../../clickhouse/depth/depth.js'
import { insertFacts } from '../../clickhouse/facts/facts.js'
import type { PegSample } from '../../clickhouse/peg/samples.js'
import { type Random, randomFor } from '../../local/chain/random.js'
import { DEFAULT_DETECTORS } from '../../tools/backtest/detectors.js'
import type { Label } from '../../tools/backtest/labels.js'
import { reportOf, SHOWN } from '../../tools/backtest/report.js'
import { runDetectors, type StableRun } from '../../tools/backtest/run.js'
import { generatedStable } from './generate.js'
import { startStack } from './stack.js'

/** The settings of the detectors were chosen on seeds from 1 on; the published table is of those from 101 on. */
const [first = 101, count = 20] = process.argv.slice(2).map(Number)
const DAY = 86_400
const DAYS = 14
const BLOCK_SECONDS = 12
const STABLES = 3
const START = 1_767_225_600
const SIZE = 10_000
const never = new AbortController().signal

/** A stretch of time in which something happens to a stable, in unix seconds. */
type Episode = { kind: 'break' | 'dry' | 'dust' | 'thin' | 'pulled'; from: number; to: number; bps: number }

/** How often a week each happens, how long it lasts in seconds, and how far the price moves in basis points. */
const KINDS: Record<Episode['kind'], { weekly: number; seconds: [number, number]; bps: [number, number] }> = {
  break: { weekly: 3, seconds: [420, 10_800], bps: [12, 180] },
  dry: { weekly: 1.5, seconds: [360, 5400], bps: [0, 0] },
  // A bid for one token far from the price of all others.
  dust: { weekly: 6, seconds: [300, 5400], bps: [12, 150] },
  // One token sells at the peg, many do not.
  thin: { weekly: 4, seconds: [1800, 21_600], bps: [15, 90] },
  // The best order is gone for one block, or two.
  pulled: { weekly: 40, seconds: [1, 24], bps: [12, 150] },
}

/** Each kind as often as it happens in two weeks. */
const DRAWN = (Object.keys(KINDS) as Episode['kind'][]).flatMap((kind) =>
  Array.from({ length: KINDS[kind].weekly * 2 }, () => kind),
)

/** Seconds between two episodes, at least. */
const QUIET = 1800

/** The episodes of a stable, apart from each other, in order. */
function episodesOf(random: Random): Episode[] {
  const episodes: Episode[] = []
  let at = START + QUIET
  // Every third day is calm.
  while (at < START + DAYS * DAY) {
    const kind = random.pick(DRAWN)
    const { seconds, bps } = KINDS[kind]
    const length = random.int(...seconds)
    const size = bps[0] * (Math.max(1, bps[1]) / Math.max(1, bps[0])) ** random.next()
    const isCalm = Math.floor((at - START) / DAY) % 3 === 2
    if (!isCalm) episodes.push({ kind, from: at, to: at + length, bps: random.chance(0.75) ? -size : size })
    at += length + QUIET + Math.floor(-Math.log(1 - random.next()) * ((7 * DAY) / (DRAWN.length / 2)))
  }
  return episodes.filter(({ to }) => to < START + DAYS * DAY - QUIET)
}

/** Half of what lies between bid and ask in basis points, of one stable after the other. */
const HALF_SPREADS = [1, 3, 8]

type Market = { samples: PegSample[]; depths: DepthSample[]; labels: Label[] }

function marketOf(seed: number, index: number): Market {
  const stable = generatedStable(index)
  const random = randomFor(seed, 'backtest', index)
  const episodes = episodesOf(random)
  const half = HALF_SPREADS[index % HALF_SPREADS.length] as number
  const market: Market = { samples: [], depths: [], labels: [] }
  let drift = 0
  let next = 0
  for (let at = START, block = 1; at < START + DAYS * DAY; at += BLOCK_SECONDS, block++) {
    while ((episodes[next]?.to ?? Number.POSITIVE_INFINITY) <= at) next++
    const episode = episodes[next]
    const now = episode && episode.from <= at ? episode : null
    // Within six basis points of the peg, so that whatever is farther out has a label.
    drift += -drift * 0.002 + (random.next() - 0.5) * 0.3
    const own = drift + (random.next() - 0.5)
    const moved = now === null ? 0 : now.bps
    const isDry = now?.kind === 'dry'
    const movedBy = (...kinds: Episode['kind'][]): number => (now && kinds.includes(now.kind) ? moved : 0)
    const one = isDry ? null : own - half + movedBy('break', 'dust', 'pulled')
    const many = isDry ? null : own - half - 1.5 + movedBy('break', 'pulled')
    const ask = isDry ? null : own + half + movedBy('break')
    const thin = now?.kind === 'thin' ? -Math.abs(moved) : 0
    const micros = (bps: number): number => Math.round(1_000_000 + Math.max(-200, Math.min(200, bps)) * 100)
    const status = isDry ? 'no_liquidity' : 'quoted'
    market.samples.push({
      stable,
      block_number: block,
      block_time: at,
      elapsed_seconds: block === 1 ? 0 : BLOCK_SECONDS,
      status,
      sell_micros: one === null ? null : micros(one),
      buy_micros: ask === null ? null : micros(ask),
    })
    if (Math.floor(at / 60) > Math.floor((at - BLOCK_SECONDS) / 60))
      market.depths.push({
        stable,
        size_tokens: SIZE,
        block_number: block,
        block_time: at,
        sell_status: status,
        sell_raw: many === null ? null : `${micros(many + thin) * SIZE}`,
        buy_status: status,
        buy_raw: ask === null ? null : `${micros(ask + 1.5) * SIZE}`,
      })
  }
  market.labels = episodes
    .filter(({ kind }) => kind === 'break' || kind === 'dry')
    .map(({ kind, from, to, bps }) => ({ stable, from, to, bps: kind === 'dry' ? null : bps }))
  return market
}

async function runSeed(clickhouse: ClickHouseClient, seed: number): Promise<{ runs: StableRun[][]; labels: Label[] }> {
  const runs: StableRun[][] = []
  const labels: Label[] = []
  for (let index = 0; index < STABLES; index++) {
    const market = marketOf(seed, index)
    await insertFacts(clickhouse, 'peg_samples', market.samples, `${seed} ${index}`)
    await insertFacts(clickhouse, 'depth_samples', market.depths, `${seed} ${index}`)
    const stable = generatedStable(index)
    runs.push(await runDetectors(clickhouse, DEFAULT_DETECTORS, { stable, ...RANGE }, never))
    labels.push(...market.labels)
  }
  return { runs, labels }
}

const RANGE = { from: START - 1, to: START + DAYS * DAY }

const stack = await startStack()
try {
  const all: StableRun[][] = []
  const labels: Label[] = []
  for (let seed = first; seed < first + count; seed++) {
    const { clickhouse } = await stack.database(`seed_${seed}`)
    const found = await runSeed(clickhouse, seed)
    // Stables of different markets have the same addresses: here they are told apart.
    const of = (stable: string): string => `${stable} of ${seed}`
    all.push(...found.runs.map((runs) => runs.map((run) => ({ ...run, stable: of(run.stable) }))))
    labels.push(...found.labels.map((label) => ({ ...label, stable: of(label.stable) })))
    await clickhouse.command({ query: `DROP DATABASE seed_${seed}` })
  }
  console.log(
    `seeds ${first} to ${first + count - 1}, ${STABLES} stables, ${DAYS} days, a block every ${BLOCK_SECONDS} s`,
  )
  console.log(SHOWN.table(reportOf(DEFAULT_DETECTORS, all, labels, RANGE)))
} finally {
  await stack.close()
}
