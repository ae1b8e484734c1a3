import type { ClickHouseClient } from '@clickhouse/client'
import { byStable, type OfStable } from '../store/together.js'

/**
 * How far before an instant the first read looks for the newest row, in seconds. Nearly every such row is only minutes
 * old.
 */
const RECENT_SECONDS = 172_800

/**
 * The SQL condition that a time column lies shortly before an instant. `instant` is the name of a DateTime parameter;
 * if it is later than the newest block, the newest block's time is used. The condition is always true if the parameter
 * `recent_only` is false; `recentFirst`, which must run the query, sets it.
 */
export const isRecent = (column: string, instant: string): string =>
  `${column} >= if({recent_only: Bool}, greatest(least({${instant}: DateTime}, (SELECT max(block_time) FROM blocks)), toDateTime(${RECENT_SECONDS}, 'UTC')) - ${RECENT_SECONDS}, toDateTime(0, 'UTC'))`

type Read<Params, Result> = (
  clickhouse: ClickHouseClient,
  params: Params,
  options?: { signal?: AbortSignal },
) => Promise<Result>

const isAny = (result: unknown): boolean => (Array.isArray(result) ? result.length > 0 : result !== null)

/**
 * A read of the newest row or rows at or before an instant. It first looks only shortly before the instant, and at all
 * of history only if that is not enough. The engine starts reading every month's parts before it knows which have the
 * newest rows, so without this limit such a read costs more with every month.
 */
export const recentFirst =
  <Params extends { recent_only: boolean }, Result>(
    read: Read<Params, Result>,
    isEnough: (result: Result, params: Omit<Params, 'recent_only'>) => boolean = isAny,
  ): Read<Omit<Params, 'recent_only'>, Result> =>
  async (clickhouse, params, options) => {
    const recent = await read(clickhouse, { ...params, recent_only: true } as Params, options)
    return isEnough(recent, params) ? recent : read(clickhouse, { ...params, recent_only: false } as Params, options)
  }

/** The same of several stables: of those without enough, and only of these, it looks at all of history. */
export const recentFirstByStable =
  <Params extends { recent_only: boolean; stables: string[] }, Row extends { stable: string }>(
    read: Read<Params, Row[]>,
    isEnough: (rows: readonly Omit<Row, 'stable'>[]) => boolean = isAny,
  ): Read<Omit<Params, 'recent_only'>, OfStable<Omit<Row, 'stable'>[]>> =>
  async (clickhouse, params, options) => {
    const recent = byStable(await read(clickhouse, { ...params, recent_only: true } as Params, options))
    const lacking = new Set(params.stables.filter((stable) => !isEnough(recent(stable))))
    if (lacking.size === 0) return recent
    const all = byStable(
      await read(clickhouse, { ...params, stables: [...lacking], recent_only: false } as Params, options),
    )
    return (stable) => (lacking.has(stable) ? all(stable) : recent(stable))
  }
