import pLimit from 'p-limit'
import { compared, type Finding, notChecked } from '../finding.js'
import { type Api, addressOf, ask } from './ask.js'
import type { ChainFacts } from './chain-facts.js'
import { COLUMN_KINDS } from './column-questions.js'
import { COVERAGE_KINDS } from './coverage-questions.js'
import { differences } from './differences.js'
import { EVENT_KINDS } from './event-questions.js'
import { picker } from './pick.js'
import { type Kind, type Question, SNAPSHOT_KINDS } from './questions.js'
import { RANGE_KINDS } from './range-questions.js'

const KINDS: readonly Kind[] = [...SNAPSHOT_KINDS, ...RANGE_KINDS, ...COLUMN_KINDS, ...EVENT_KINDS, ...COVERAGE_KINDS]

/** How many kinds of answers there are, with the briefings. */
export const KIND_COUNT = KINDS.length + 1

/** Requests at once. */
const AT_ONCE = 4

export type AnswerOptions = {
  api: Api
  /** How many answers to compare. */
  count: number
  seed: number
  onProgress: (done: number, of: number) => void
}

/** The second of a block, the second before it, or any other up to `last`. */
function instantOf(times: readonly number[], last: number, pick: (n: number) => number): number {
  const [first, candidates] = [times[0] ?? 0, times.filter((time) => time <= last)]
  if (pick(2) === 0 || candidates.length === 0) return first + pick(last - first + 1)
  return Math.max(first, (candidates[pick(candidates.length)] as number) - pick(2))
}

/** Where the published answer differs from the expected one; null if it has a price and no key was given. */
async function differencesOf(api: Api, question: Question): Promise<string[] | null> {
  const { expected, read } = question
  const { status, body, fault } = await ask(api, question)
  if (fault !== undefined) return [fault]
  if (status === 402) return null
  if (status !== 200 && status !== 404) return [`status ${status}`]
  return differences(body && (read?.(body) ?? body), expected)
}

/**
 * Asks the API `count` questions about random stables and instants, as many of each kind, and compares each answer with
 * the one that follows from `facts` by its definition: one finding for each kind.
 */
export async function compareAnswers(facts: ChainFacts, options: AnswerOptions): Promise<Finding[]> {
  const { api, count, seed, onProgress } = options
  const [first, newest] = [facts.times[0] ?? 0, facts.times.at(-1) ?? 0]
  const horizons = new Map<string, number>()
  for (const job of new Set(KINDS.flatMap(({ jobs = [] }) => jobs))) {
    horizons.set(job, Math.min(newest, facts.slots.get(job)?.searched.at(-1) ?? 0))
  }

  /** Null while there is nothing that could be asked. */
  function questionOf({ jobs = [], ask }: Kind, number: number): Question | null {
    const jobHorizons = jobs.map((job) => horizons.get(job) ?? 0)
    const last = Math.min(newest, ...jobHorizons)
    if (last <= first) return null
    const pick = picker(seed, number)
    const at = instantOf(facts.times, last, pick)
    const stables = facts.stables.filter(({ block_time }) => block_time <= at)
    const stable = stables[pick(stables.length)]?.stable
    return stable === undefined ? null : ask({ facts, stable, at, horizons: jobHorizons, pick })
  }

  const tallies = KINDS.map((kind) => ({ kind, asked: 0, unpaid: 0, apart: [] as string[], differing: [] as string[] }))
  let done = 0
  async function compareOne(number: number): Promise<void> {
    const tally = tallies[number % KINDS.length] as (typeof tallies)[number]
    const question = questionOf(tally.kind, number)
    if (question?.apart !== undefined) tally.apart.push(question.apart)
    else if (question) {
      const different = await differencesOf(api, question)
      if (different === null) tally.unpaid += 1
      else tally.asked += 1
      if (different?.[0] !== undefined) tally.differing.push(`${addressOf(question)}: ${different[0]}`)
    }
    onProgress(++done, count)
  }
  const limit = pLimit(AT_ONCE)
  await Promise.all(Array.from({ length: count }, (_, number) => limit(() => compareOne(number))))

  return tallies.map(({ kind: { name }, asked, unpaid, apart, differing }) => {
    const what = `${name}: answers recomputed from the node`
    const leftOut = apart[0] === undefined ? '' : `${apart.length} ${apart[0]}`
    if (unpaid > 0) return notChecked(what, 'it has a price: set VERIFY_API_KEY to a subscription key')
    if (asked === 0) return notChecked(what, leftOut || 'no answer to compare yet')
    return compared(what, [`${asked} answers`, ...(leftOut ? [leftOut] : [])].join(', '), differing)
  })
}
