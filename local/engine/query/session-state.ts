import type { Connection } from '../engine/connection.js'
import { quoteName, quoteString, setStatement } from './settings.js'

export type SessionState = { database: string; settings: Record<string, string> }

/**
 * Calls `use` with the request's database, after setting the request's database and settings on the session's connection.
 * Restores the session's own afterwards: those of a request last for the request, those of SET and USE for the session.
 */
export async function withSessionState<T>(
  connection: Connection,
  state: SessionState,
  use: (database: string) => Promise<T>,
): Promise<T> {
  const names = Object.keys(state.settings).map(quoteString).join(', ')
  const before = await connection.run(
    `SELECT currentDatabase() AS database, (SELECT groupArray((name, value)) FROM system.settings WHERE name IN (${names || "''"})) AS settings`,
    'JSONEachRow',
  )
  const { database, settings } = JSON.parse(before.bytes.toString()) as {
    database: string
    settings: [string, string][]
  }
  const set = setStatement(state.settings, 0)
  if (set !== '') connection.runNow(set)
  try {
    if (state.database !== '') await connection.run(`USE ${quoteName(state.database)}`)
    return await use(state.database || database)
  } finally {
    if (state.database !== '') await connection.run(`USE ${quoteName(database)}`).catch(() => undefined)
    if (settings.length > 0) connection.runNow(setStatement(Object.fromEntries(settings), 0))
  }
}
