import type { ClickHouseClient } from '@clickhouse/client'
import { END_OF_TIME } from '../../process/instants.js'
import { newestBlock } from '../chain/blocks.js'
import { type Unsampled, unsampledAt, unsampledStablesAt } from '../chain/sampling.js'
import type { ReadOptions } from '../store/define-query.js'
import { type ReadSamples, readSamples } from './edge-samples.js'
import { type ReadMinuteSums, readMinuteSums } from './minute-sums.js'
import { keepsItsPrice, type StoredSample } from './price.js'
import { type LostQuote, lostQuote, lostQuotesOf, unquotedAmong } from './quotes.js'
import { newestSample, newestSamples } from './samples.js'
import { addSums, type PegSums } from './sums.js'
import {
  type ByPegWindow,
  byPegWindow,
  edgeMinuteEnds,
  isEdge,
  LONGEST_PEG_WINDOW,
  refreshedPegSums,
  sumsOfSamples,
  wholeMinutes,
} from './windows.js'

/**
 * The newest sample, and the newest one with a price; null if there is none, and without a price if the stable cannot be
 * quoted at all. `lost` says since when the newest sample has no price; null if it has one. A stable that is no longer
 * sampled has none of these, whatever was sampled before: `unsampled` says since when; null if it is sampled.
 */
export type CurrentPeg = {
  newest: StoredSample | null
  priced: StoredSample | null
  lost: LostQuote | null
  unsampled: Unsampled | null
}

const withoutPeg = (unsampled: Unsampled | null): CurrentPeg => ({ newest: null, priced: null, lost: null, unsampled })

/** With the sums of the windows, as of `windows_as_of`. */
export type Peg = CurrentPeg & { windows: ByPegWindow<PegSums>; windows_as_of: Date | null }

const LATEST = new Date(END_OF_TIME * 1000)

const MINUTE_MS = 60_000
/** Windows of live answers end at a multiple of this. */
const MARK_MS = 300_000

/** The peg, given the newest sample and, if that has no price, when it was lost. */
function pegOf(newest: StoredSample | null, lost: LostQuote | null): CurrentPeg {
  const priced = lost ? lost.priced : newest
  return { newest, priced: newest && keepsItsPrice(newest.status) ? priced : null, lost, unsampled: null }
}

async function pegWith(
  clickhouse: ClickHouseClient,
  { stable, newest, as_of }: { stable: string; newest: StoredSample | null; as_of: Date },
  options?: ReadOptions,
): Promise<CurrentPeg> {
  if (newest === null || newest.sell_micros !== null) return pegOf(newest, null)
  const lost = await lostQuote(clickhouse, { stable, as_of }, options)
  // Without one, a reorganization has removed the sample since it was read.
  return lost ? pegOf(newest, lost) : withoutPeg(null)
}

/** A stable's newest sample at or before `as_of`, or now, and the one whose price is current then. */
export async function currentPeg(
  clickhouse: ClickHouseClient,
  { stable, as_of = LATEST }: { stable: string; as_of?: Date | undefined },
  options?: ReadOptions,
): Promise<CurrentPeg> {
  const [newest, unsampled] = await Promise.all([
    newestSample(clickhouse, { stable, as_of }, options),
    unsampledAt(clickhouse, { stable, at: as_of }, options),
  ])
  if (unsampled) return withoutPeg(unsampled)
  return pegWith(clickhouse, { stable, newest, as_of }, options)
}

/** Sampled so little before an instant, a stable counts as sampled: to ask the lists each time would double the statements. */
const SAMPLED_SECONDS = 120

/** How the sums of windows are read. */
type SumOptions = ReadOptions & { minuteSums?: ReadMinuteSums; samplesOf?: ReadSamples }

/**
 * The sums of a stable's windows as of `as_of`, in whole seconds, and the samples at their edges: a window of length W is
 * (as_of - W, as_of]. Its inner minutes are read from minute states, by `minuteSums`, its first three and last two from the
 * samples, by `samplesOf`. All sums are integers, so the results are bit-identical to those computed from the samples alone.
 */
async function windowsAt(
  clickhouse: ClickHouseClient,
  { stable, as_of }: { stable: string; as_of: Date },
  { minuteSums = readMinuteSums, samplesOf = readSamples, ...options }: SumOptions = {},
) {
  const lastMinute = Math.ceil(as_of.getTime() / MINUTE_MS) * 60
  const end = as_of.getTime() / 1000
  const [read, sumsBetween] = await Promise.all([
    samplesOf(clickhouse, { stable, until: end, minute_ends: edgeMinuteEnds(lastMinute) }, options),
    minuteSums(clickhouse, { stable, ...wholeMinutes(LONGEST_PEG_WINDOW, lastMinute) }, options),
  ])
  const samples = read.map((sample) => ({ ...sample, age: end - sample.at }))
  const windows = byPegWindow(({ seconds }) => {
    const { after, until } = wholeMinutes(seconds, lastMinute)
    return addSums([sumsOfSamples(samples.filter(({ age }) => isEdge(age, seconds))), sumsBetween(after, until)])
  })
  return { windows, samples }
}

/** A stable's peg and windows as of `as_of`, in whole seconds. */
export async function pegAt(
  clickhouse: ClickHouseClient,
  { stable, as_of }: { stable: string; as_of: Date },
  options: SumOptions = {},
): Promise<Peg> {
  const { windows, samples } = await windowsAt(clickhouse, { stable, as_of }, options)
  const last = samples.reduce((a, b) => (b.block_number > (a?.block_number ?? -1) ? b : a), samples[0])
  if (last === undefined || last.age >= SAMPLED_SECONDS)
    return { ...(await currentPeg(clickhouse, { stable, as_of }, options)), windows, windows_as_of: as_of }
  const { age, at, elapsed_seconds, ...sample } = last
  const newest = { ...sample, block_time: new Date(at * 1000) }
  return { ...(await pegWith(clickhouse, { stable, newest, as_of }, options)), windows, windows_as_of: as_of }
}

/**
 * A stable's peg now, from the samples up to `as_of`, the newest block that is stored whole. Its windows are those of the last refresh if that was at one of the two newest five-minute marks
 * up to the newest sample; otherwise they are computed as of the newest mark. Those of a stable that is no longer sampled
 * end at the newest mark up to the newest block. `windows_as_of` is null before the first sample.
 */
export async function livePeg(
  clickhouse: ClickHouseClient,
  { stable, as_of }: { stable: string; as_of: Date },
  options: SumOptions = {},
): Promise<Peg> {
  const [peg, refreshed] = await Promise.all([
    currentPeg(clickhouse, { stable, as_of }, options),
    refreshedPegSums(clickhouse, { stable }, options),
  ])
  const head = peg.unsampled?.since ? await newestBlock(clickhouse, options) : peg.newest
  if (head === null) return { ...peg, windows: byPegWindow(() => addSums([])), windows_as_of: null }
  const mark = new Date(Math.floor(head.block_time.getTime() / MARK_MS) * MARK_MS)
  const refreshedAt = refreshed[0]?.as_of
  if (peg.unsampled || !refreshedAt || refreshedAt.getTime() < mark.getTime() - MARK_MS) {
    const { windows } = await windowsAt(clickhouse, { stable, as_of: mark }, options)
    return { ...peg, windows, windows_as_of: mark }
  }
  const windows = byPegWindow(({ seconds }) =>
    addSums(refreshed.filter(({ window_seconds }) => window_seconds === seconds)),
  )
  return { ...peg, windows, windows_as_of: refreshedAt }
}

/** The peg of any stable at `as_of`, or now; each is the same as from `currentPeg`. */
export async function currentPegs(
  clickhouse: ClickHouseClient,
  { as_of = LATEST }: { as_of?: Date | undefined },
  options?: ReadOptions,
): Promise<(stable: string) => CurrentPeg> {
  const [rows, unsampled] = await Promise.all([
    newestSamples(clickhouse, { as_of }, options),
    unsampledStablesAt(clickhouse, { at: as_of }, options),
  ])
  const stables = unquotedAmong(rows)
  const lost = stables.length > 0 ? await lostQuotesOf(clickhouse, { stables, as_of }, options) : []
  const losses = new Map(lost.map(({ stable, ...loss }) => [stable, loss]))
  const pegs = new Map(rows.map(({ stable, newest }) => [stable, pegOf(newest, losses.get(stable) ?? null)]))
  return (stable) => {
    const since = unsampled(stable)
    return since ? withoutPeg(since) : (pegs.get(stable) ?? withoutPeg(null))
  }
}
