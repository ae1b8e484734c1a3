import { isOwner, type User } from '../access/users.js'
import { internalMark, markSetting } from '../engine/connection.js'
import { type ClientFacts, clientFacts } from './client-facts.js'
import type { Registry, Running } from './registry.js'
import { quoteString } from './settings.js'

/** Matches the clauses that the gateway adds to a client's statement. */
const ownClause = String.raw` +(INTO OUTFILE|FROM INFILE) \'[^\']*\' (TRUNCATE )?COMPRESSION \'none\' +`

/** Most characters of query texts in the subselect: a statement can have at most 262,144 bytes. */
const maxTexts = 64 * 1024

/**
 * A subselect with the columns of system.processes that shows queries as clients know them: their query id, user, text
 * and origin. Leaves out the gateway's own queries and, unless the user is an owner, those of other users.
 */
export function processesOf(user: User, registry: Registry): string {
  const queries = registry.visibleTo(user).filter(({ mark }) => mark !== undefined)
  const facts = queries.map(({ request }) => clientFacts(request))
  const replaced = (name: string, values: string[]) => `if(known = 0, ${name}, [${values.join(', ')}][known])`
  const column = (name: string, values: string[]) => `${replaced(name, values)} AS ${name}`
  const fact = (name: keyof ClientFacts, type: 'String' | 'UInt8' | 'UInt16' | 'IPv6') =>
    column(
      name,
      facts.map((clientFact) => `to${type}(${quoteString(String(clientFact[name]))})`),
    )
  const ids = queries.map(({ queryId }) => quoteString(queryId))
  const names = queries.map((running) => quoteString(running.user.name))
  const columns = [
    column('query_id', ids),
    column('initial_query_id', ids),
    column('user', names),
    column('initial_user', names),
    `if(sent = '', replaceRegexpOne(query, '${ownClause}', ' '), sent) AS query`,
    fact('address', 'IPv6'),
    fact('port', 'UInt16'),
    fact('http_method', 'UInt8'),
    fact('http_user_agent', 'String'),
    fact('http_referer', 'String'),
    fact('forwarded_for', 'String'),
    'if(known = 0, interface, toUInt8(2)) AS interface',
    `mapFilter((name, value) -> name != '${markSetting}', Settings) AS Settings`,
  ]
  const marks = queries.map(({ mark }) => quoteString(mark as string)).join(', ')
  const isVisible = isOwner(user) ? `mark != '${internalMark}'` : 'known > 0'
  const marked = `SELECT *, Settings['${markSetting}'] AS mark, indexOf([${marks}], mark) AS known, [${textsOf(queries).join(', ')}][known] AS sent FROM system.processes`
  return `(SELECT * EXCEPT (mark, known, sent) REPLACE (${columns.join(', ')}) FROM (${marked}) WHERE ${isVisible})`
}

/** The texts as SQL strings; an empty one if the engine's text has to be shown instead. */
function textsOf(known: readonly Running[]): string[] {
  let left = maxTexts
  return known.map(({ text = '' }) => {
    const quoted = quoteString(text)
    if (quoted.length > left) return "''"
    left -= quoted.length
    return quoted
  })
}
