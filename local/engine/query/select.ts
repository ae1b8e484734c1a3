import { setTimeout as sleep } from 'node:timers/promises'
import type { NativeResult } from '../engine/addon.js'
import { withoutClause } from '../engine/errors.js'
import type { Pipes } from '../engine/pipes.js'
import type { Reply } from '../http/reply.js'
import type { Statement } from '../sql/statement.js'
import type { RunningQuery } from './running-query.js'
import { quoteString } from './settings.js'

/** A statement that takes longer has its pipe read while it runs. Until then nothing of it is lost: it waits. */
const quickMs = 2

/** Streams the rows of a SELECT into `reply`. Nothing of them is kept but what the reply holds back. */
export async function select(
  query: RunningQuery,
  pipes: Pipes,
  statement: Extract<Statement, { kind: 'select' }>,
  format: string,
  params: Record<string, string>,
  reply: Reply,
): Promise<NativeResult> {
  const pipe = await pipes.take()
  const output = ` INTO OUTFILE ${quoteString(pipe.path)} TRUNCATE COMPRESSION 'none' `
  const { sql, cut } = statement
  const rest = statement.format === undefined ? `FORMAT ${format}` : sql.slice(cut)
  const reader = pipe.reader()
  // The engine waits in the pipe while this waits for the client.
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
      // Read on when nobody listens any more: the engine would wait in write() for ever.
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
    pipes.give(pipe)
  }
}
