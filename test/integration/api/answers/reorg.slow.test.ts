import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { beforeAll, expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { useStillChain } from '../../../support/chain.js'
import { ingestAll, ingestedHead, startIngest } from '../../../support/ingest.js'
import { type ChangingChain, changingChain } from '../../../support/reorgs.js'
import { test, withDatabase } from '../../../support/services.js'

/** More than five minutes of blocks, so that the refreshed windows end at a block that is replaced. */
const DEPTH = 16

const chain = useStillChain({ historyBlocks: 40 })
let blocks: ChangingChain

beforeAll(async () => {
  blocks = changingChain(chain)
})

type App = Awaited<ReturnType<typeof buildApp>>

const rowsOf = async <Row>(clickhouse: ClickHouseClient, query: string): Promise<Row[]> =>
  (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>()

/** The windows after a refresh. */
async function refreshedWindows(clickhouse: ClickHouseClient): Promise<unknown[]> {
  await clickhouse.command({ query: 'SYSTEM REFRESH VIEW peg_windows_mv' })
  await clickhouse.command({ query: 'SYSTEM WAIT VIEW peg_windows_mv' })
  return rowsOf(clickhouse, 'SELECT * FROM peg_windows ORDER BY ALL')
}

/** The answers of every route about everything that exists. */
async function answers(app: App, addresses: readonly string[]): Promise<Record<string, unknown>> {
  const urls = [
    '/api/v1/stablecoins',
    '/api/v1/stablecoins/flows?hours=24',
    ...addresses.flatMap((address) => [`/api/v1/stablecoins/${address}`, `/api/v1/stablecoins/${address}/peg`]),
  ]
  const said: Record<string, unknown> = {}
  for (const url of urls) {
    const response = await app.inject(url)
    said[url] = { status: response.statusCode, body: response.json() }
  }
  return said
}

test('while blocks are replaced every answer is well-formed, and afterwards no answer contains replaced ones', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  let time = new Date()
  const failures: unknown[] = []
  const logger = pino({ level: 'error' }, { write: (line) => failures.push(JSON.parse(line).err) })
  const apiOn = (on: ClickHouseClient) => buildApp({ clickhouse: on, now: () => time, logger })
  const app = await apiOn(clickhouse)
  const ingest = startIngest(clickhouseEnv, chain.rpcUrl)
  await blocks.mine(DEPTH, 'replaced')
  const head = await blocks.head()
  time = new Date((head.timestamp + 600) * 1000)
  await ingestedHead(clickhouse, head, ingest)
  expect(await refreshedWindows(clickhouse)).not.toEqual([])
  const tokens = await rowsOf<{ stable: string; name: string }>(clickhouse, 'SELECT stable, name FROM stablecoins')
  const addresses = tokens.map(({ stable }) => stable)
  const gone = tokens.filter(({ name }) => name.startsWith('replaced')).map(({ stable }) => stable)
  expect(gone).toHaveLength(DEPTH)

  let isOver = false
  let answered = 0
  const asking = (async () => {
    while (!isOver) {
      for (const answer of Object.values(await answers(app, [...gone.slice(-2), ...addresses.slice(0, 3)]))) {
        const { status } = answer as { status: number }
        if (status === 200) answered += 1
        else if (status !== 404) failures.push(answer)
      }
    }
  })()
  await blocks.reorg(DEPTH, 'replacing')
  await blocks.mine(2, 'after')
  await ingestedHead(clickhouse, await blocks.head(), ingest)
  isOver = true
  await asking
  await ingest.kill('SIGTERM')
  // At some moment replaced objects become unknown; nothing else ever fails.
  expect(failures).toEqual([])
  expect(answered).toBeGreaterThan(0)

  await withDatabase(async (env, other) => {
    await ingestAll(env, other, chain.rpcUrl, (await blocks.head()).number)
    // The list of known stables is read again after a minute; these begin without one.
    const [now, fresh] = await Promise.all([apiOn(clickhouse), apiOn(other)])
    const said = await answers(now, addresses)
    expect(said).toEqual(await answers(fresh, addresses))
    for (const address of gone) expect(said[`/api/v1/stablecoins/${address}`]).toMatchObject({ status: 404 })
    expect(await refreshedWindows(clickhouse)).toEqual(await refreshedWindows(other))
    await Promise.all([now.close(), fresh.close()])
  })
  await app.close()
})
