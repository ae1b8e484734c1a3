import { accessDenied } from '../engine/errors.js'
import { identifier, isKeyword, nextToken, type Token, tokenize } from '../sql/lexer.js'
import { isOwner, type User } from './users.js'

/**
 * Refuses statements that the engine's grants do not cover. The engine checks no grants on the contents of a backup; it
 * runs views with a definer with all rights, although CREATE TABLE and ALTER TABLE are enough to create one; it ignores
 * row policies of a table that is read through another table; and it explains columns of tables that the user may not
 * read.
 */
export function assertMayRun(user: User, sql: string): void {
  if (isOwner(user)) return
  const verb = nextToken(sql, 0)
  if (['BACKUP', 'RESTORE', 'SNAPSHOT'].some((word) => isKeyword(sql, verb, word))) {
    throw refused(user, 'BACKUP and RESTORE are only allowed to owners of every database')
  }
  const isDefinition = ['CREATE', 'ATTACH', 'REPLACE'].some((word) => isKeyword(sql, verb, word))
  if (!user.databases && !isDefinition) return
  const tokens = tokenize(sql)
  if (isDefinition) assertOwnTable(user, sql, tokens)
  if (!user.databases) return
  for (const i of tokens.keys()) {
    if (follows(sql, tokens, i, 'EXPLAIN', 'QUERY') || follows(sql, tokens, i, 'EXPLAIN', 'SYNTAX')) {
      throw refused(user, 'EXPLAIN QUERY TREE and SYNTAX are only allowed to users of every database')
    }
    const token = tokens[i] as Token
    if (/^(word|name)$/.test(token.kind) && identifier(sql, token) === 'viewExplain') {
      throw refused(user, 'viewExplain is only allowed to users of every database')
    }
  }
  if (isKeyword(sql, verb, 'ALTER')) {
    const changesView = ['QUERY', 'SQL', 'DEFINER', 'REFRESH'].some((what) =>
      tokens.some((_, i) => follows(sql, tokens, i, 'MODIFY', what)),
    )
    if (changesView) throw refused(user, 'Views are only allowed to owners of every database')
  }
  if (isDefinition) {
    const what = tokens.find((token, i) => i > 0 && !kindsOfView.some((word) => isKeyword(sql, token, word)))
    if (isKeyword(sql, what, 'VIEW')) throw refused(user, 'Views are only allowed to owners of every database')
  }
}

/** Engines whose tables read another table. */
const readsAnotherTable = /^(Alias|Buffer|Dictionary|Merge)$/

function assertOwnTable(user: User, sql: string, tokens: readonly Token[]): void {
  for (const [i, token] of tokens.entries()) {
    if (!isKeyword(sql, token, 'ENGINE')) continue
    const next = tokens[i + 1]
    const name = next?.kind === 'symbol' ? tokens[i + 2] : next
    if (name && readsAnotherTable.test(identifier(sql, name))) {
      throw refused(user, `Tables of the engine ${identifier(sql, name)} are only allowed to owners of every database`)
    }
  }
}

const kindsOfView = ['OR', 'REPLACE', 'MATERIALIZED', 'LIVE', 'WINDOW', 'TEMPORARY']

const follows = (sql: string, tokens: readonly Token[], i: number, first: string, second: string) =>
  isKeyword(sql, tokens[i], first) && isKeyword(sql, tokens[i + 1], second)

const refused = ({ name }: User, why: string) => accessDenied(`${name}: Not enough privileges. ${why}`)
