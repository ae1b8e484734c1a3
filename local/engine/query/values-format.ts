import { identifier, type Token, tokenize } from '../sql/lexer.js'
import { assertAllowed } from '../sql/policy.js'

/** Longer texts are not scanned, which would block other requests. */
const scannedBytes = 1024 * 1024

/**
 * Whether rows in the format Values are allowed to contain expressions, such as `now()`. The engine evaluates these, so
 * they are SQL and subject to the same rules. Rows that break the rules, or are too long to check, are read as plain
 * values, in which an expression is an error.
 */
export function mayHaveExpressions(rows: Buffer): boolean {
  if (rows.length > scannedBytes) return false
  const text = rows.toString()
  // Without these words and quoted names, the rows cannot contain anything that is not allowed.
  if (!/file|format|["`]/i.test(text)) return true
  try {
    const tokens = tokenize(text)
    assertAllowed(text, tokens)
    // The table function format takes rows as a string.
    return !tokens.some((token) => isName(token) && identifier(text, token).toLowerCase() === 'format')
  } catch {
    return false
  }
}

const isName = (token: Token) => token.kind === 'word' || token.kind === 'name'
