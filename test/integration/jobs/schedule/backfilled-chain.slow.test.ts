import type { ClickHouseClient } from '@clickhouse/client'
import { beforeAll, expect } from 'vitest'
import { SLOT_JOBS } from '../../../../clickhouse/jobs/periods.js'
import { backfillAll } from '../../../support/backfill.js'
import { useStillChain } from '../../../support/chain.js'
import { depth } from '../../../support/depth.js'
import { copyHistory } from '../../../support/ingested.js'
import { newestRevisions } from '../../../support/publications.js'
import { runJobs } from '../../../support/ran-slots.js'
import { test, withDatabase } from '../../../support/services.js'

const BLOCKS = 120
/** A block that can no longer be replaced. */
const START = 50
/** One block per minute, so that there are only slightly more slots than blocks. */
const BLOCK_SECONDS = 60
const TABLES = [
  'peg_breaks',
  'peg_track_states',
  'risk_snapshots',
  'extended_snapshots',
  'reserve_snapshots',
  'flow_anomalies',
]
const JOBS = SLOT_JOBS.map(({ name }) => name)

const chain = useStillChain({ historyBlocks: BLOCKS, blockSeconds: BLOCK_SECONDS })
/** The rows that the jobs write if ingest has read everything from the first block on. */
let expected: Record<string, unknown[]>

/** The rows that the jobs have written, as readers see them, without the revisions. */
async function outputs(clickhouse: ClickHouseClient): Promise<Record<string, unknown[]>> {
  const read = async (table: string): Promise<unknown[]> => {
    const query = table.endsWith('_snapshots')
      ? `SELECT * EXCEPT (revision, published_at) FROM (${newestRevisions(table)}) ORDER BY ALL`
      : `SELECT * EXCEPT revision FROM ${table} FINAL ORDER BY ALL`
    return (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
  }
  return Object.fromEntries(await Promise.all(TABLES.map(async (table) => [table, await read(table)])))
}

beforeAll(async () => {
  expected = await withDatabase(async (env, clickhouse) => {
    await copyHistory(chain, clickhouse, env)
    await runJobs(clickhouse, JOBS)
    return outputs(clickhouse)
  })
  for (const table of ['peg_breaks', 'risk_snapshots', 'reserve_snapshots']) expect(expected[table]).not.toEqual([])
}, 600_000)
const CASES: ReadonlyArray<{ what: string; backfills: string[][] }> = [
  { what: 'one backfill', backfills: [[]] },
  { what: 'the logs first and the rest newest first', backfills: [['--only', 'logs'], ['--newest-first']] },
  {
    what: 'prices without blocks, a half and the rest',
    backfills: [['--only', 'pegs', '--from', '20'], ['--from', '35', '--newest-first'], []],
  },
]

test.for(CASES.slice(-depth('BACKFILL_ORDERS', 1, CASES.length)))(
  'after $what, jobs that ran before it end with the same rows as jobs that started with all facts',
  { timeout: 600_000 },
  async ({ backfills }, { clickhouseEnv, clickhouse }) => {
    await copyHistory(chain, clickhouse, clickhouseEnv, { START_BLOCK: `${START}` })
    await runJobs(clickhouse, JOBS)
    expect(await outputs(clickhouse)).not.toEqual(expected)
    for (const flags of backfills) {
      await backfillAll(clickhouseEnv, chain.rpcUrl, flags)
      await runJobs(clickhouse, JOBS)
    }
    expect(await outputs(clickhouse)).toEqual(expected)
  },
)
