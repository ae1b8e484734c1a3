import { expect, test } from 'vitest'
import type { Connection } from '../../../engine/connection.js'
import type { Pipes } from '../../../engine/pipes.js'
import { QueryLog, type QueryLogEntry } from '../../../query/query-log.js'

/** A query log over an engine that accepts a batch only while `takes` returns true. */
async function logged(takes: (rows: string[]) => boolean) {
  const written: string[] = []
  const said: string[] = []
  const tries: number[] = []
  const pipes = { withFile: (rows: Buffer, use: (path: string) => Promise<unknown>) => use(rows.toString()) }
  const run = async (sql: string) => {
    const batch = /FROM INFILE '([\s\S]*)' COMPRESSION/.exec(sql)?.[1]
    if (batch === undefined) return { bytes: Buffer.from('0\n') }
    const ids = batch.split('\n').map((line) => (JSON.parse(line) as { query_id: string }).query_id)
    tries.push(ids.length)
    if (!takes(ids)) throw new Error('no space')
    written.push(...ids)
    return { bytes: Buffer.alloc(0) }
  }
  const connection = { run, close: async () => undefined } as unknown as Connection
  const log = await QueryLog.open(connection, pipes as unknown as Pipes, 7, (line) => said.push(line))
  return { log, written, said, tries }
}

const entry = (query_id: string, query = 'SELECT 1') =>
  ({ query_id, query, exception: '', Settings: {}, query_parameters: {}, startMs: 1, endMs: 2 }) as QueryLogEntry

test('rows are written in batches, and all of them before it closes', async () => {
  const { log, written, tries } = await logged(() => true)
  for (let i = 0; i < 1500; i++) log.record(entry(String(i)))
  await log.close()
  expect(written).toEqual(Array.from({ length: 1500 }, (_, i) => String(i)))
  expect(tries.length).toBeLessThan(5)
})

test('rows that cannot be written are retried once, then dropped', async () => {
  let isFull = true
  const { log, written, said } = await logged((ids) => !isFull && !ids.includes('poison'))
  log.record(entry('first'))
  await log.flush()
  isFull = false
  await log.flush()
  expect(written).toEqual(['first'])
  log.record(entry('poison'))
  await log.flush()
  await log.flush()
  log.record(entry('second'))
  await log.flush()
  expect(written).toEqual(['first', 'second'])
  expect(said).toContain('query log: 1 rows were dropped')
})

test('rows that cannot be written take bounded memory, and the number of dropped rows is logged', async () => {
  const { log, said, tries } = await logged(() => false)
  const query = 'x'.repeat(100_000)
  for (let i = 0; i < 2_000; i++) log.record(entry(String(i), query))
  await log.close()
  expect(tries.reduce((most, rows) => Math.max(most, rows), 0)).toBeLessThan(400)
  const lost = said.flatMap((line) => /(\d+) rows were dropped/.exec(line)?.[1] ?? [])
  expect(lost.length).toBeGreaterThan(0)
})
