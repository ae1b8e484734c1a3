import { nextToken } from '../sql/lexer.js'

/** What stands for a secret, as on a server. */
export const hidden = '[HIDDEN]'

/** A statement without its literals and comments: for one that holds secrets, or may. */
export function hideLiterals(sql: string): string {
  let result = ''
  let end = 0
  for (let token = nextToken(sql, 0); token; token = nextToken(sql, token.end)) {
    const { kind, start } = token
    if (start > end && result !== '') result += ' '
    const isLiteral = kind === 'string' || kind === 'data' || kind === 'number' || kind === 'error'
    result += isLiteral ? `'${hidden}'` : sql.slice(start, token.end)
    // Where literals begin and end is not known any more.
    if (kind === 'error') return result
    end = token.end
  }
  return result
}

/** An error of a statement that holds secrets, or may: its code and name. The engine quotes what it does not like. */
export const hideReason = (message: string): string =>
  message.replace(
    /^(Code: \d+\. DB::Exception: )[\s\S]*?( \([A-Z0-9_]+\))?$/,
    (_, code, name = '') => `${code}${hidden}.${name}`,
  )

/** A text in which secret values may be quoted. */
export const hideValues = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => (secret === '' ? left : left.replaceAll(secret, hidden)), text)
