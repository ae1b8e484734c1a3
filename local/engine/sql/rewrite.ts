import { quoteName } from '../query/settings.js'
import { identifier, isKeyword, nextToken, type Token, tokenize } from './lexer.js'

/** Makes any form of SHOW GRANTS show the grants of `role`: the engine would list the roles of all users. */
export function ownGrants(sql: string, format: string | undefined, role: string): string {
  const show = nextToken(sql, 0)
  if (!show || !isKeyword(sql, show, 'SHOW') || !isKeyword(sql, nextToken(sql, show.end), 'GRANTS')) return sql
  return `SHOW GRANTS FOR ${quoteName(role)}${format === undefined ? '' : ` FORMAT ${format}`}`
}

/**
 * Replaces the table system.processes after FROM and JOIN by `replacement`. Leaves a statement unchanged if it qualifies
 * columns with the full name of the table, which a subselect does not have, or defines a view, which would keep the rows
 * of this moment.
 */
export function replaceProcesses(text: string, replacement: () => string): string {
  const sql = text.replace(
    /^\s*SHOW\s+(FULL\s+)?PROCESSLIST\b/i,
    'SELECT * FROM system.processes ORDER BY elapsed DESC',
  )
  if (!sql.includes('processes')) return text
  const tokens = tokenize(sql)
  if (isViewDefinition(sql, tokens)) return text
  const places = tokens.flatMap((_, i) => (isProcesses(sql, tokens, i) ? [i] : []))
  const isRead = (i: number) => ['FROM', 'JOIN'].some((keyword) => isKeyword(sql, tokens[i - 1], keyword))
  const isQualified = (i: number) => sql[tokens[i + 3]?.start ?? -1] === '.'
  if (places.length === 0 || !places.every((i) => isRead(i) && !isQualified(i))) return sql
  const subselect = replacement()
  let result = ''
  let from = 0
  for (const i of places) {
    result += sql.slice(from, (tokens[i] as Token).start) + subselect
    from = (tokens[i + 2] as Token).end
  }
  return result + sql.slice(from)
}

function isProcesses(sql: string, tokens: readonly Token[], i: number): boolean {
  const [database, dot, table] = tokens.slice(i, i + 3)
  const isName = (token: Token | undefined, name: string) =>
    (token?.kind === 'word' || token?.kind === 'name') && identifier(sql, token) === name
  return isName(database, 'system') && sql[dot?.start ?? -1] === '.' && isName(table, 'processes')
}

const isViewDefinition = (sql: string, tokens: readonly Token[]) =>
  ['CREATE', 'ALTER', 'ATTACH', 'REPLACE'].some((verb) => isKeyword(sql, tokens[0], verb)) &&
  tokens.some((token) => isKeyword(sql, token, 'VIEW'))
