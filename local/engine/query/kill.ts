import { isOwner, type User } from '../access/users.js'
import type { NativeResult } from '../engine/addon.js'
import type { Connection } from '../engine/connection.js'
import { cancelled } from '../engine/errors.js'
import { replaceProcesses } from '../sql/rewrite.js'
import type { Statement } from '../sql/statement.js'
import { processesOf } from './processes.js'
import type { Registry } from './registry.js'
import { quoteString } from './settings.js'

type Found = { query_id: string; user: string; query: string }

/**
 * KILL QUERY with the ids that clients know: finds the queries that meet the condition, stops them and returns the same
 * result as a server. The engine's own queries, such as the refresh of a view, are stopped by the engine's KILL. SYNC
 * waits until they have ended; TEST stops nothing.
 */
export async function killQueries(
  connection: Connection,
  statement: Extract<Statement, { kind: 'kill' }>,
  user: User,
  registry: Registry,
  format: string,
  params: Record<string, string>,
): Promise<NativeResult> {
  const { mode } = statement
  const processes = processesOf(user, registry)
  const condition = replaceProcesses(statement.condition, () => processes)
  const select = `SELECT query_id, user, query FROM ${processes} WHERE ${condition}`
  const { bytes } = await connection.run(select, 'JSONEachRow', params)
  const self = connection.mark
  const found = bytes
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Found)
    // As on a server, a KILL does not stop itself.
    .filter(({ query_id }) => registry.get(query_id)?.mark !== self)
  if (mode !== 'TEST') await stop(connection, found, user, registry, mode)
  const rows = found.map((row) => [killStatus[mode], row.query_id, row.user, row.query].map(quoteString))
  // The table function needs at least one row; the condition removes the dummy.
  const values = rows.length > 0 ? rows : [names.map(() => "''")]
  const tuples = values.map((row) => `(${row.join(', ')})`).join(', ')
  const structure = names.map((name) => `${name} String`).join(', ')
  return connection.run(`SELECT * FROM values('${structure}', ${tuples}) WHERE query_id != ''`, format)
}

const names = ['kill_status', 'query_id', 'user', 'query']

/** A server's kill_status for each mode. */
const killStatus = { ASYNC: 'waiting', SYNC: 'finished', TEST: 'unknown_status' }

async function stop(
  connection: Connection,
  found: Found[],
  user: User,
  registry: Registry,
  mode: 'ASYNC' | 'SYNC',
): Promise<void> {
  const own = new Set(registry.visibleTo(user))
  const ended: Promise<unknown>[] = []
  const unknown: string[] = []
  for (const { query_id } of found) {
    const running = registry.get(query_id)
    if (running === undefined) unknown.push(query_id)
    else if (own.has(running)) {
      running.stop(cancelled())
      ended.push(running.done.catch(() => undefined))
    }
  }
  if (unknown.length > 0 && isOwner(user)) {
    await connection.run(`KILL QUERY WHERE query_id IN (${unknown.map(quoteString).join(', ')}) ${mode}`)
  }
  if (mode === 'SYNC') await Promise.all(ended)
}
