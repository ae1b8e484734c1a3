import type { ClickHouseClient } from '@clickhouse/client'
import { inject } from 'vitest'
import { type ClickHouseEnv, connect } from '../../clickhouse/store/client.js'
import type { StillChain } from './chain.js'
import { fingerprint } from './fingerprint.js'
import { ingestAll } from './ingest.js'
import type { TestChain } from './own-chain.js'
import { copyOf, keepCopy, takeDatabase } from './pool/client.js'
import { withDatabase } from './services.js'

/** Makes an empty database one that has taken in a chain. */
export type CopyTo = (clickhouse: ClickHouseClient, env: ClickHouseEnv) => Promise<void>

/** Puts all rows of the database into an empty one of the same schema, in a fraction of the time of an ingest. */
async function copyDatabase(clickhouse: ClickHouseClient, from: string, to: string): Promise<void> {
  const query = `
    SELECT name FROM system.tables
    WHERE database = '${from}' AND engine LIKE '%MergeTree' AND total_rows > 0 AND name != 'schema_migrations'
      AND NOT startsWith(name, '.') -- a view that is being refreshed`
  const tables = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ name: string }>()
  // Parts are attached as they are: no view sees the rows, whose states are copied too.
  await Promise.all(
    tables.map(({ name }) =>
      clickhouse.command({ query: `ALTER TABLE ${to}.${name} ATTACH PARTITION ALL FROM ${from}.${name}` }),
    ),
  )
}

/** Copies by what they were made of: tests of a file that run at the same time wait for the same one. */
const copies = new Map<string, Promise<string>>()

async function preparedCopy(
  chain: StillChain,
  name: string,
  prepare: (env: ClickHouseEnv, clickhouse: ClickHouseClient) => Promise<void>,
): Promise<string> {
  const kept = await copyOf(chain.id, name)
  if (kept) return kept
  if (chain.head !== chain.plan.params.blocks) throw new Error('the chain has blocks that are not of its history')
  const env = { ...inject('clickhouseServer'), CLICKHOUSE_DATABASE: await takeDatabase() }
  const clickhouse = connect(env, { application: 'plumbline-test' })
  await prepare(env, clickhouse)
  await clickhouse.close()
  await keepCopy(chain.id, name, env.CLICKHOUSE_DATABASE)
  return env.CLICKHOUSE_DATABASE
}

/**
 * Makes an empty database one that `prepare` has filled from the history of a chain. It does so once a run for each chain and
 * `name`; each further database is a copy, which takes a fraction of the time.
 */
export async function copyPrepared(
  chain: StillChain,
  clickhouse: ClickHouseClient,
  { CLICKHOUSE_DATABASE: to }: ClickHouseEnv,
  name: string,
  prepare: (env: ClickHouseEnv, clickhouse: ClickHouseClient) => Promise<void>,
): Promise<void> {
  const key = `${chain.id} ${name}`
  const copy = copies.get(key) ?? preparedCopy(chain, name, prepare)
  copies.set(key, copy)
  copy.catch(() => copies.delete(key))
  await copyDatabase(clickhouse, await copy, to)
}

/**
 * Makes an empty database one that has taken in the whole history of a chain with these settings, for tests of what is in. It
 * has no tokens of inserts.
 */
export const copyHistory = (
  chain: StillChain,
  clickhouse: ClickHouseClient,
  env: ClickHouseEnv,
  settings: Record<string, string> = {},
): Promise<void> =>
  copyPrepared(chain, clickhouse, env, JSON.stringify(settings), (own, client) =>
    ingestAll(own, client, chain.rpcUrl, chain.head, settings),
  )

/** The fingerprint of a database that has taken in the whole history of a chain with these settings. */
export const fingerprintOfHistory = (
  chain: StillChain,
  settings: Record<string, string> = {},
): Promise<Record<string, unknown>> =>
  withDatabase(async (env, clickhouse) => {
    await copyHistory(chain, clickhouse, env, settings)
    return fingerprint(clickhouse)
  })

/**
 * Lets `use` have a function that makes an empty database one that has taken in the chain, up to `head`, with these
 * settings. The chain is read once; each further database is a copy.
 */
export async function withIngested<Result>(
  { rpcUrl, head }: Pick<TestChain, 'rpcUrl' | 'head'>,
  settings: Record<string, string>,
  use: (copyTo: CopyTo) => Promise<Result>,
): Promise<Result> {
  return withDatabase(async (source, clickhouse) => {
    await ingestAll(source, clickhouse, rpcUrl, head, settings)
    return use((target, env) => copyDatabase(target, source.CLICKHOUSE_DATABASE, env.CLICKHOUSE_DATABASE))
  })
}
