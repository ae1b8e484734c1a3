import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import { test as base } from 'vitest'
import { type Embedded, type EmbeddedOptions, spawnEmbedded } from '../../spawn.js'

export const credentials = { user: 'default', password: 'sé:cret' }

export const basic = {
  Authorization: `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`,
}

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer; text: string }
type Ask = {
  query?: string
  url?: Record<string, string>
  body?: string | Buffer
  method?: string
  path?: string
  headers?: Record<string, string>
}
export type Http = (ask: Ask | string) => Promise<Answer>

/** Sends one request without a client library, with valid credentials unless `headers` has others. */
export function httpTo(base: string, credentials: Record<string, string> = basic): Http {
  return (asked) => {
    const ask = typeof asked === 'string' ? { query: asked } : asked
    const url = new URL(ask.path ?? '/', base)
    for (const [name, value] of Object.entries(ask.url ?? {})) url.searchParams.set(name, value)
    if (ask.query !== undefined) url.searchParams.set('query', ask.query)
    const headers = ask.headers ?? credentials
    return new Promise((resolve, reject) => {
      const sent = request(url, { method: ask.method ?? 'POST', headers, agent: false }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const body = Buffer.concat(chunks)
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body, text: body.toString() })
        })
      })
      sent.on('error', reject)
      sent.end(ask.body)
    })
  }
}

export const clientOf = (url: string, options: Parameters<typeof createClient>[0] = {}): ClickHouseClient =>
  createClient({ url, username: credentials.user, password: credentials.password, log: { level: 127 }, ...options })

/** Calls `use` with a temporary directory, and removes it afterwards. */
export async function withDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'embedded-test-'))
  try {
    return await use(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

export const start = (dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<Embedded> =>
  spawnEmbedded({ dataDir, ...credentials, ...options })

/** The queries that run in the engine, except this one. */
export const runningQueries = async (http: Http): Promise<string[]> => {
  const { text } = await http(
    "SELECT query FROM system.processes WHERE query NOT LIKE '%system.processes%' FORMAT LineAsString",
  )
  return text.split('\n').filter(Boolean)
}

/** One engine for a whole test file; each test has its own client. */
export const test = base.extend<{ client: ClickHouseClient; http: Http; engine: Embedded; dataDir: string }>({
  dataDir: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the parameter names
    async ({}, use) => {
      await withDirectory(use)
    },
    { scope: 'worker' },
  ],
  engine: [
    async ({ dataDir }, use) => {
      const engine = await start(dataDir, { maxConcurrentQueries: 20 })
      await use(engine)
      await engine.stop()
    },
    { scope: 'worker' },
  ],
  client: async ({ engine }, use) => {
    const client = clientOf(engine.url)
    await use(client)
    await client.close()
  },
  http: async ({ engine }, use) => {
    await use(httpTo(engine.url))
  },
})
