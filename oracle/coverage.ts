import { iso } from './rows.js'
import { type JobSearch, joined, notSearched, rangeWithout } from './searched.js'

type Position = { block_number: number; block_time: number }

/** Which blocks are stored, and what is known about the others. Times in unix seconds. */
export type StoredBlocks = {
  /** Time of the genesis block; 0 if it is not known. */
  started_at: number
  last: number
  timeOf: (block: number) => number | null
  /** Whether a family of a block is stored, for a stable or, without one, for all. */
  isStored: (family: string, block: number, stable?: string) => boolean
  gaps: readonly { family: string; from_block: number; to_block: number }[]
  lists: readonly { from_block: number; holds_from: number; track: string; stables: readonly string[] }[]
  /** In chain order. */
  books: readonly (Position & { base: string })[]
}

/** What an answer is about: families of facts, of a stable or all, in seconds that are both included. */
export type CoverageRequest = {
  families: readonly string[]
  stable?: string
  /** Where the stable was created. */
  since?: Position
  from: number
  to: number
  isPriced?: boolean
  /** The slots of the jobs whose results it has. */
  searches?: readonly JobSearch[]
}

type Missing = { from: number; to: number; from_block: number | null; to_block: number | null; reason: string }
type Run = { from: number; to: number }

/** The runs of consecutive blocks from `first` on that are stored, or that are not. */
function runsOf(stored: StoredBlocks, family: string, stable: string | undefined, first: number, isStored: boolean) {
  const runs: Run[] = []
  for (let block = first; block <= stored.last; block++) {
    if (stored.isStored(family, block, stable) !== isStored) continue
    const run = runs.at(-1)
    if (run?.to === block - 1) run.to = block
    else runs.push({ from: block, to: block })
  }
  return runs
}

/** The time of the last block whose logs are stored, in unix seconds; 0 if there is none. */
export function logsReadUntil(stored: StoredBlocks): number {
  const last = runsOf(stored, 'logs', undefined, 1, true).at(-1)
  return last ? (stored.timeOf(last.to) ?? 0) : 0
}

/** Since when all logs up to an instant are stored, in unix seconds: 0 from the first block on, else the instant itself. */
export function logsReadSince(stored: StoredBlocks, instant: number): number {
  const run = runsOf(stored, 'logs', undefined, 1, true).find(
    ({ from, to }) => (stored.timeOf(from) ?? instant) <= instant && (stored.timeOf(to) ?? instant) >= instant,
  )
  return run?.from === 1 ? 0 : run ? (stored.timeOf(run.from) ?? instant) : instant
}

/** So many stables that are not listed are sampled, if a list is `paired`. */
const UNLISTED = 100

/** Where a stable got a place among those that are not on a list; null if it did not. */
function placeOf(books: StoredBlocks['books'], stable: string, listed: readonly string[]): Position | null {
  const bases = [...new Set(books.map(({ base }) => base).filter((base) => !listed.includes(base)))]
  const place = bases.indexOf(stable)
  return place === -1 || place >= UNLISTED ? null : (books.find(({ base }) => base === stable) ?? null)
}

/** The blocks and times at which a stable was not on the list of those that are sampled. */
function unsampledRuns({ lists, books }: StoredBlocks, stable: string, created: Position) {
  // A list that was recorded later counts from its first block on, whatever was recorded before for later blocks.
  const effective = lists.filter(({ from_block }, i) =>
    lists.slice(i + 1).every((later) => later.from_block > from_block),
  )
  const runs = effective.flatMap(({ from_block, holds_from, track, stables }, i) => {
    const next = effective[i + 1]
    if (track === 'all' || stables.includes(stable) || (next && next.from_block <= created.block_number)) return []
    const place = track === 'paired' ? placeOf(books, stable, stables) : null
    const end = place && (!next || place.block_number < next.from_block) ? place : null
    if (end && end.block_number <= Math.max(from_block, created.block_number)) return []
    return {
      from_block: Math.max(from_block, created.block_number),
      to_block: end ? end.block_number - 1 : next ? next.from_block - 1 : null,
      from: Math.max(holds_from, created.block_time),
      to: end ? end.block_time : (next?.holds_from ?? null),
    }
  })
  // Lists that follow one another without it are one stretch.
  const joined: typeof runs = []
  for (const run of runs) {
    const last = joined.at(-1)
    if (last?.to_block === run.from_block - 1) [last.to_block, last.to] = [run.to_block, run.to]
    else joined.push(run)
  }
  return joined
}

/** What of a family is missing, clipped to what was asked, oldest first. */
function missingOf(stored: StoredBlocks, family: string, request: CoverageRequest): Missing[] {
  const first = Math.max(1, request.since?.block_number ?? 1)
  const from = Math.max(request.from, request.since?.block_time ?? stored.started_at)
  const missing: Missing[] = []
  const add = (
    run: { from_block: number; to_block: number | null },
    after: number | null,
    before: number | null,
    reason: string,
  ): void => {
    const [start, end] = [Math.max(from, after ?? from), Math.min(request.to, before ?? request.to)]
    if (start <= end && (after ?? from) <= request.to && (before ?? request.to) >= from)
      missing.push({ from: start, to: end, ...run, reason })
  }
  const runs = runsOf(stored, family, request.stable, first, false)
  if (runs[0]?.from === first && runs[0].to === stored.last)
    return from > request.to ? [] : [{ from, to: request.to, from_block: null, to_block: null, reason: 'not_read' }]
  for (const { from: from_block, to: to_block } of runs) {
    const isUnavailable = stored.gaps.some(
      (gap) => gap.family === family && gap.from_block <= to_block && gap.to_block >= from_block,
    )
    const reason = isUnavailable ? 'unavailable' : from_block === first ? 'before_history' : 'not_read'
    const after = from_block === first ? null : stored.timeOf(from_block - 1)
    if (to_block < stored.last) add({ from_block, to_block }, after, stored.timeOf(to_block + 1), reason)
    else if (request.to > (after ?? 0) + 10) add({ from_block, to_block: null }, after, null, 'not_read')
  }
  if (family === 'pegs' && request.stable !== undefined && request.since)
    for (const { from: start, to: end, ...run } of unsampledRuns(stored, request.stable, request.since))
      add(run, start, end, 'not_sampled')
  if (family === 'logs' && request.isPriced)
    for (const { from_block, to_block } of stored.gaps.filter((gap) => gap.family === 'logs'))
      add({ from_block, to_block }, stored.timeOf(from_block), stored.timeOf(to_block), 'unpriced')
  return missing
}

/** In order; ranges that overlap become one, with the reason of the first. */
function disjoint(ranges: readonly Missing[]): Missing[] {
  const apart: Missing[] = []
  for (const range of ranges.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const last = apart.at(-1)
    const isNext =
      last?.to_block != null &&
      range.from_block !== null &&
      (range.from_block > last.to_block + 1 || range.reason !== last.reason)
    if (!last || range.from > last.to || (range.from === last.to && isNext)) {
      apart.push({ ...range })
      continue
    }
    last.to = Math.max(last.to, range.to)
    last.to_block = last.to_block === null || range.to_block === null ? null : Math.max(last.to_block, range.to_block)
    last.from_block =
      last.from_block === null || range.from_block === null
        ? (last.from_block ?? range.from_block)
        : Math.min(last.from_block, range.from_block)
  }
  return apart
}

/** The first and the last measured second of a family; null if nothing of what was asked is. */
function spanOf(stored: StoredBlocks, family: string, request: CoverageRequest): [number, number] | null {
  const first = Math.max(1, request.since?.block_number ?? 1)
  const measured = runsOf(stored, family, request.stable, first, true)
    .map(({ from, to }) => [stored.timeOf(from) ?? 0, stored.timeOf(to) ?? request.to] as const)
    .filter(([start, end]) => start <= request.to && end >= request.from)
  const [begin, end] = [measured[0]?.[0], measured.at(-1)?.[1]]
  // No block of that time exists, and those around it are stored.
  if (begin === undefined || end === undefined)
    return missingOf(stored, family, request).length === 0 ? [request.from, request.to] : null
  const from = Math.max(request.from, request.since?.block_time ?? 0, begin)
  return [from, Math.max(from, Math.min(request.to, end))]
}

/** The time since the first block of any family that these jobs have not searched. */
function unsearchedOf(stored: StoredBlocks, request: CoverageRequest, searches: readonly JobSearch[]) {
  const starts = request.families.map((family) => {
    const [first] = runsOf(stored, family, request.stable, 1, true)
    return first ? (stored.timeOf(first.from) ?? 0) : 0
  })
  const from = Math.max(request.from, request.since?.block_time ?? stored.started_at, Math.min(...starts))
  if (from > request.to) return []
  return joined(searches.flatMap((search) => notSearched(search, from, request.to)))
}

/** The coverage of what was asked, block by block, with at most `most` missing ranges; without the message. */
export function coverageAt(stored: StoredBlocks, request: CoverageRequest, limit: number) {
  const searches = request.searches ?? []
  const holes = disjoint(request.families.flatMap((family) => missingOf(stored, family, request)))
  const unsearched = unsearchedOf(stored, request, searches)
    .flatMap((range) => rangeWithout(range, holes))
    .map((range) => ({ ...range, from_block: null, to_block: null, reason: 'not_searched' }))
  const missing = [...holes, ...unsearched].toSorted((a, b) => a.from - b.from || a.to - b.to)
  const spans = request.families.map((family) => spanOf(stored, family, request))
  let span: [number, number] | null = spans.some((bounds) => bounds === null)
    ? null
    : [Math.max(...spans.map((bounds) => bounds?.[0] ?? 0)), Math.min(...spans.map((bounds) => bounds?.[1] ?? 0))]
  const unmeasured = [
    ...holes.filter(({ reason }) => reason === 'not_sampled'),
    ...unsearchedOf(
      stored,
      request,
      searches.filter(({ isPart }) => !isPart),
    ),
  ]
  for (const { from, to } of unmeasured) {
    if (span === null) continue
    if (from <= span[0] && to >= span[1]) span = null
    else if (from <= span[0]) span = [Math.max(span[0], to), span[1]]
    else if (to >= span[1]) span = [span[0], Math.min(span[1], from)]
  }
  return {
    status: span === null ? 'unavailable' : missing.length > 0 ? 'partial' : 'complete',
    missing: missing.slice(0, limit).map(({ from, to, ...range }) => ({ from: iso(from), to: iso(to), ...range })),
    missing_count: missing.length,
    measured_from: span && iso(span[0]),
    measured_until: span && iso(span[1]),
  }
}
