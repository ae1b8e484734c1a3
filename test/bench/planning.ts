// What a statement of a request takes on a database of a few rows, where it is planned for longer than it reads, against
// SELECT 1, in turns. Every statement that the public routes and a pass of each job make on a small market, longest first.
import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { buildApp } from '../../api/app.js'
import type { ApiDocument } from '../../api/http/openapi/document.js'
import { SLOT_JOBS } from '../../clickhouse/jobs/periods.js'
import { countSlots, readProgress } from '../../clickhouse/jobs/progress.js'
import { connect } from '../../clickhouse/store/client.js'
import { addApiKey } from '../support/keys.js'
import { runJobs } from '../support/ran-slots.js'
import { median, timed } from './measure.js'
import { startProgram } from './programs.js'
import { rows, startStack } from './stack.js'

const ROUNDS = Number(process.argv[2] ?? 15)

type Statement = { name: string; query: string; query_params: Record<string, unknown> | undefined }

const stack = await startStack()
try {
  const chain = await stack.chain('market', { historyBlocks: 125, blockSeconds: 60, stables: 9 })
  await chain.historyDone
  const { env, clickhouse } = await stack.database('planning')
  const node = { RPC_URL: chain.rpcUrl, RPC_WS_URL: chain.wsUrl, CHAIN: 'devnet', LOG_LEVEL: 'error' }
  const ingest = await startProgram('ingest/main.js', { ...env, ...node }, 'ingest has caught up')
  await ingest.stop()

  const statements = new Map<string, Statement>()
  const recorded = recording(connect(env, { application: 'plumbline-bench' }), statements)
  const now = new Date()
  const app = await buildApp({ clickhouse: recorded, now: () => now, logger: pino({ level: 'silent' }) })
  await runJobs(
    recorded,
    SLOT_JOBS.map(({ name }) => name),
  )
  const { history } = await readProgress(recorded, SLOT_JOBS, now)
  await countSlots(recorded, SLOT_JOBS, { history, now })
  const { key } = await addApiKey(clickhouse)
  const { stables, paths } = await requests(clickhouse, (await app.inject('/openapi.json')).json() as ApiDocument)
  const statuses = new Map<number, number>()
  for (const url of paths) {
    const { statusCode } = await app.inject({ url, headers: { authorization: `Bearer ${key}` } })
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
  }
  await app.close()

  const times = new Map<string, { own: number[]; one: number[] }>()
  const run = (query: string, query_params?: Record<string, unknown>) =>
    timed(async () =>
      (await clickhouse.query({ query, format: 'JSONEachRow', ...(query_params && { query_params }) })).text(),
    )
  for (let round = 0; round < ROUNDS; round++)
    for (const { name, query, query_params } of statements.values()) {
      const { own, one } = times.get(name) ?? { own: [], one: [] }
      one.push(await run('SELECT 1'))
      own.push(await run(query, query_params))
      times.set(name, { own, one })
    }
  const answers = [...statuses].map(([status, count]) => `${count} with ${status}`).join(', ')
  console.log(
    `${stables} stables, ${paths.length} requests (${answers}), ${statements.size} statements, ${ROUNDS} rounds`,
  )
  const figures = [...times].map(([name, { own, one }]) => ({ name, own: median(own), one: median(one) }))
  for (const { name, own, one } of figures.sort((a, b) => b.own / b.one - a.own / a.one))
    console.log(
      `${name.padEnd(34)} ${own.toFixed(1).padStart(7)} ms; SELECT 1 ${one.toFixed(1)} ms: ${(own / one).toFixed(1)}`,
    )
} finally {
  await stack.close()
}

/** A client whose statements are kept, the last one of each name. */
function recording(clickhouse: ClickHouseClient, statements: Map<string, Statement>): ClickHouseClient {
  const query = clickhouse.query.bind(clickhouse)
  clickhouse.query = ((asked: Parameters<typeof query>[0]) => {
    const name = String(asked.clickhouse_settings?.log_comment ?? 'unnamed')
    statements.set(name, { name, query: asked.query, query_params: asked.query_params })
    return query(asked)
  }) as typeof clickhouse.query
  return clickhouse
}

/** Each public operation, live and as of a minute of the history, for each stable. */
async function requests(clickhouse: ClickHouseClient, document: ApiDocument) {
  const [span] = await rows<{ first: number; last: number }>(
    clickhouse,
    'SELECT toUnixTimestamp(min(block_time)) AS first, toUnixTimestamp(max(block_time)) AS last FROM blocks',
  )
  const { first, last } = span as { first: number; last: number }
  const stables = await rows<{ stable: string }>(
    clickhouse,
    'SELECT stable FROM stablecoins ORDER BY block_number, stable LIMIT 3',
  )
  const range = `from=${first}&to=${last}`
  const paths = Object.entries(document.paths).flatMap(([path, operations]) => {
    if (!('get' in operations) || path.includes('/admin/') || path.includes('/stream') || path.includes('{id}'))
      return []
    const of = path.includes('{address}') ? stables.map(({ stable }) => path.replace('{address}', stable)) : [path]
    const queries = [
      '',
      `as_of=${Math.floor((first + last) / 2)}`,
      range,
      `${range}&step=1h`,
      'size=25000',
      `${range}&limit=3`,
      'limit=3',
    ]
    return of.flatMap((url) => queries.map((query) => `${url}?${query}`))
  })
  return { stables: stables.length, paths }
}
