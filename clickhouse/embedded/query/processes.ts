import { isOwner, type User } from '../access/users.js'
import { internalMark, markSetting } from '../engine/connection.js'
import type { Registry } from './registry.js'
import { quoteString } from './settings.js'

/** What the gateway puts into a statement that it runs for a client. */
const ownClause = String.raw` (INTO OUTFILE|FROM INFILE) \'[^\']*\' (TRUNCATE )?COMPRESSION \'none\' `

/**
 * A subselect with the columns of system.processes that shows queries as their clients know them: query id, user and
 * text. Without the gateway's own work, and for everybody but an owner without the queries of others.
 */
export function processesOf(user: User, registry: Registry): string {
  const known = registry.visibleTo(user).flatMap(({ mark, ...running }) => (mark ? [{ mark, ...running }] : []))
  const list = (values: string[]) => `[${values.map(quoteString).join(', ')}]`
  const marks = list(known.map(({ mark }) => mark))
  const as = (column: string, values: string[]) => `transform(mark, ${marks}, ${list(values)}, ${column}) AS ${column}`
  const ids = known.map(({ queryId }) => queryId)
  const users = known.map((running) => running.user.name)
  const columns = [
    as('query_id', ids),
    as('initial_query_id', ids),
    as('user', users),
    as('initial_user', users),
    `replaceRegexpOne(query, '${ownClause}', ' ') AS query`,
    `mapFilter((name, value) -> name != '${markSetting}', Settings) AS Settings`,
  ]
  const isVisible = isOwner(user) ? `mark != '${internalMark}'` : `mark IN ${marks}`
  const marked = `SELECT *, Settings['${markSetting}'] AS mark FROM system.processes`
  return `(SELECT * EXCEPT (mark) REPLACE (${columns.join(', ')}) FROM (${marked}) WHERE ${isVisible})`
}
