import { nextToken } from '../sql/lexer.js'

/** Replaces a secret, as on a server. */
export const hidden = '[HIDDEN]'

/** A statement without its literals and comments, for one that contains secrets or may. */
export function hideLiterals(sql: string): string {
  let result = ''
  let end = 0
  for (let token = nextToken(sql, 0); token; token = nextToken(sql, token.end)) {
    const { kind, start } = token
    if (start > end && result !== '') result += ' '
    const isLiteral = kind === 'string' || kind === 'data' || kind === 'number' || kind === 'error'
    result += isLiteral ? `'${hidden}'` : sql.slice(start, token.end)
    // After an invalid token it is unknown where literals begin and end.
    if (kind === 'error') return result
    end = token.end
  }
  return result
}

/** Only the code and name of an error, for a statement that contains secrets or may: errors quote statements. */
export const hideReason = (message: string): string =>
  message.replace(
    /^(Code: \d+\. DB::Exception: )[\s\S]*?( \([A-Z0-9_]+\))?$/,
    (_, code, name = '') => `${code}${hidden}.${name}`,
  )

/** The text with every secret value replaced. */
export const hideValues = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => (secret === '' ? left : left.replaceAll(secret, hidden)), text)
