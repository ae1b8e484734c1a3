// Answers about now while ingest is stopped, killed and behind, the engine is killed, and callers ask for more than the machine
// can answer: how many contradict themselves or the clock.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '../../clickhouse/schema/migrate.js'
import { spawnDevnet } from '../../local/chain/spawn.js'
import { spawnEmbedded } from '../../local/engine/spawn.js'
import { startProgram } from './programs.js'

type Coverage = { status: string; message: string; measured_until: string | null }
type Price = { sampled_at: string; quoted: boolean | null; price_age_seconds: number }
type Quote = { quoted: boolean | null } | null
type Stable = {
  peg: Price | null
  quote: Quote
  coverage: Coverage
  risk_score: number | null
  risk_computed_at: string | null
}
type Window = { supply_at_start: string | null; net_issuance: string; coverage: Coverage }

const PASSWORD = 'bench'
/** A price speaks for this long. */
const SPEAKS_SECONDS = 120
/** An answer may be kept for two seconds, and is under way for some time. */
const SLACK_SECONDS = 5
const CALLERS_UNDER_LOAD = 60

const seconds = (text: string): number => Date.parse(text.replace(' ', 'T').replace('+00', 'Z')) / 1000

/** What is wrong with a price and what is said of it, in an answer that was asked for and received at these times. */
function priceFaults(
  price: Price | null,
  quote: Quote,
  coverage: Coverage,
  [asked, received]: [number, number],
): string[] {
  if (price === null) return quote?.quoted === true ? ['quoted without a price'] : []
  const sampled = seconds(price.sampled_at)
  const until = coverage.measured_until === null ? null : seconds(coverage.measured_until)
  return [
    until !== null && sampled > until && `sampled at ${price.sampled_at}, measured until ${coverage.measured_until}`,
    quote?.quoted !== price.quoted && 'price and quote differ in whether it is quoted',
    quote?.quoted === true &&
      received - sampled > SPEAKS_SECONDS + SLACK_SECONDS &&
      `quoted after ${received - sampled} s`,
    quote?.quoted === null && coverage.status === 'complete' && 'complete, although nobody knows whether it is quoted',
    (price.price_age_seconds > received - sampled + SLACK_SECONDS ||
      price.price_age_seconds < asked - sampled - SLACK_SECONDS) &&
      `is ${price.price_age_seconds} s old, sampled ${Math.round(received - sampled)} s ago`,
  ].filter((fault) => typeof fault === 'string')
}

const FAULTS: Record<string, (body: never, times: [number, number]) => string[]> = {
  peg: ({ current, quote, coverage }: { current: Price | null; quote: Quote; coverage: Coverage }, times) =>
    priceFaults(current, quote, coverage, times),
  stablecoins: ({ stablecoins }: { stablecoins: Stable[] }, times) =>
    stablecoins.flatMap(({ peg, quote, coverage, risk_score, risk_computed_at }) => [
      ...priceFaults(peg, quote, coverage, times),
      ...((risk_score === null) === (risk_computed_at === null) ? [] : ['a score without its time']),
      ...(risk_computed_at !== null && times[1] - seconds(risk_computed_at) > 3700 ? ['an old score'] : []),
    ]),
  depth: ({ sampled_at, coverage }: { sampled_at: string | null; coverage: Coverage }) =>
    sampled_at !== null && coverage.measured_until !== null && seconds(sampled_at) > seconds(coverage.measured_until)
      ? [`depth sampled at ${sampled_at}, measured until ${coverage.measured_until}`]
      : [],
  issuance: ({ windows }: { windows: Window[] }) =>
    windows.flatMap(({ supply_at_start, coverage }) =>
      supply_at_start === null && coverage.status === 'complete' ? ['unknown supply, complete'] : [],
    ),
  status: () => [],
}

const dir = await mkdtemp(join(tmpdir(), 'plumbline-now-'))
const account = { user: 'default', password: PASSWORD }
let engine = await spawnEmbedded({ dataDir: join(dir, 'clickhouse'), ...account })
const env = {
  CLICKHOUSE_URL: engine.url,
  CLICKHOUSE_USER: 'default',
  CLICKHOUSE_PASSWORD: PASSWORD,
  CLICKHOUSE_DATABASE: 'now',
  LOG_LEVEL: 'silent',
}
await migrate(env)
const chain = await spawnDevnet({ dataDir: join(dir, 'chain'), historyBlocks: 120, stables: 12, live: true })
const startIngest = () =>
  startProgram(
    'ingest/main.js',
    { ...env, RPC_URL: chain.rpcUrl, RPC_WS_URL: chain.wsUrl, CHAIN: 'devnet' },
    'ingest has caught up',
  )
let ingest = await startIngest()
const jobs = await startProgram('jobs/main.js', env, 'jobs run')
const api = await startProgram('api/server.js', { ...env, PORT: '0', FREE_REQUESTS_PER_MINUTE: '0' }, 'api ready at ')
const base = api.line.slice('api ready at '.length)
const root = base.replace(/\/stablecoins$/, '')

const contradictions = new Map<string, number>()
const counts = { answers: 0, refusals: 0 }
const answersByPhase = new Map<string, number>()
const done = { isSo: false }
let phase = 'calm'
let addresses: string[] = []

async function ask(which: string, turn: number): Promise<void> {
  const stable = addresses[turn % Math.max(1, addresses.length)]
  const path = { stablecoins: '/stablecoins', status: '/status' }[which] ?? `/stablecoins/${stable}/${which}`
  const asked = Date.now() / 1000
  const response = await fetch(`${root}${path}`).catch(() => null)
  if (response?.status !== 200) {
    await response?.text()
    counts.refusals++
    if (which === 'status')
      contradictions.set(
        `${phase}: status ${response?.status}`,
        (contradictions.get(`${phase}: status ${response?.status}`) ?? 0) + 1,
      )
    return
  }
  const body = (await response.json()) as never
  counts.answers++
  answersByPhase.set(phase, (answersByPhase.get(phase) ?? 0) + 1)
  for (const fault of FAULTS[which]?.(body, [asked, Date.now() / 1000]) ?? [])
    contradictions.set(`${phase}, ${which}: ${fault}`, (contradictions.get(`${phase}, ${which}: ${fault}`) ?? 0) + 1)
}

async function keepAsking(pauseMs: number): Promise<void> {
  for (let turn = 0; !done.isSo; turn++) {
    const which = Object.keys(FAULTS)[turn % Object.keys(FAULTS).length] as string
    await ask(which, Math.floor(turn / Object.keys(FAULTS).length)).catch((error: unknown) =>
      contradictions.set(String(error), (contradictions.get(String(error)) ?? 0) + 1),
    )
    await sleep(pauseMs)
  }
}

async function during(name: string, secondsLong: number, work: () => Promise<void> = async () => {}): Promise<void> {
  phase = name
  await work()
  await sleep(secondsLong * 1000)
}

try {
  const { stablecoins } = (await (await fetch(`${root}/stablecoins`)).json()) as { stablecoins: { address: string }[] }
  addresses = stablecoins.map(({ address }) => address)
  const asking = keepAsking(150)
  await during('calm', 30)
  await during('ingest is stopped', SPEAKS_SECONDS + 30, async () => void ingest.child.kill('SIGSTOP'))
  await during('ingest catches up', 20, async () => void ingest.child.kill('SIGCONT'))
  await during('ingest is killed', 30, async () => {
    ingest.child.kill('SIGKILL')
  })
  await during('ingest starts again', 20, async () => {
    ingest = await startIngest()
  })
  await during('the engine is killed', 20, async () => {
    engine.child.kill('SIGKILL')
    await engine.exited
  })
  await during('the engine starts again', 30, async () => {
    engine = await spawnEmbedded({
      dataDir: join(dir, 'clickhouse'),
      port: Number(new URL(engine.url).port),
      ...account,
    })
  })
  phase = 'load'
  const load = { isOver: false }
  const callers = Array.from({ length: CALLERS_UNDER_LOAD }, async (_, i) => {
    for (let turn = i; !load.isOver; turn++)
      await fetch(
        `${root}/stablecoins/${addresses[turn % addresses.length]}/peg?as_of=${Math.floor(Date.now() / 1000) - turn}`,
      )
        .then((response) => response.text())
        .catch(() => {})
  })
  await sleep(40_000)
  load.isOver = true
  await Promise.all(callers)
  done.isSo = true
  await asking
} finally {
  done.isSo = true
  for (const program of [api, jobs, ingest]) await program.stop().catch(() => {})
  await chain.stop()
  await engine.stop()
  await rm(dir, { recursive: true, force: true })
}
console.log(
  `${counts.answers} answers about now, ${counts.refusals} refused: ${[...answersByPhase].map(([name, count]) => `${name} ${count}`).join(', ')}`,
)
console.log(
  contradictions.size === 0
    ? '0 contradictions'
    : `${[...contradictions.values()].reduce((a, b) => a + b, 0)} contradictions`,
)
for (const [fault, count] of contradictions) console.log(`${count}: ${fault}`)
process.exit(0)
