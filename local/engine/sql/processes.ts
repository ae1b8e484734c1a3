import { identifier, isKeyword, type Token, tokenize } from './lexer.js'

/**
 * Puts `replacement` where a statement reads FROM or JOINs the table system.processes. The same text when it does not,
 * when it names columns by that table's full name, which a subselect does not have, and when it defines a view, which
 * would keep what runs now.
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
