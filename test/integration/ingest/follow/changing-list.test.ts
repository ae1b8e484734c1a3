import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { newestBlock } from '../../../../clickhouse/chain/blocks.js'
import { type TokenListRow, tokenLists } from '../../../../clickhouse/chain/token-lists.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { IngestConfig } from '../../../../ingest/config.js'
import { ingest } from '../../../../ingest/follow/run.js'
import { parseEnv } from '../../../../process/environment.js'
import { startServer } from '../../../support/answering.js'
import { test } from '../../../support/app.js'
import { useStillChain } from '../../../support/chain.js'
import { ingestAll, startIngest } from '../../../support/ingest.js'
import { localNode, tokenListFile } from '../../../support/local-node.js'
import { mismatches, runVerify } from '../../../support/verify.js'

const BEFORE = readFileSync(tokenListFile('pathUSD', 'ABUSD', 'BWUSD'), 'utf8')
const AFTER = readFileSync(tokenListFile('pathUSD', 'ABUSD', 'CNUSD'), 'utf8')
const SETTINGS = { TRACK: 'listed', BATCH_BLOCKS: '10' }

const chain = useStillChain({ historyBlocks: 120 })
const address = (symbol: string): string => chain.plan.stable(symbol).address

/** A server of one list, which the test changes; a status instead of a text is answered as such. */
async function serveList(content: string | number) {
  const served = { content, url: '' }
  served.url = await startServer((_, response) => {
    if (typeof served.content === 'number') response.writeHead(served.content).end()
    else response.end(served.content)
  })
  return served
}

/**
 * Reads the whole chain, or until `stopWhen` is logged; after each batch, `atBlock` may change what is served, and the list
 * is checked.
 */
async function ingestWith(
  env: ClickHouseEnv,
  clickhouse: ClickHouseClient,
  list: string,
  atBlock: (block: number) => void,
  stopWhen?: string,
): Promise<{ refused: string[]; warnings: string[] }> {
  const settings = { ...env, ...localNode(chain.rpcUrl), ...SETTINGS, POLL_INTERVAL_MS: '100', TOKEN_LIST: list }
  const stop = new AbortController()
  const refused: string[] = []
  const warnings: string[] = []
  const metrics = {
    headSeen: () => {},
    booksUnknown: () => {},
    chainChanged: () => {},
    tokenListCurrent: () => {},
    tokenListRefused: (reason: string) => void refused.push(reason),
  }
  const write = (line: string) => {
    if (line.includes('"level":40')) warnings.push(line)
    if (stopWhen !== undefined && line.includes(stopWhen)) stop.abort()
  }
  const log = pino({}, { write })
  const config = parseEnv(IngestConfig, settings)
  try {
    for await (const { block } of ingest({
      clickhouse,
      config,
      log,
      signal: stop.signal,
      metrics,
      tokenListCheckMs: 0,
    })) {
      atBlock(block)
      // Time for the check that the previous batch began.
      await sleep(100)
      if (block >= chain.head) stop.abort()
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  }
  return { refused, warnings }
}

const listedIn = ({ stables }: TokenListRow): string[] =>
  ['ABUSD', 'BWUSD', 'CNUSD'].filter((s) => stables.includes(address(s)))

async function sampled(clickhouse: ClickHouseClient) {
  const query = `
    SELECT stable, toUInt32(min(block_number)) AS first, toUInt32(max(block_number)) AS last, toUInt32(count()) AS samples
    FROM peg_samples GROUP BY stable`
  const rows = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ stable: string }>()
  return new Map(rows.map(({ stable, ...row }) => [stable, row]))
}

test('a list that changes at its URL holds from the next block on, without a restart', async ({
  clickhouse,
  clickhouseEnv,
}) => {
  const served = await serveList(BEFORE)
  await ingestWith(clickhouseEnv, clickhouse, served.url, (block) => {
    if (block >= 40) served.content = AFTER
  })
  const [first, second, ...more] = await tokenLists(clickhouse)
  if (!first || !second) throw new Error('the change was not recorded')
  expect(more).toEqual([])
  expect([listedIn(first), listedIn(second)]).toEqual([
    ['ABUSD', 'BWUSD'],
    ['ABUSD', 'CNUSD'],
  ])
  const { from_block } = second
  expect(from_block).toBeGreaterThan(40)
  expect(from_block).toBeLessThan(chain.head)

  const rows = await sampled(clickhouse)
  expect(rows.get(address('ABUSD'))).toMatchObject({ last: chain.head })
  expect(rows.get(address('BWUSD'))).toMatchObject({ last: from_block - 1 })
  const samples = chain.head - from_block + 1
  expect(rows.get(address('CNUSD'))).toEqual({ first: from_block, last: chain.head, samples })

  const { code, output } = await runVerify(clickhouseEnv, chain.rpcUrl, '--all')
  expect(mismatches(output), output).toEqual([])
  expect(code).toBe(0)
})

test('a file that is written again is taken over in the same way', async ({ clickhouse, clickhouseEnv }) => {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-list-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'list.json')
  writeFileSync(path, BEFORE)
  await ingestWith(clickhouseEnv, clickhouse, path, (block) => {
    if (block < 80) writeFileSync(path, block < 40 ? BEFORE : AFTER)
    else rmSync(path, { force: true })
  })
  const lists = await tokenLists(clickhouse)
  expect(lists.map(listedIn)).toEqual([
    ['ABUSD', 'BWUSD'],
    ['ABUSD', 'CNUSD'],
  ])
  expect((await sampled(clickhouse)).get(address('CNUSD'))).toMatchObject({
    first: lists[1]?.from_block,
    last: chain.head,
  })
})

test('an ingest that ends between the record of a list and its first block resumes with that list', async ({
  clickhouse,
  clickhouseEnv,
}) => {
  const served = await serveList(BEFORE)
  const change = (block: number) => {
    if (block >= 40) served.content = AFTER
  }
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, 20, { ...SETTINGS, TOKEN_LIST: served.url })
  await ingestWith(clickhouseEnv, clickhouse, served.url, change, 'recorded a token list')
  const lists = await tokenLists(clickhouse)
  expect(lists.map(listedIn).at(-1)).toEqual(['ABUSD', 'CNUSD'])
  const changed = lists.at(-1)?.from_block ?? 0
  expect((await newestBlock(clickhouse))?.block_number).toBe(changed - 1)

  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head, { ...SETTINGS, TOKEN_LIST: served.url })
  expect(await tokenLists(clickhouse)).toEqual(lists)
  const rows = await sampled(clickhouse)
  expect(rows.get(address('BWUSD'))).toMatchObject({ last: changed - 1 })
  expect(rows.get(address('CNUSD'))).toMatchObject({ first: changed, last: chain.head })
})

test('a wrong answer, or none, keeps the last good list, is logged once, and stops nothing', async ({
  clickhouse,
  clickhouseEnv,
}) => {
  const served = await serveList(BEFORE)
  const otherChain = JSON.stringify({
    ...JSON.parse(BEFORE),
    tokens: [{ ...JSON.parse(BEFORE).tokens[0], chainId: 1 }],
  })
  const { refused, warnings } = await ingestWith(clickhouseEnv, clickhouse, served.url, (block) => {
    served.content = block < 40 ? '{' : block < 80 ? otherChain : 503
  })
  expect(await tokenLists(clickhouse)).toHaveLength(1)
  expect((await sampled(clickhouse)).get(address('BWUSD'))).toMatchObject({ last: chain.head })
  expect(new Set(refused)).toEqual(new Set(['wrong', 'unreachable']))
  expect(refused.length).toBeGreaterThan(3)
  const logged = warnings.filter((line) => line.includes('the last good one stays'))
  expect(logged).toHaveLength(3)
  expect(logged[0]).toContain('the list is not JSON')
  expect(logged[1]).toContain('the list has no token of chain')
  expect(logged[2]).toContain('the status is 503')
})

for (const answer of [503, '{'] as const)
  test(`if the list cannot be used at a start (${answer}), the one that was recorded last stays`, async ({
    clickhouse,
    clickhouseEnv,
  }) => {
    const served = await serveList(BEFORE)
    const settings = { ...SETTINGS, TOKEN_LIST: served.url }
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, 40, settings)
    served.content = answer
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head, settings)
    expect(await tokenLists(clickhouse)).toHaveLength(1)
    expect((await sampled(clickhouse)).get(address('BWUSD'))).toMatchObject({ last: chain.head })
  })

test('a first start without a list that can be read ends, and may be repeated', async ({ clickhouseEnv }) => {
  const { url } = await serveList(503)
  const { exited, output } = startIngest(clickhouseEnv, chain.rpcUrl, { TOKEN_LIST: url })
  expect((await exited).code, output()).toBe(1)
  expect(output()).toContain('TOKEN_LIST cannot be read, and no earlier list is recorded')
})

test('a start with a wrong list ends with 78 and everything that is wrong in it', async ({ clickhouseEnv }) => {
  const { url } = await serveList(JSON.stringify({ name: 'x', timestamp: 'y', version: {}, tokens: [] }))
  const { exited, output } = startIngest(clickhouseEnv, chain.rpcUrl, { TOKEN_LIST: `${url}/?key=hunter2` })
  expect((await exited).code, output()).toBe(78)
  for (const place of ['timestamp', 'version.major', 'tokens'])
    expect(output()).toContain(`TOKEN_LIST: the list.${place}: `)
  expect(output()).not.toContain('hunter2')
})
