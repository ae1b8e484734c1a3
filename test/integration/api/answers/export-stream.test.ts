import { once } from 'node:events'
import { get, type IncomingMessage, type RequestOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ClickHouseClient } from '@clickhouse/client'
import type { FastifyInstance } from 'fastify'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import { sendExport } from '../../../../api/answers/export.js'
import { defineExport, type ExportFormat } from '../../../../clickhouse/store/export.js'
import { test } from '../../../support/app.js'

const PATIENCE = { timeout: 60_000, interval: 100 }

/** Endless rows, about as wide as a flow and hard to compress; optionally, one of them cannot be computed. */
const endless = defineExport({
  name: 'test_endless',
  params: z.object({ fails_at: z.int() }),
  sql: `
    SELECT number, concat(hex(sipHash128(number)), hex(sipHash128(number, 1)), repeat('x', 120)) AS text, throwIf(number = {fails_at: UInt64}, 'not for everybody') AS fine
    FROM system.numbers LIMIT 1000000000
    SETTINGS max_block_size = 8192, max_threads = 1`,
})

/** How many of the queries are running, and how many rows they have read. */
async function running(clickhouse: ClickHouseClient): Promise<{ queries: number; rows: number }> {
  const result = await clickhouse.query({
    query: `
      SELECT toUInt32(count()) AS queries, toFloat64(sum(read_rows)) AS rows FROM system.processes
      WHERE query LIKE '%system.numbers LIMIT 1000000000%' AND query NOT LIKE '%system.processes%'`,
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ queries: number; rows: number }>()
  return row ?? { queries: 0, rows: 0 }
}

/** The API, listening, with an endless export; `fails_at` and `format` come from the query. */
async function listening(app: FastifyInstance): Promise<string> {
  const schema = { querystring: z.strictObject({ fails_at: z.string().optional(), format: z.string().optional() }) }
  app.get('/endless', { schema }, async (request, reply) => {
    const { fails_at, format = 'ndjson' } = request.query as { fails_at?: string; format?: ExportFormat }
    return sendExport(app, request, reply, async () => ({
      query: { format, null: 'mark', provenance: 'false' },
      filename: 'endless',
      head: { what: 'endless' },
      next: null,
      rows: (options) => endless(app.clickhouse, { fails_at: Number(fails_at ?? 2e9) }, options),
    }))
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
}

async function ask(url: string, options: RequestOptions = {}): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { agent: false, ...options }), 'response')) as [IncomingMessage]
  return response
}

/** Reads on until this many bytes have arrived. */
async function readBytes(response: IncomingMessage, bytes: number): Promise<void> {
  let read = 0
  while (read < bytes) {
    const chunk: Buffer | null = response.read()
    if (chunk === null) await once(response, 'readable')
    else read += chunk.length
  }
}

test('a client that leaves ends the query, in every format', async ({ app, clickhouse }) => {
  const url = await listening(app)
  for (const format of ['json', 'ndjson', 'csv', 'parquet', 'arrow']) {
    const response = await ask(`${url}/endless?format=${format}`)
    expect(response.statusCode).toBe(200)
    await readBytes(response, 1_000_000)
    expect([format, (await running(clickhouse)).queries]).toEqual([format, 1])
    response.destroy()
    await vi.waitFor(async () => expect([format, (await running(clickhouse)).queries]).toEqual([format, 0]), PATIENCE)
  }
})

test('a client that does not read stops the engine and uses no memory', async ({ app, clickhouse }) => {
  const url = await listening(app)
  const response = await ask(`${url}/endless`)
  await readBytes(response, 1_000_000)
  // The engine stops once all buffers in between are full.
  let before = -1
  await vi.waitFor(
    async () => {
      const { rows: now } = await running(clickhouse)
      const isStill = now === before && now > 0
      before = now
      expect(isStill).toBe(true)
    },
    { ...PATIENCE, interval: 1000 },
  )
  // 230 bytes a row.
  expect(before * 230).toBeLessThan(64 * 1024 * 1024)
  expect((await running(clickhouse)).queries).toBe(1)
  // It resumes when the client reads.
  await readBytes(response, 100_000_000)
  response.destroy()
})

test('what is too large to be held whole has no length, and Range gets all of it as a stream', async ({
  app,
  clickhouse,
}) => {
  const url = await listening(app)
  const head = await ask(`${url}/endless`, { method: 'HEAD' })
  expect([head.statusCode, head.headers['accept-ranges'], head.headers['content-length']]).toEqual([
    200,
    'none',
    undefined,
  ])
  await vi.waitFor(async () => expect((await running(clickhouse)).queries).toBe(0), PATIENCE)
  const response = await ask(`${url}/endless`, { headers: { range: 'bytes=0-9' } })
  expect([response.statusCode, response.headers['accept-ranges'], response.headers.etag]).toEqual([
    200,
    'none',
    undefined,
  ])
  await readBytes(response, 100_000_000)
  response.destroy()
})

test('a query that fails half-way cuts the answer off, without the engine’s message', async ({ app }) => {
  const url = await listening(app)
  for (const format of ['json', 'ndjson', 'csv', 'parquet', 'arrow']) {
    const response = await ask(`${url}/endless?format=${format}&fails_at=400000`)
    expect(response.statusCode).toBe(200)
    const chunks: Buffer[] = []
    const read = async () => {
      for await (const chunk of response) chunks.push(chunk as Buffer)
    }
    await expect(read()).rejects.toThrow('aborted')
    const body = Buffer.concat(chunks)
    expect(body.length).toBeGreaterThan(1000)
    expect([format, body.includes('not for everybody'), body.includes('__exception__')]).toEqual([format, false, false])
  }
})

test('a query that fails before its first rows is a problem like any other', async ({ app }) => {
  await listening(app)
  const failed = await app.inject('/endless?fails_at=0')
  expect([failed.statusCode, failed.headers['content-type'], failed.json().type]).toEqual([
    500,
    expect.stringContaining('application/problem+json'),
    'urn:plumbline:problem:internal',
  ])
  expect(failed.body).not.toContain('not for everybody')
})

test('four exports at once leave connections for other requests, and a fifth is asked to retry', async ({ app }) => {
  const url = await listening(app)
  const open = await Promise.all([1, 2, 3, 4].map(() => ask(`${url}/endless`)))
  const fifth = await ask(`${url}/endless`)
  expect([fifth.statusCode, fifth.headers['retry-after']]).toEqual([503, '5'])
  fifth.resume()
  expect((await app.inject('/api/v1/stablecoins')).statusCode).toBe(200)
  for (const response of open) response.destroy()
  await vi.waitFor(async () => {
    const again = await ask(`${url}/endless`)
    again.destroy()
    expect(again.statusCode).toBe(200)
  }, PATIENCE)
})
