import { quoteName } from '../query/settings.js'
import { isKeyword, nextToken } from './lexer.js'

/** SHOW GRANTS in any of its forms becomes that of `role`: the engine would list the roles of everybody. */
export function ownGrants(sql: string, format: string | undefined, role: string): string {
  const show = nextToken(sql, 0)
  if (!show || !isKeyword(sql, show, 'SHOW') || !isKeyword(sql, nextToken(sql, show.end), 'GRANTS')) return sql
  return `SHOW GRANTS FOR ${quoteName(role)}${format === undefined ? '' : ` FORMAT ${format}`}`
}
