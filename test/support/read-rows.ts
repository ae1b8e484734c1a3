import type { ClickHouseClient } from '@clickhouse/client'

/**
 * Runs `work` with a client whose reads are counted, and resolves to the rows that the engine has read for them. The
 * count is the one at the end of an answer: the embedded engine's header has what its last report of progress said.
 */
export async function rowsReadBy(
  clickhouse: ClickHouseClient,
  work: (counted: ClickHouseClient) => Promise<unknown>,
): Promise<number> {
  let rows = 0
  const query = async (params: Parameters<ClickHouseClient['query']>[0]) => {
    const result = await clickhouse.query({ ...params, format: 'JSON' })
    const { data, statistics } = await result.json<object>()
    rows += statistics?.rows_read ?? Number.NaN
    return { json: async () => data, response_headers: result.response_headers }
  }
  const counted = new Proxy(clickhouse, {
    get: (target, name) => {
      if (name === 'query') return query
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await work(counted)
  return rows
}
