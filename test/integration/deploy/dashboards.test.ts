import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { test } from '../../support/services.js'

const market = JSON.parse(
  readFileSync(new URL('../../../deploy/grafana/dashboards/market.json', import.meta.url), 'utf8'),
) as { panels: { targets: { rawSql: string }[] }[] }

test('every query of the dashboard of the market can be run', async ({ clickhouse }) => {
  const queries = market.panels.flatMap(({ targets }) => targets.map(({ rawSql }) => rawSql))
  expect(queries.length).toBeGreaterThan(0)
  for (const query of queries) {
    // As the plugin of Grafana replaces its macros.
    const sql = query
      .replace(
        /\$__timeFilter\((\w+)\)/g,
        "$1 >= toDateTime('2026-01-01 00:00:00') AND $1 <= toDateTime('2026-01-02 00:00:00')",
      )
      .replace(/\$__timeInterval\((\w+)\)/g, 'toStartOfInterval(toDateTime($1), INTERVAL 60 second)')
    expect(sql).not.toContain('$__')
    await (await clickhouse.query({ query: sql, format: 'JSONEachRow' })).json()
  }
})
