import type { Socket } from 'node:net'
import type { NativeResult } from './addon.js'
import type { Body } from './body.js'
import { EngineError } from './errors.js'
import type { Pipe, Pipes } from './pipes.js'
import type { Reply } from './reply.js'
import type { RunningQuery } from './running-query.js'
import { quoteString } from './settings.js'
import type { Statement } from './statement.js'

/** Rows up to this many bytes go to the engine in a file, which it reads faster than a pipe; more go through a pipe. */
export const wholeInsertBytes = 4 * 1024 * 1024

type Params = Record<string, string>

/** Streams the rows of a SELECT into `reply`. Nothing of them is kept but what the reply holds back. */
export async function select(
  query: RunningQuery,
  pipes: Pipes,
  statement: Extract<Statement, { kind: 'select' }>,
  format: string,
  params: Params,
  reply: Reply,
): Promise<NativeResult> {
  const pipe = await pipes.take()
  const output = ` INTO OUTFILE ${quoteString(pipe.path)} TRUNCATE COMPRESSION 'none' `
  const { sql, cut } = statement
  const rest = statement.format === undefined ? `FORMAT ${format}` : sql.slice(cut)
  const reader = pipe.reader()
  // Until the statement is over somebody has to read: the engine would wait in open() or write() for ever.
  const run = query.run(`${sql.slice(0, cut)}${output}${rest}`, format, params).finally(() => pipe.endReaders())
  run.catch(() => undefined)
  try {
    for await (const chunk of reader) if (!query.isCancelled) await reply.write(chunk)
    return await run
  } catch (error) {
    throw withoutClause(error, output)
  } finally {
    await run.catch(() => undefined)
    await closed(reader)
    pipes.give(pipe)
  }
}

/** Hands the rows of an INSERT to the engine: never as SQL, and never more than a few megabytes at a time. */
export async function insert(
  query: RunningQuery,
  pipes: Pipes,
  statement: Extract<Statement, { kind: 'insert' }>,
  firstRows: Buffer,
  body: Body,
  params: Params,
): Promise<NativeResult> {
  const run = async (path: string) => {
    const input = ` FROM INFILE ${quoteString(path)} COMPRESSION 'none' `
    try {
      return await query.run(`${statement.head}${input}${statement.tail}`, undefined, params)
    } catch (error) {
      throw withoutClause(error, input, path)
    }
  }
  const { chunks, isComplete } = await body.readUpTo(wholeInsertBytes - firstRows.length)
  const rows = firstRows.length > 0 ? [firstRows, ...chunks] : chunks
  if (isComplete) return pipes.withFile(rows, run)
  const pipe = await pipes.take()
  try {
    return await pump(query, pipe, rows, body, run)
  } finally {
    pipes.give(pipe)
  }
}

async function pump(
  query: RunningQuery,
  pipe: Pipe,
  rows: Buffer[],
  body: Body,
  run: (path: string) => Promise<NativeResult>,
): Promise<NativeResult> {
  const writer = pipe.writer()
  const result = run(pipe.path).finally(() => writer.destroy())
  result.catch(() => undefined)
  query.onStop(() => (writer.closed ? pipe.endReaders() : writer.destroy()))
  try {
    for (const chunk of rows) await written(writer, chunk)
    for (let chunk = await body.read(); chunk && !writer.destroyed; chunk = await body.read())
      await written(writer, chunk)
  } catch (error) {
    // The sender is gone or the rows are broken. An end of file would make the engine store what it has.
    await query.cancel()
    await result.catch(() => undefined)
    throw error
  }
  if (!query.isCancelled) writer.destroy()
  return result
}

/** Resolves when the chunk is in the pipe, or nobody will read it any more. */
function written(writer: Socket, chunk: Buffer): Promise<void> {
  if (writer.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    writer.once('close', resolve)
    writer.write(chunk, () => {
      writer.off('close', resolve)
      resolve()
    })
  })
}

function closed(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve()
  return new Promise((resolve) => {
    socket.once('close', () => resolve())
    socket.destroy()
  })
}

/** Takes the gateway's own clause out of an error text. */
function withoutClause(error: unknown, ...clauses: string[]): EngineError {
  const { code, message } = EngineError.from(error)
  return new EngineError(
    code,
    clauses.reduce((text, clause) => text.replaceAll(clause.trim(), '').replaceAll(clause, ''), message),
  )
}
