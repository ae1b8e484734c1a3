import type { ClickHouseClient } from '@clickhouse/client'

/** SQL as the server writes it. */
export async function formatted(clickhouse: ClickHouseClient, sql: string): Promise<string> {
  const query = 'SELECT formatQuerySingleLine({sql: String}) AS formatted'
  const answer = await clickhouse.query({ query, query_params: { sql }, format: 'JSONEachRow' })
  return (await answer.json<{ formatted: string }>())[0]?.formatted ?? ''
}

/** The query of a view as it is deployed, without the name of its database. */
export async function deployed(clickhouse: ClickHouseClient, view: string): Promise<string> {
  const query = `SELECT as_select, currentDatabase() AS own FROM system.tables WHERE database = currentDatabase() AND name = '${view}'`
  const [row] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Record<string, string>>()
  return formatted(clickhouse, (row?.as_select ?? '').replaceAll(`${row?.own}.`, ''))
}
