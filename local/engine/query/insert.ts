import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { NativeResult } from '../engine/addon.js'
import { withoutClause } from '../engine/errors.js'
import type { Pipe, Pipes } from '../engine/pipes.js'
import type { Body } from '../http/body.js'
import type { InputCall, Statement } from '../sql/statement.js'
import { createTemporary, dropTemporary } from './external-tables.js'
import type { RunningQuery } from './running-query.js'
import { quoteName, quoteString } from './settings.js'

/** Up to this size, rows are passed to the engine in a file, which it reads faster than a pipe; beyond it, in a pipe. */
const wholeInsertBytes = 4 * 1024 * 1024

/** The rows of an INSERT: all of them, or the first few megabytes if more follow in the body. */
export type Rows = { data: Buffer; isComplete: boolean }

export async function readRows(firstRows: Buffer, body: Body): Promise<Rows> {
  const { chunks, isComplete } = await body.readUpTo(wholeInsertBytes - firstRows.length)
  return { data: Buffer.concat([firstRows, ...chunks]), isComplete }
}

/** Runs an INSERT with its rows, which are never part of the SQL. Holds only a few megabytes in memory. */
export function insert(
  query: RunningQuery,
  pipes: Pipes,
  statement: Extract<Statement, { kind: 'insert' }>,
  rows: Rows,
  body: Body,
  params: Record<string, string>,
): Promise<NativeResult> {
  const { input } = statement
  if (!input) return insertRows(query, pipes, statement, rows, body, params)
  return insertThroughTable(query, pipes, { ...statement, input }, rows, body, params)
}

/**
 * Runs `INSERT … SELECT … FROM input(…)`. The engine's function `input` cannot be given rows, so they go into a temporary
 * table first. It is on disk, so this writes rows twice but needs no memory.
 */
async function insertThroughTable(
  query: RunningQuery,
  pipes: Pipes,
  { head, tail, input }: { head: string; tail: string; input: InputCall },
  rows: Rows,
  body: Body,
  params: Record<string, string>,
): Promise<NativeResult> {
  const table = `_input_${randomUUID()}`
  await createTemporary(query, table, input.structure, 'MergeTree ORDER BY tuple()')
  try {
    await insertRows(query, pipes, { head: `INSERT INTO ${quoteName(table)} `, tail }, rows, body, {})
    const select = `${head.slice(0, input.start)}${quoteName(table)}${head.slice(input.end)}`
    return await query.run(select, undefined, params)
  } catch (error) {
    throw withoutClause(error, quoteName(table))
  } finally {
    if (!query.isCancelled) await dropTemporary(query, table)
  }
}

async function insertRows(
  query: RunningQuery,
  pipes: Pipes,
  statement: { head: string; tail: string },
  rows: Rows,
  body: Body,
  params: Record<string, string>,
): Promise<NativeResult> {
  const run = async (path: string) => {
    const input = ` FROM INFILE ${quoteString(path)} COMPRESSION 'none' `
    try {
      return await query.run(`${statement.head}${input}${statement.tail}`, undefined, params)
    } catch (error) {
      throw withoutClause(error, input, path)
    }
  }
  if (rows.isComplete) return pipes.withFile(rows.data, run)
  const pipe = pipes.take()
  try {
    return await pump(query, pipe, rows.data, body, run)
  } finally {
    pipes.release(pipe)
  }
}

async function pump(
  query: RunningQuery,
  pipe: Pipe,
  firstRows: Buffer,
  body: Body,
  run: (path: string) => Promise<NativeResult>,
): Promise<NativeResult> {
  const writer = pipe.writer()
  const result = run(pipe.path).finally(() => writer.destroy())
  result.catch(() => undefined)
  query.onStop(() => (writer.closed ? pipe.endReaders() : writer.destroy()))
  try {
    for (let chunk: Buffer | undefined = firstRows; chunk && !writer.destroyed; chunk = await body.read()) {
      await written(writer, chunk)
    }
  } catch (error) {
    // The client disconnected or the rows are corrupt. Closing the pipe would make the engine store an incomplete insert.
    await query.cancel()
    await result.catch(() => undefined)
    throw error
  }
  if (!query.isCancelled) writer.destroy()
  return result
}

/** Resolves when the chunk is in the pipe, or when the pipe has closed. */
function written(writer: Socket, chunk: Buffer): Promise<void> {
  return new Promise((resolve) => {
    writer.once('close', resolve)
    writer.write(chunk, () => {
      writer.off('close', resolve)
      resolve()
    })
  })
}
