import { identifier, type Token, tokenize } from '../sql/lexer.js'
import { assertAllowed } from '../sql/policy.js'

/** Longer texts are not looked through: that would hold up everybody else. */
const scannedBytes = 1024 * 1024

/**
 * Whether rows in the format Values may hold expressions, such as `now()`. The engine evaluates these, so they are SQL and
 * have to obey its rules. Rows that do not, or cannot be judged, are read as plain values: text that looks like
 * a call stays text and a call is an error.
 */
export function mayEvaluate(rows: Buffer): boolean {
  if (rows.length > scannedBytes) return false
  const text = rows.toString()
  // Without quoted names, nothing that has to be looked for can be spelled in another way.
  if (!/file|format|["`]/i.test(text)) return true
  try {
    const tokens = tokenize(text)
    assertAllowed(text, tokens)
    // The table function format could hold rows of its own, as a text.
    return !tokens.some((token) => isName(token) && identifier(text, token).toLowerCase() === 'format')
  } catch {
    return false
  }
}

const isName = (token: Token) => token.kind === 'word' || token.kind === 'name'
