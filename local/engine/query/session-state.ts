import type { Connection } from '../engine/connection.js'
import { quoteName, quoteString, setStatement } from './settings.js'

export type SessionState = { database: string; settings: Record<string, string> }

/**
 * Runs `use` with a request's own database and settings on the connection of a session, tells it the database, and puts the session's back
 * behind it: what comes with a request lasts as long as the request, what SET and USE say lasts as long as the session.
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
