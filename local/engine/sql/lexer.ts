/** `word` is a bare word or keyword, `name` a quoted identifier, `data` a heredoc. */
type TokenKind = 'word' | 'name' | 'string' | 'data' | 'number' | 'symbol' | 'error'
export type Token = { kind: TokenKind; start: number; end: number }

const isSpace = (c: number) => c === 0x20 || (c >= 0x09 && c <= 0x0d)
const isDigit = (c: number) => c >= 0x30 && c <= 0x39
const isWord = (c: number) => (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || isDigit(c) || c === 0x5f
/** Quotation marks that the engine reads as quotes when they stand outside of others. */
const isTypographicQuote = (c: number) => c === 0x2018 || c === 0x2019 || c === 0x201c || c === 0x201d

/**
 * The first significant token at or behind `from`, cut where the engine's own lexer cuts (src/Parsers/Lexer.cpp): the same
 * strings, quoted names, heredocs and nested comments. What the engine would not accept, or reads in a way of its own (an
 * unclosed quote, a typographic quote, a backslash), is an `error` token. Other characters outside ASCII count as space,
 * as some of them are space to the engine.
 */
export function nextToken(sql: string, from: number): Token | undefined {
  let at = from
  while (at < sql.length) {
    const c = sql.charCodeAt(at)
    if (isSpace(c) || (c > 0x7f && !isTypographicQuote(c))) {
      at++
      continue
    }
    const comment = commentEnd(sql, at, c)
    if (comment === undefined) return tokenAt(sql, at, c)
    if (comment < 0) return { kind: 'error', start: at, end: sql.length }
    at = comment
  }
  return undefined
}

/** All significant tokens. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = []
  for (let token = nextToken(sql, 0); token; token = nextToken(sql, token.end)) tokens.push(token)
  return tokens
}

/** Whether a token is this keyword, given in upper case. Quoted names are none. */
export function isKeyword(sql: string, token: Token | undefined, keyword: string): boolean {
  return (
    token?.kind === 'word' &&
    token.end - token.start === keyword.length &&
    sql.slice(token.start, token.end).toUpperCase() === keyword
  )
}

/** The name that a bare word or a quoted identifier stands for. */
export function identifier(sql: string, token: Token): string {
  const text = sql.slice(token.start, token.end)
  return token.kind === 'name' ? unquote(text) : text
}

/** Where the comment that starts here ends, -1 when it never does, undefined when there is none. */
function commentEnd(sql: string, at: number, c: number): number | undefined {
  const next = sql.charCodeAt(at + 1)
  const isLine =
    (c === 0x2d && next === 0x2d) || (c === 0x2f && next === 0x2f) || (c === 0x23 && (next === 0x20 || next === 0x21))
  if (isLine) {
    const end = sql.indexOf('\n', at)
    return end < 0 ? sql.length : end
  }
  if (c !== 0x2f || next !== 0x2a) return undefined
  let depth = 1
  for (let i = at + 2; i + 2 <= sql.length; ) {
    if (sql.startsWith('/*', i)) {
      depth++
      i += 2
    } else if (sql.startsWith('*/', i)) {
      depth--
      i += 2
      if (depth === 0) return i
    } else i++
  }
  return -1
}

function tokenAt(sql: string, start: number, c: number): Token {
  if (c === 0x27) return quoted(sql, start, "'", 'string')
  if (c === 0x22) return quoted(sql, start, '"', 'name')
  if (c === 0x60) return quoted(sql, start, '`', 'name')
  if (c === 0x24) {
    const end = heredocEnd(sql, start)
    if (end !== undefined) return { kind: 'data', start, end }
  }
  const next = sql.charCodeAt(start + 1)
  // x'1f' and b'01' have no escapes, so they are not strings like the others.
  if (next === 0x27 && (c === 0x78 || c === 0x58 || c === 0x62 || c === 0x42)) {
    const digits = c === 0x78 || c === 0x58 ? /[0-9a-fA-F]*/y : /[01]*/y
    digits.lastIndex = start + 2
    digits.exec(sql)
    const end = digits.lastIndex
    return sql[end] === "'" ? { kind: 'string', start, end: end + 1 } : { kind: 'error', start, end: sql.length }
  }
  if (isWord(c) || c === 0x24) {
    const kind = isDigit(c) ? 'number' : 'word'
    let end = start + 1
    while (end < sql.length && (isWord(sql.charCodeAt(end)) || (kind === 'word' && sql[end] === '$'))) end++
    // A word may begin with digits. A number may not contain letters other than its own marks.
    return { kind: kind === 'number' && /[a-zA-Z_]/.test(sql.slice(start, end)) ? 'word' : kind, start, end }
  }
  if (c < 0x20 || c === 0x5c || c === 0x7f || isTypographicQuote(c)) return { kind: 'error', start, end: start + 1 }
  return { kind: 'symbol', start, end: start + 1 }
}

function quoted(sql: string, start: number, quote: string, kind: TokenKind): Token {
  for (let i = start + 1; i < sql.length; i++) {
    if (sql[i] === '\\') i++
    else if (sql[i] === quote) {
      if (sql[i + 1] !== quote) return { kind, start, end: i + 1 }
      i++
    }
  }
  return { kind: 'error', start, end: sql.length }
}

/** `$tag$ … $tag$`; as in the engine, anything may stand between the two dollars. */
function heredocEnd(sql: string, start: number): number | undefined {
  const tagEnd = sql.indexOf('$', start + 1)
  if (tagEnd < 0) return undefined
  const tag = sql.slice(start, tagEnd + 1)
  const close = sql.indexOf(tag, tagEnd + 1)
  return close < 0 ? undefined : close + tag.length
}

const escapes: Record<string, string> = { b: '\b', f: '\f', r: '\r', n: '\n', t: '\t', '0': '\0', a: '\x07', v: '\v' }

/** What a quoted token stands for, escapes undone. */
export function unquote(text: string): string {
  const quote = text[0]
  return text.slice(1, -1).replace(/\\x([0-9a-fA-F]{2})|\\([\s\S])|(['"`])\3/g, (whole, hex, escaped, doubled) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
    if (escaped !== undefined) return escapes[escaped] ?? escaped
    return doubled === quote ? doubled : whole
  })
}
