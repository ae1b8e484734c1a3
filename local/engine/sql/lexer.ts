/** `word` is a bare word or keyword, `name` a quoted identifier, `data` a heredoc. */
type TokenKind = 'word' | 'name' | 'string' | 'data' | 'number' | 'symbol' | 'error'
export type Token = { kind: TokenKind; start: number; end: number }

const isSpace = (c: number) => c === 0x20 || (c >= 0x09 && c <= 0x0d)
const isDigit = (c: number) => c >= 0x30 && c <= 0x39
const isWord = (c: number) => (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || isDigit(c) || c === 0x5f
/** Typographic quotation marks, which the engine reads as quotes. */
const isTypographicQuote = (c: number) => c === 0x2018 || c === 0x2019 || c === 0x201c || c === 0x201d

/**
 * The first significant token at or after `from`, as the engine's own lexer finds it (src/Parsers/Lexer.cpp), with the
 * same strings, quoted names, heredocs and nested comments. What the engine rejects or treats specially (an unclosed
 * quote, a typographic quote, a backslash) is an `error` token. Other characters outside ASCII count as space, because
 * some of them are space to the engine.
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

/** Whether a token is this keyword, given in upper case. A quoted name is never a keyword. */
export function isKeyword(sql: string, token: Token | undefined, keyword: string): boolean {
  return (
    token?.kind === 'word' &&
    token.end - token.start === keyword.length &&
    sql.slice(token.start, token.end).toUpperCase() === keyword
  )
}

/** The name that a bare word or a quoted identifier denotes. */
export function identifier(sql: string, token: Token): string {
  const text = sql.slice(token.start, token.end)
  return token.kind === 'name' ? unquote(text) : text
}

/** Where the comment that starts at `at` ends; -1 if it is unclosed, undefined if there is no comment. */
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
  // x'1f' and b'01' have no escapes, unlike other strings.
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
    // A word may begin with digits. A token with any letter counts as a word, even if it is a number such as 1e5.
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

/** The end of `$tag$ … $tag$`. As in the engine, the tag may be any text. */
function heredocEnd(sql: string, start: number): number | undefined {
  const tagEnd = sql.indexOf('$', start + 1)
  if (tagEnd < 0) return undefined
  const tag = sql.slice(start, tagEnd + 1)
  const close = sql.indexOf(tag, tagEnd + 1)
  return close < 0 ? undefined : close + tag.length
}

const escapes: Record<string, string> = { b: '\b', f: '\f', r: '\r', n: '\n', t: '\t', '0': '\0', a: '\x07', v: '\v' }

/** The content of a quoted token, with escapes decoded. */
export function unquote(text: string): string {
  const quote = text[0]
  return text.slice(1, -1).replace(/\\x([0-9a-fA-F]{2})|\\([\s\S])|(['"`])\3/g, (whole, hex, escaped, doubled) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
    if (escaped !== undefined) return escapes[escaped] ?? escaped
    return doubled === quote ? doubled : whole
  })
}
