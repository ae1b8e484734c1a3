import type { ClickHouseClient } from '@clickhouse/client'

/** How far before an instant its newest row is looked for at first, in seconds. Nearly all are minutes old. */
const RECENT_SECONDS = 172_800

/**
 * The SQL condition that a time column lies shortly before an instant, which is the newest block's time where `instant`,
 * the name of a DateTime parameter, is later. True for all of history where the parameter `recent_only` is false: the
 * query is run by `recentFirst`, which sets it.
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
 * A read of the newest rows, or the newest row, at or before an instant that looks shortly before the instant first, and
 * at all of history only where that is not enough. The engine begins to read every month's part before it can tell which
 * one has the newest rows, so without a limit such a read costs more with every month.
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
