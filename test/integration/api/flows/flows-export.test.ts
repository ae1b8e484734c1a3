import { Readable } from 'node:stream'
import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { Flow } from '../../../../clickhouse/flows/flows.js'
import { randomFor } from '../../../../local/chain/random.js'
import { SUBSCRIPTION_KEY, test } from '../../../support/app.js'
import { addFacts, flow, stableAddress, stablecoin, txHash } from '../../../support/rows.js'

type Page = { data: Record<string, unknown>[]; next_cursor: string | null }

const url = (query: Record<string, string | number>) => ({
  url: `/api/v1/stablecoins/flows/export?${new URLSearchParams(query as Record<string, string>)}`,
  headers: { authorization: `Bearer ${SUBSCRIPTION_KEY}` },
})

/** Possible names of tokens: the separators and quotes of the formats, a line break, and a formula. */
const SYMBOLS = ['US"D', "a,b;c'd\\n", 'two\nlines\r\n"', '=1+1', '\t"",""\u0000💵']

/** Flows between hostile tokens and an unknown one, several in a block, two at one position. */
function flowsUntil(now: number): Flow[] {
  const random = randomFor(7, 'flows', 1)
  const flows = Array.from({ length: 60 }, (_, i) =>
    flow(random.int(1, 5), random.int(1, 6), now - 86_400 + 900 * Math.floor(i / 3), {
      kind: random.pick(['swap', 'transfer', 'bridge']),
      amount_in_raw: String(2n ** 128n - 1n - BigInt(i)),
      amount_out_raw: `${i}`,
      usd_micros: i % 5 === 0 ? null : String(BigInt(random.int(1, 1e9)) ** BigInt(random.int(1, 4))),
      log_index: i % 3,
      tx_hash: txHash(i),
    }),
  )
  const twin = flows[20] as Flow
  return [...flows, { ...twin, kind: twin.kind === 'bridge' ? 'swap' : 'bridge' }]
}

const addTo = async (clickhouse: ClickHouseClient, flows: Flow[]) =>
  addFacts(clickhouse, { stablecoins: SYMBOLS.map((symbol, i) => stablecoin(i + 1, { symbol })), flows })

const KINDS = ['swap', 'transfer', 'bridge']

/** The expected rows. */
const expected = (flows: readonly Flow[], from: number, to: number) =>
  flows
    .filter(({ block_time }) => block_time >= from && block_time < to)
    .toSorted(
      (a, b) =>
        a.block_number - b.block_number || a.log_index - b.log_index || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind),
    )
    .map((one) => ({
      block_time: new Date(one.block_time * 1000).toISOString().replace('.000', ''),
      block_number: `${one.block_number}`,
      log_index: one.log_index,
      tx_hash: one.tx_hash,
      kind: one.kind,
      from: symbolOf(one.from_token),
      to: symbolOf(one.to_token),
      from_address: one.from_token,
      to_address: one.to_token,
      account: one.account,
      amount_in: one.amount_in_raw,
      amount_out: one.amount_out_raw,
      usd_value: dollars(one.usd_micros),
      path: one.path,
      remote_chain: one.remote_chain,
    }))

const dollars = (micros: string | null): string | null =>
  micros === null ? null : micros.padStart(7, '0').replace(/(\d{6})$/, '.$1')

const symbolOf = (stable: string): string => SYMBOLS.find((_, i) => stableAddress(i + 1) === stable) ?? ''

test('the flows of a range are exported one by one, exact beyond the precision of a float', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const flows = flowsUntil(now)
  await addTo(clickhouse, flows)
  const random = randomFor(8, 'ranges', 1)
  const ranges = Array.from({ length: 10 }, () => {
    const from = now - 86_400 + random.int(-900, 18_000)
    return [from, random.int(from, now)] as const
  })
  // Both ends coincide with a flow: the first is included, the last is not.
  for (const [from, to] of [...ranges, [now - 86_400, now - 86_400 + 900 * 19] as const]) {
    const { coverage: _, ...page } = (await app.inject(url({ from, to }))).json()
    expect(page).toEqual({ next_cursor: null, data: expected(flows, from, to) })
  }
  expect(expected(flows, now - 86_400, now - 86_400 + 900 * 19)).toHaveLength(58)
})

test('pages of any length add up to the whole, in every text format', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const flows = flowsUntil(now)
  await addTo(clickhouse, flows)
  const whole = expected(flows, 0, now)
  for (const limit of [1, 4, 60, 61, 1000]) {
    const rows: unknown[] = []
    let cursor: string | null = null
    do {
      const query = { from: '2d', limit, ...(cursor && { cursor }) }
      const page: Page = (await app.inject(url(query))).json()
      const lines = await app.inject(url({ ...query, format: 'ndjson' }))
      const parsed = lines.body.split('\n').filter((line) => line !== '')
      expect(parsed.map((line) => JSON.parse(line))).toEqual(page.data)
      expect(lines.headers['x-next-cursor'] ?? null).toBe(page.next_cursor)
      rows.push(...page.data)
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(rows).toEqual(whole)
  }
})

/** CSV by RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    rows.at(-1)?.push(quoted === undefined ? (plain as string) : quoted.replaceAll('""', '"'))
    if (end === '\n') rows.push([])
    if (end === '') break
  }
  return rows.slice(0, -1)
}

test('CSV keeps any name of a token in one cell', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const flows = flowsUntil(now)
  await addTo(clickhouse, flows)
  const response = await app.inject(url({ from: '2d', format: 'csv' }))
  expect(response.headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(response.headers['content-disposition']).toMatch(/^attachment; filename="flows-\d+-\d+\.csv"$/)
  const [names = [], ...rows] = parseCsv(response.body)
  const whole = expected(flows, 0, now)
  expect(names).toEqual(Object.keys(whole[0] ?? {}))
  expect(rows.map((row) => row.filter((_, i) => names[i] !== 'path'))).toEqual(
    whole.map(({ path: _, ...row }) =>
      // No cell is a formula of a spreadsheet.
      Object.values(row).map((value) => (value === null ? '\\N' : `${value}`.replace(/^=/, "'="))),
    ),
  )
})

for (const [format, engine] of [
  ['parquet', 'Parquet'],
  ['arrow', 'ArrowStream'],
] as const) {
  test(`${format} has the rows, with its own types, when the engine reads it back`, async ({
    app,
    clickhouse,
    clock,
  }) => {
    const now = Math.floor(clock.now.getTime() / 1000)
    const flows = flowsUntil(now)
    await addTo(clickhouse, flows)
    const file = (await app.inject(url({ from: '2d', format }))).rawPayload
    const columns = `
      block_time DateTime64(0, 'UTC'), block_number UInt64, log_index UInt32, tx_hash String, kind String, "from" String,
      "to" String, from_address String, to_address String, account String, amount_in String,
      amount_out String, usd_value Nullable(String), path Array(String), remote_chain Nullable(String)`
    await clickhouse.command({ query: `CREATE TABLE read_back (${columns}) ENGINE = Memory` })
    const inserted = await clickhouse.exec({
      query: `INSERT INTO read_back FORMAT ${engine}`,
      values: Readable.from([file], { objectMode: false }),
    })
    await inserted.stream.toArray()
    const back = await clickhouse.query({
      query: "SELECT * FROM read_back ORDER BY block_number, log_index, indexOf(['swap', 'transfer', 'bridge'], kind)",
      format: 'JSONEachRow',
    })
    expect(await back.json()).toEqual(expected(flows, 0, now))
  })
}
