import { setTimeout as sleep } from 'node:timers/promises'
import type { NativeResult } from '../engine/addon.js'
import { withoutClause } from '../engine/errors.js'
import type { Pipes } from '../engine/pipes.js'
import type { Reply } from '../http/reply.js'
import type { Statement } from '../sql/statement.js'
import type { RunningQuery } from './running-query.js'
import { quoteString } from './settings.js'

/** The pipe is read while a statement runs only if it takes longer than this; a faster one is read at its end. */
const quickMs = 2

/** Streams the result of a SELECT into `reply`. Only the reply holds any of it back. */
export async function select(
  query: RunningQuery,
  pipes: Pipes,
  statement: Extract<Statement, { kind: 'select' }>,
  format: string,
  params: Record<string, string>,
  reply: Reply,
): Promise<NativeResult> {
  const pipe = pipes.take()
  const output = ` INTO OUTFILE ${quoteString(pipe.path)} TRUNCATE COMPRESSION 'none' `
  const { sql, cut } = statement
  const rest = statement.format === undefined ? `FORMAT ${format}` : sql.slice(cut)
  const reader = pipe.reader()
  // While this waits for the client, the engine waits at the pipe.
  query.onStop(() => reply.release())
  const run = query.run(`${sql.slice(0, cut)}${output}${rest}`, format, params)
  let isSettled = false
  const settled = run
    .catch(() => undefined)
    .then(() => {
      isSettled = true
    })
  try {
    await Promise.race([settled, sleep(quickMs)])
    if (!isSettled) void settled.then(() => pipe.endReaders())
    while (!isSettled) {
      // Keeps reading after a disconnect: otherwise the engine would wait in write() forever.
      for await (const chunk of reader.chunks())
        if (!query.isCancelled) await reply.write(chunk).catch(() => query.cancel())
      await Promise.race([settled, sleep(quickMs)])
    }
    for (const chunk of reader.readRest()) await reply.write(chunk)
    return await run
  } catch (error) {
    throw withoutClause(error, output)
  } finally {
    await settled
    pipes.release(pipe)
  }
}
