import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Market } from '../../support/market.js'
import { storedDepths } from '../../support/peg-events.js'
import { PYTHON_CLIENT, test } from '../../support/python.js'

type Cell = {
  cell_type: string
  id: string
  metadata: object
  execution_count: number | null
  source: string[]
  outputs: Array<{ text?: string[] }>
}
type Notebook = { cells: Cell[] }

/** What a notebook found, by address. */
type Found = {
  /** Minutes of the mild breaks. */
  breaks: Record<string, number>
  /** The largest distance from the peg, in basis points; null without a price. */
  worst: Record<string, number | null>
  /** By the two addresses of a pair, in USD. */
  net: Record<string, string>
  /** What selling 100,000 costs, in pathUSD; null if they cannot be sold. */
  costs: Record<string, number | null>
}

/** A cell after the last one of a notebook, which prints its tables, and how long the buckets of its prices are. */
const NOTEBOOKS = {
  duckdb: {
    needs: ['duckdb==2.0.1'],
    bucketSeconds: 3600,
    last: `
def table(sql):
    return dict(db.sql(sql).fetchall())

print(json.dumps({
    "breaks": table("SELECT address, minutes FROM breaks WHERE severity = 'mild'"),
    "worst": table("SELECT address, worst_bps FROM deviation"),
    "net": table("SELECT from_address || ' ' || to_address, net_usd::VARCHAR FROM net"),
    "costs": table("SELECT address, cost_tokens FROM costs"),
}))`,
  },
  pandas: {
    needs: [`${PYTHON_CLIENT}[pandas]`, 'pandas==3.1.1', 'matplotlib==3.11.2'],
    bucketSeconds: 300,
    last: `
import json

def table(column):
    return {key: None if pd.isna(value) else float(value) for key, value in column.items()}

print(json.dumps({
    "breaks": table(breaks["minutes"].xs("mild", level="severity")),
    "worst": table(deviation["worst_bps"]),
    "net": {f"{row.from_address} {row.to_address}": str(row.net_usd) for row in net.itertuples()},
    "costs": table(costs["cost_tokens"]),
}))`,
  },
}

/** What the notebooks have to find, from the rows that were taken in. */
async function expected({ app, clickhouse, end }: Market, bucketSeconds: number): Promise<Found> {
  const rowsOf = async <Row>(query: string): Promise<Row[]> =>
    (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>()

  const samples = await rowsOf<{ stable: string; at: number; sell_micros: number | null }>(
    'SELECT stable, toUnixTimestamp(block_time) AS at, sell_micros FROM peg_samples',
  )
  const worst: Found['worst'] = {}
  for (const { stable, at, sell_micros } of samples) {
    // A bucket that has not ended is not in a series.
    if (at > Math.floor(end / bucketSeconds) * bucketSeconds) continue
    worst[stable] ??= null
    if (sell_micros !== null) worst[stable] = Math.max(worst[stable] ?? 0, Math.abs(sell_micros - 1_000_000) / 100)
  }

  const balances = new Map<string, bigint>()
  const flows = await rowsOf<{ from_token: string; to_token: string; micros: string | null }>(
    `SELECT from_token, to_token, toString(usd_micros) AS micros FROM flows
     WHERE kind != 'bridge' AND toUnixTimestamp(block_time) > ${end - 86_400}`,
  )
  const add = (pair: string, micros: bigint) => balances.set(pair, (balances.get(pair) ?? 0n) + micros)
  for (const { from_token, to_token, micros } of flows) {
    add(`${from_token} ${to_token}`, BigInt(micros ?? 0))
    add(`${to_token} ${from_token}`, -BigInt(micros ?? 0))
  }
  const usd = (micros: bigint): string => `${micros / 1_000_000n}.${`${micros % 1_000_000n}`.padStart(6, '0')}`

  const costs: Found['costs'] = {}
  for (const { stable, size_tokens, sell_raw } of await storedDepths(clickhouse))
    if (size_tokens === 100_000) costs[stable] = sell_raw === null ? null : (100_000_000_000 - Number(sell_raw)) / 1e6

  const breaks: Found['breaks'] = {}
  for (const stable of Object.keys(worst)) {
    const { events } = (await app.inject(`/api/v1/stablecoins/${stable}/peg-events?severity=mild`)).json()
    for (const { duration_seconds } of events) breaks[stable] = (breaks[stable] ?? 0) + duration_seconds / 60
  }
  return {
    breaks,
    worst,
    net: Object.fromEntries(
      [...balances].filter(([, micros]) => micros > 0n).map(([pair, micros]) => [pair, usd(micros)]),
    ),
    costs,
  }
}

const fileOf = (name: string): URL => new URL(`../../../docs/notebooks/${name}.ipynb`, import.meta.url)

for (const [name, { needs, bucketSeconds, last }] of Object.entries(NOTEBOOKS))
  test(`every cell of the ${name} notebook runs, and finds what the rows say`, async ({ folder, market, run }) => {
    const notebook: Notebook = JSON.parse(readFileSync(fileOf(name), 'utf8'))
    notebook.cells.push({
      cell_type: 'code',
      id: 'found',
      metadata: {},
      execution_count: null,
      source: [last],
      outputs: [],
    })
    await writeFile(join(folder, 'notebook.ipynb'), JSON.stringify(notebook))
    await run('python3', '-m', 'venv', '.venv')
    await run('.venv/bin/pip', 'install', '--quiet', 'nbclient==0.11.0', 'ipykernel==7.4.0', ...needs)
    // Fails with the first cell that does.
    await run('.venv/bin/jupyter', 'execute', '--output=executed.ipynb', 'notebook.ipynb')

    const executed: Notebook = JSON.parse(await readFile(join(folder, 'executed.ipynb'), 'utf8'))
    const found: Found = JSON.parse(executed.cells.at(-1)?.outputs[0]?.text?.join('') ?? '')
    const should = await expected(market, bucketSeconds)
    for (const kind of ['breaks', 'net', 'costs'] as const) expect(Object.keys(should[kind]), kind).not.toEqual([])
    expect(found).toEqual(should)
  })

test('the notebooks are stored without outputs', () => {
  for (const name of Object.keys(NOTEBOOKS)) {
    const { cells }: Notebook = JSON.parse(readFileSync(fileOf(name), 'utf8'))
    for (const { cell_type, execution_count, outputs } of cells)
      if (cell_type === 'code')
        expect({ name, execution_count, outputs }).toEqual({ name, execution_count: null, outputs: [] })
  }
})
