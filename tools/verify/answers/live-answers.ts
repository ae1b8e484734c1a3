import pLimit from 'p-limit'
import { briefingAt, figuresOf } from '../../../oracle/briefing.js'
import { compared, type Finding, notChecked } from '../finding.js'
import { type Api, ask } from './ask.js'
import type { ChainFacts } from './chain-facts.js'
import { differences } from './differences.js'
import { picker } from './pick.js'
import { type Body, between } from './questions.js'

const NAME = 'briefings: answers recomputed from the node'
const AT_ONCE = 4
/** How far the clocks of the API and of this machine may be apart, in seconds. */
const CLOCK_SECONDS = 30
/** The windows of a live answer end at a multiple of this, in seconds. */
const MARK_SECONDS = 300
const WEEK = 604_800

/** A briefing as it was published between two instants, in unix seconds; `body` is null if it was refused. */
export type LiveBriefing = { stable: string; from: number; to: number; status: number; body: Body | null }

const now = (): number => Math.floor(Date.now() / 1000)

/**
 * Asks for briefings of random stables. They are about now, so they have to be asked before the blocks are read from which
 * they are recomputed.
 */
export async function askBriefings(
  api: Api,
  { stables, count, seed }: { stables: readonly string[]; count: number; seed: number },
): Promise<LiveBriefing[]> {
  const limit = pLimit(AT_ONCE)
  const askOne = async (number: number): Promise<LiveBriefing> => {
    const stable = stables[picker(seed, number)(stables.length)] as string
    const from = now()
    const path = `stablecoins/${stable}/analysis`
    const { status, body } = await ask(api, { path, query: {}, expected: null })
    return { stable, from, to: now(), status, body }
  }
  return Promise.all(Array.from({ length: stables.length === 0 ? 0 : count }, (_, i) => limit(() => askOne(i))))
}

type Briefing = Body & {
  origin_kind: string
  risk: Body
  risk_basis: Record<string, unknown>
  measured_at: string | null
}

/** Where a briefing differs from those that follow from the facts of every block around its time: nowhere, for one. */
function differencesOf(facts: ChainFacts, { stable, from, to, status, body }: LiveBriefing): string[] {
  if (body === null) return [`status ${status}`]
  const briefing = body.briefing as Briefing
  const measuredAt = briefing.measured_at === null ? null : Date.parse(briefing.measured_at) / 1000
  const texts = { ...briefing.risk_basis, origin: briefing.origin, issuer_context: briefing.issuer_context }
  const isCurated = briefing.origin_kind === 'curated'
  const samples = facts.samples.get(stable) ?? []
  const newest = facts.times.findLast((time) => time <= from - CLOCK_SECONDS) ?? 0
  const instants = facts.times.filter((time) => time >= newest && time <= to + CLOCK_SECONDS)
  const marks = instants.map((time) => Math.floor(time / MARK_SECONDS) * MARK_SECONDS)
  let different: string[] = ['no block of its time was read']
  // The newest first, which is the most probable one.
  for (const at of instants.toReversed()) {
    const week = measuredAt === null ? [] : between(samples, measuredAt - WEEK, measuredAt)
    const { figures, ...expected } = briefingAt(facts.economy, week, { stable, at, measuredAt })
    const expectedFigures = Object.entries(figures).filter(([text]) => !isCurated || text.endsWith('_risk'))
    different = [
      ...differences({ symbol: body.symbol, measured_at: briefing.measured_at, risk: briefing.risk }, expected),
      ...expectedFigures.flatMap(([text, expectedOfText]) => {
        const published = figuresOf(texts[text as keyof typeof texts])
        return expectedOfText
          .filter((figure) => !published.includes(figure))
          .map((figure) => `${text}: ${figure} is not in ${published}`)
      }),
    ]
    if (different.length === 0) break
  }
  // A mark may be one period old, until the windows are computed again.
  const isMark =
    measuredAt === null
      ? samples.every(({ block_time }) => block_time > newest)
      : measuredAt % MARK_SECONDS === 0 && measuredAt >= Math.min(...marks) - MARK_SECONDS
  return isMark ? different : [...different, `measured_at: ${briefing.measured_at} is not the newest mark`]
}

/** The finding about briefings. */
export function compareBriefings(facts: ChainFacts, briefings: readonly LiveBriefing[]): Finding {
  const unpaid = briefings.some(({ status }) => status === 402)
  if (unpaid) return notChecked(NAME, 'it has a price: set VERIFY_API_KEY to a subscription key')
  if (briefings.length === 0) return notChecked(NAME, 'no answer to compare yet')
  const differing = briefings.flatMap((briefing) => {
    const [first] = differencesOf(facts, briefing)
    return first === undefined ? [] : [`stablecoins/${briefing.stable}/analysis: ${first}`]
  })
  return compared(NAME, `${briefings.length} answers`, differing)
}
