import type { ClickHouseClient } from '@clickhouse/client'

/** How far before an instant its newest row is looked for at first, in seconds. Nearly all are minutes old. */
const NEAR_SECONDS = 172_800

/**
 * SQL that limits a time column to what is near an instant, which is the newest block's time where `moment`, the name of
 * a DateTime parameter, is later. For a query that is run by `nearFirst`.
 */
export const near = (column: string, moment: string): string =>
  `${column} >= if({is_near: Bool}, greatest(least({${moment}: DateTime}, (SELECT max(block_time) FROM blocks)), toDateTime(${NEAR_SECONDS}, 'UTC')) - ${NEAR_SECONDS}, toDateTime(0, 'UTC'))`

type Read<Params, Row> = (
  clickhouse: ClickHouseClient,
  params: Params,
  options?: { signal?: AbortSignal },
) => Promise<Row[]>

/**
 * A read of the newest rows at or before an instant that looks near the instant first, and at all of history only where
 * that is not enough. The engine begins to read every month's part before it can tell which one has the newest rows, so
 * without a limit such a read costs more with every month.
 */
export const nearFirst =
  <Params extends { is_near: boolean }, Row>(
    read: Read<Params, Row>,
    isEnough: (rows: readonly Row[], params: Omit<Params, 'is_near'>) => boolean = (rows) => rows.length > 0,
  ): Read<Omit<Params, 'is_near'>, Row> =>
  async (clickhouse, params, options) => {
    const found = await read(clickhouse, { ...params, is_near: true } as Params, options)
    return isEnough(found, params) ? found : read(clickhouse, { ...params, is_near: false } as Params, options)
  }
