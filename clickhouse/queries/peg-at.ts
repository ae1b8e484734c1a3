import type { ClickHouseClient } from '@clickhouse/client'
import { newestPricedSample, newestSample, type PegSampleRow, type PricedSampleRow } from './peg-sample.js'
import { allWindows, type PegWindow, pegWindowsAt, refreshedPegWindows } from './peg-windows.js'

type Options = { signal?: AbortSignal }

/** The newest sample, and the price that stands: null where there is none. */
export type CurrentPeg = { newest: PegSampleRow | null; current: PricedSampleRow | null }

/** Later than any block: the last second that a DateTime can hold. */
const END_OF_TIME = new Date(0xffff_ffff * 1000)

const MARK_MS = 300_000

const isPriced = (sample: PegSampleRow): sample is PricedSampleRow => sample.price_vs_refusd !== null

/** Whether an older price still says something about a stable whose newest sample has this status. */
export const keepsItsPrice = (status: PegSampleRow['status']): boolean => status !== 'not_usd' && status !== 'no_pair'

/**
 * A stable's peg at or before `as_of`, or now: the nearest sample with a price. None where the nearest sample says
 * that there is nothing to quote. One short read, and another only where the nearest sample has no price.
 */
export async function currentPeg(
  clickhouse: ClickHouseClient,
  { stable, as_of = END_OF_TIME }: { stable: string; as_of?: Date | undefined },
  options?: Options,
): Promise<CurrentPeg> {
  const [newest] = await newestSample(clickhouse, { stable, as_of }, options)
  if (newest === undefined) return { newest: null, current: null }
  if (isPriced(newest)) return { newest, current: newest }
  if (!keepsItsPrice(newest.status)) return { newest, current: null }
  const [priced] = await newestPricedSample(clickhouse, { stable, as_of }, options)
  return { newest, current: priced ?? null }
}

export type Peg = CurrentPeg & { windows: PegWindow[]; windows_as_of: Date | null }

/** A stable's peg and windows as of `as_of`. */
export async function pegAt(
  clickhouse: ClickHouseClient,
  params: { stable: string; as_of: Date },
  options?: Options,
): Promise<Peg> {
  const [peg, windows] = await Promise.all([
    currentPeg(clickhouse, params, options),
    pegWindowsAt(clickhouse, params, options),
  ])
  return { ...peg, windows: allWindows(windows), windows_as_of: params.as_of }
}

/**
 * A stable's peg now, with its windows as of the last five-minute mark but one or later, `windows_as_of`. They come
 * from the last refresh; where that is older than that, or has yet to see the stable, they are computed. Null
 * before the first sample.
 */
export async function livePeg(
  clickhouse: ClickHouseClient,
  params: { stable: string },
  options?: Options,
): Promise<Peg> {
  const [peg, refreshed] = await Promise.all([
    currentPeg(clickhouse, params, options),
    refreshedPegWindows(clickhouse, params, options),
  ])
  if (peg.newest === null) return { ...peg, windows: allWindows([]), windows_as_of: null }
  const newestMs = Date.parse(peg.newest.sampled_at.replace(' ', 'T').replace('+00', 'Z'))
  const mark = new Date(newestMs - (newestMs % MARK_MS))
  const refreshedAt = refreshed[0] ? new Date(refreshed[0].as_of) : null
  if (refreshedAt && refreshedAt.getTime() >= mark.getTime() - MARK_MS) {
    const windows = refreshed.map(({ as_of: _, ...window }) => window)
    return { ...peg, windows: allWindows(windows), windows_as_of: refreshedAt }
  }
  const windows = await pegWindowsAt(clickhouse, { ...params, as_of: mark }, options)
  return { ...peg, windows: allWindows(windows), windows_as_of: mark }
}
