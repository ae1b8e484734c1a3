import { randomBytes } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { test as base, inject } from 'vitest'
import { type ClickHouseEnv, connect } from '../../clickhouse/store/client.js'
import { giveBackDatabase, takeDatabase } from './pool/client.js'
import { startRedis, type TestRedis } from './redis.js'

/** Passes `use` the name of a database for exclusive use, not yet created, and drops the database afterwards. */
async function withDatabaseName<Result>(use: (env: ClickHouseEnv) => Promise<Result>): Promise<Result> {
  const env = { ...inject('clickhouseServer'), CLICKHOUSE_DATABASE: `test_${randomBytes(6).toString('hex')}` }
  try {
    return await use(env)
  } finally {
    const server = connect({ ...env, CLICKHOUSE_DATABASE: 'default' }, { application: 'plumbline-test' })
    await server.command({ query: `DROP DATABASE IF EXISTS ${env.CLICKHOUSE_DATABASE} SYNC` })
    await server.close()
  }
}

/** Passes `use` the name of a migrated, empty database for exclusive use. */
async function withMigrated<Result>(use: (env: ClickHouseEnv) => Promise<Result>): Promise<Result> {
  const name = await takeDatabase()
  try {
    return await use({ ...inject('clickhouseServer'), CLICKHOUSE_DATABASE: name })
  } finally {
    await giveBackDatabase(name)
  }
}

/** The same, with a client on it. */
export async function withDatabase<Result>(
  use: (env: ClickHouseEnv, clickhouse: ClickHouseClient) => Promise<Result>,
): Promise<Result> {
  return withMigrated(async (env) => {
    const clickhouse = connect(env, { application: 'plumbline-test' })
    try {
      return await use(env, clickhouse)
    } finally {
      await clickhouse.close()
    }
  })
}

type Services = {
  /** The name of this test's own database, not yet created. */
  emptyClickhouseEnv: ClickHouseEnv
  /** The name of one that is migrated and empty. */
  clickhouseEnv: ClickHouseEnv
  /** A client on that database. */
  clickhouse: ClickHouseClient
  /** The test's own Redis, which it may kill. The test is skipped if there is no redis-server. */
  redis: TestRedis
}

/** A test with a real ClickHouse: every test has its own database, so none sees another's rows. */
export const test = base.extend<Services>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  emptyClickhouseEnv: ({}, use) => withDatabaseName(use),
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  clickhouseEnv: ({}, use) => withMigrated(use),
  clickhouse: async ({ clickhouseEnv }, use) => {
    const clickhouse = connect(clickhouseEnv, { application: 'plumbline-test' })
    await use(clickhouse)
    await clickhouse.close()
  },
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  redis: async ({}, use) => {
    const redis = await startRedis()
    await use(redis)
    await redis.remove()
  },
})
