import { accessDenied, syntaxError } from './errors.js'
import { identifier, isKeyword, type Token } from './lexer.js'

/**
 * Refuses what the engine would do for a local user but no server does for a remote one: reading and writing files of the
 * machine, running commands, opening connections. Grants close most of these; this closes what grants do not cover.
 * Errs on the side of refusing.
 */
export function assertAllowed(sql: string, tokens: Token[]): void {
  for (const [i, token] of tokens.entries()) {
    if (token.kind === 'error') {
      const shown = sql.slice(token.start, token.start + 20)
      throw syntaxError(`Syntax error: failed at position ${token.start + 1} (${shown}): unrecognized token`)
    }
    const next = tokens[i + 1]
    if (isKeyword(sql, token, 'INTO') && isKeyword(sql, next, 'OUTFILE')) {
      throw accessDenied('INTO OUTFILE is not allowed over HTTP')
    }
    if (isKeyword(sql, token, 'FROM') && isKeyword(sql, next, 'INFILE') && tokens[i + 2]?.kind !== 'symbol') {
      throw accessDenied('FROM INFILE is not allowed over HTTP')
    }
    if (token.kind === 'word' || token.kind === 'name') assertNameAllowed(sql, tokens, i)
  }
}

/** The function `file` reads any file in a local engine and can be passed by name, so its bare name is refused as well. */
function assertNameAllowed(sql: string, tokens: Token[], i: number): void {
  const name = identifier(sql, tokens[i] as Token)
  const next = tokens[i + 1]
  const isCall = next !== undefined && sql[next.start] === '('
  const isQualified = i > 0 && sql[(tokens[i - 1] as Token).start] === '.'
  if (name === 'file' && (isCall || !isQualified)) {
    throw accessDenied('The function file is not allowed. A column of that name can be read as table.file')
  }
  if (name.toLowerCase() === 'disk' && isCall) throw accessDenied('Disks cannot be defined in SQL')
}
