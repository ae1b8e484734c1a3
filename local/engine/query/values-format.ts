import { identifier, type Token, tokenize } from '../sql/lexer.js'
import { assertAllowed } from '../sql/policy.js'

/** Longer texts are not scanned, which would block other requests. */
const scannedBytes = 1024 * 1024

/**
 * Whether rows of users other than the owner may contain expressions. Every word counts, wherever it stands: also one in a string,
 * since the engine may split rows in another way. `isForbidden` tells whether a word is a function that is not allowed.
 */
export function mayEvaluate(rows: Buffer, isForbidden: (word: string) => boolean): boolean {
  if (rows.length > scannedBytes) return false
  const text = rows.toString()
  // A quoted name could spell a word with escapes.
  if (/["`\u201c\u201d]/.test(text)) return false
  const words = new Set(text.match(/[A-Za-z_][A-Za-z0-9_$]*/g))
  return ![...words].some((word) => statementWords.test(word) || isForbidden(word))
}

/**
 * Words with which a subquery, a list of settings or the name in a parameter begins, and those before the name of a table
 * with the engine Set, for which the engine asks no grants.
 */
const statementWords = /^(select|with|from|explain|settings|identifier|(global)?(not)?(null)?in(ignoreset)?)$/i

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
