import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import { test as base, inject } from 'vitest'
import { requireTool } from '../../../../../test/support/tools.js'
import { type Http, httpTo } from '../engine.js'
import { differences, differencesInTime } from './differences.js'

const { CLICKHOUSE_URL: url, CLICKHOUSE_USER: user, CLICKHOUSE_PASSWORD: password } = inject('conformingServer')

/** The tested server, and a user with all rights. */
export const server = { url, user, password }

export const basic = { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }

const request = httpTo(url, basic)
const { headers } = await request('SELECT 1')
const isEmbedded = headers['x-clickhouse-server-display-name'] === 'plumbline-clickhouse'

/** The output of `curl` for these arguments, followed by the server's URL with `parameters`. */
type Curl = (args: string[], parameters?: Record<string, string>) => Promise<string>

type Fixtures = {
  /** A database of this file's own. */
  database: string
  /** One request in it, as it is on the wire. */
  http: Http
  /** The answer's text; throws unless the status is 200. */
  sql: (query: string, url?: Record<string, string>) => Promise<string>
  client: ClickHouseClient
  /** Skips the test where there is no curl. */
  curl: Curl
}

const test = base.extend<Fixtures>({
  database: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    async ({}, use) => {
      const name = `conformance_${randomBytes(6).toString('hex')}`
      await request(`CREATE DATABASE ${name}`)
      await use(name)
      await request(`DROP DATABASE ${name} SYNC`)
    },
    { scope: 'file' },
  ],
  http: async ({ database }, use) => {
    await use((asked) => {
      const ask = typeof asked === 'string' ? { query: asked } : asked
      return request({ ...ask, url: { database, ...ask.url } })
    })
  },
  sql: async ({ http }, use) => {
    await use(async (query, url = {}) => {
      const answer = await http({ query, url })
      if (answer.status !== 200) throw new Error(`${query}: ${answer.text}`)
      return answer.text
    })
  },
  client: async ({ database }, use) => {
    const client = createClient({ url, username: user, password, database, log: { level: 127 } })
    await use(client)
    await client.close()
  },
  curl: async ({ database }, use) => {
    requireTool('curl')
    await use(async (args, parameters = {}) => {
      const address = `${url}/?${new URLSearchParams({ database, ...parameters })}`
      const { stdout } = await promisify(execFile)('curl', ['-sS', '-u', `${user}:${password}`, ...args, address])
      return stdout
    })
  },
})

/**
 * Tests something that ClickHouse documents. If the embedded engine is known to differ (differences.ts), the test has to
 * fail there, so that the list stays correct.
 */
export function conforms(
  name: string,
  run: (fixtures: Fixtures & { skip: (note: string) => never }) => Promise<void>,
): void {
  if (isEmbedded && name in differencesInTime) {
    test(name, ({ skip }) => skip(differencesInTime[name]))
    return
  }
  const register = isEmbedded && name in differences ? test.fails : test
  // vitest reads the fixtures that a test needs from the source of its function.
  register(name, run)
}
