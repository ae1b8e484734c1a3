import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect } from 'vitest'
import { SUBSCRIPTION_KEY } from '../../support/app.js'
import { type CodeBlock, codeBlocks } from '../../support/markdown.js'
import type { Market } from '../../support/market.js'
import { test as base } from '../../support/served-market.js'
import { requireTool } from '../../support/tools.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const BIN = join(ROOT, 'node_modules/.bin')

/** Runs the blocks under a heading one after the other in a new directory; what each printed. */
type Follow = (heading: string) => Promise<string[]>

const test = base.extend<{ follow: Follow }>({
  follow: async ({ origin }, use) => {
    const cwd = await mkdtemp(join(tmpdir(), 'plumbline-recipe-'))
    await use(async (heading) => {
      const printed: string[] = []
      for (const block of codeBlocks('docs/recipes.md').filter((one) => one.heading === heading))
        printed.push(await runBlock({ ...block, code: block.code.replaceAll('http://127.0.0.1:3000', origin) }, cwd))
      return printed
    })
    await rm(cwd, { recursive: true })
  },
})

async function run(command: string, args: string[], cwd: string): Promise<string> {
  const env = { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH}`, PLUMBLINE_KEY: SUBSCRIPTION_KEY }
  const { stdout } = await promisify(execFile)(command, args, { cwd, env, maxBuffer: 2 ** 26 }).catch((error) => {
    throw new Error(`${command}: ${error.stdout}${error.stderr}`)
  })
  return stdout
}

async function runSql(code: string, cwd: string): Promise<string> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(`SET file_search_path = '${cwd}'`)
  const rows = (await connection.runAndReadAll(code)).getRowObjectsJson()
  connection.closeSync()
  instance.closeSync()
  return JSON.stringify(rows)
}

async function runBlock({ language, code }: CodeBlock, cwd: string): Promise<string> {
  if (language === 'text') return code
  if (language === 'sql') return runSql(code, cwd)
  if (code.includes('curl ')) requireTool('curl')
  return run('bash', ['-euo', 'pipefail', '-c', code], cwd)
}

const symbolsOf = ({ plan }: Market): string[] => plan.stables.map(({ symbol }) => symbol)

test('curl', async ({ follow, market }) => {
  const [answers = '', breaks = '', problem = ''] = await follow('curl')
  for (const symbol of symbolsOf(market)) expect(answers).toContain(`"symbol":"${symbol}"`)
  expect(answers).toContain('"windows":[{"window":"1h"')
  expect(JSON.parse(breaks)).toMatchObject({ events: expect.any(Array), complete_until: expect.any(String) })
  expect(JSON.parse(problem)).toMatchObject({ status: 400, parameter: 'as_of' })
})

test('DuckDB reads what is exported, to the same figures', async ({ follow, market: { app } }) => {
  const [, supplies = '', , flows = ''] = await follow('DuckDB')
  const series = (
    await app.inject('/api/v1/stablecoins/0x20c0000000000000000000000000000000000000/supply/series?from=1d&interval=1h')
  ).json()
  const newest = series.data.at(-1)
  const [supply] = JSON.parse(supplies).map((row: Record<string, unknown>) => [row.supply, row.minted, row.burned])
  expect(supply).toEqual([newest.supply, newest.minted, newest.burned])

  const { data } = (
    await app.inject({
      url: '/api/v1/stablecoins/flows/export?from=1d',
      headers: { authorization: `Bearer ${SUBSCRIPTION_KEY}` },
    })
  ).json()
  const first = JSON.parse(flows)[0]
  const own = data.filter((flow: { from: string; to: string }) => flow.from === first.from && flow.to === first.to)
  expect(Number(first.flows)).toBe(own.length)
  const usd = own.reduce((sum: number, { usd_value }: { usd_value: string | null }) => sum + Number(usd_value ?? 0), 0)
  expect(Number(first.usd)).toBeCloseTo(usd, 5)
})

test('spreadsheets: a table with a row of names, by a GET that sends nothing but its address', async ({
  follow,
  origin,
}) => {
  const [formula = '', table = ''] = await follow('Spreadsheets')
  const [, url = ''] = /^=IMPORTDATA\("https:\/\/plumbline\.example([^"]+)"\)\n$/.exec(formula) ?? []
  const [names = '', ...rows] = table.trimEnd().split('\n')
  expect(names).toMatch(/^"bucket_start","bucket_end","open",/)
  expect(rows.length).toBeGreaterThan(3)
  for (const row of rows) {
    expect(row.split(',').length).toBe(names.split(',').length)
    expect(row).not.toContain('\\N')
  }
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  socket.write(`GET ${url} HTTP/1.0\r\n\r\n`)
  const [head = '', body] = (await text(socket)).split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(head).toMatch(/^content-type: text\/csv; charset=utf-8\r$/m)
  expect(body).toBe(table)
})

test('every recipe is one of these', () => {
  expect([...new Set(codeBlocks('docs/recipes.md').map(({ heading }) => heading))]).toEqual([
    'curl',
    // Run by the test of `npm start`, which has a chain to pay on.
    'Pay for a request',
    'DuckDB',
    'Spreadsheets',
  ])
})
