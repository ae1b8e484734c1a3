import { accessDenied, notImplemented, syntaxError } from '../engine/errors.js'
import { identifier, isKeyword, type Token, tokenize, unquote } from './lexer.js'

/**
 * Refuses what the engine would do for a local user but a server never does for a remote one: access files of the
 * machine, run commands, open connections. Grants prevent most of this; this check covers the rest. When in doubt, it
 * refuses.
 */
export function assertAllowed(sql: string, tokens: readonly Token[]): void {
  assertRightsStay(sql, tokens)
  const has = (keyword: string) => tokens.some((token) => isKeyword(sql, token, keyword))
  const isDefinition = has('CREATE') || has('ATTACH') || has('REPLACE')
  const isDictionary = isDefinition && has('DICTIONARY')
  if (isBackup(sql, tokens)) assertBackupPlaceAllowed(sql, tokens)
  let depth = 0
  for (const [i, token] of tokens.entries()) {
    if (isSymbol(sql, token, '(')) depth++
    if (isSymbol(sql, token, ')')) depth--
    if (token.kind === 'error') {
      const shown = sql.slice(token.start, token.start + 20)
      throw syntaxError(`Syntax error: failed at position ${token.start + 1} (${shown}): unrecognized token`)
    }
    if (token.kind !== 'word' && token.kind !== 'name') continue
    assertNoFileClause(sql, tokens, i)
    assertNameAllowed(sql, tokens, i)
    assertDefaultStays(sql, tokens, i)
    if (isDefinition) assertEngineAllowed(sql, tokens, i, depth)
    if (isDictionary && isKeyword(sql, token, 'SOURCE') && isSymbol(sql, tokens[i + 1], '(')) {
      assertSourceAllowed(sql, tokens, i + 2)
    }
  }
}

/** Keeps a connection at the role and profile of its user: with others it would have another user's rights. */
function assertRightsStay(sql: string, tokens: readonly Token[]): void {
  const [first, second] = tokens
  const isSet = isKeyword(sql, first, 'SET')
  if (isSet && (isKeyword(sql, second, 'ROLE') || isKeyword(sql, second, 'DEFAULT'))) {
    throw accessDenied('SET ROLE is not allowed: the users file defines the rights of a user')
  }
  if (isKeyword(sql, first, 'EXECUTE') && isKeyword(sql, second, 'AS')) throw accessDenied('EXECUTE AS is not allowed')
  const settings = isSet ? 0 : tokens.findIndex((token) => isKeyword(sql, token, 'SETTINGS'))
  if (settings < 0) return
  for (let i = settings; i < tokens.length - 1; i++) {
    const token = tokens[i] as Token
    const isName = token.kind === 'word' || token.kind === 'name'
    if (isName && identifier(sql, token) === 'profile' && isSymbol(sql, tokens[i + 1], '=')) {
      throw accessDenied('The setting profile may not be changed')
    }
  }
}

function assertNoFileClause(sql: string, tokens: readonly Token[], i: number): void {
  const [token, next] = tokens.slice(i, i + 2)
  if (isKeyword(sql, token, 'INTO') && isKeyword(sql, next, 'OUTFILE')) {
    throw accessDenied('INTO OUTFILE is not allowed over HTTP')
  }
  // Only a string names a file: a table may also be called infile.
  if (isKeyword(sql, token, 'FROM') && isKeyword(sql, next, 'INFILE') && isText(tokens[i + 2])) {
    throw accessDenied('FROM INFILE is not allowed over HTTP')
  }
}

const isText = (token: Token | undefined) => token?.kind === 'string' || token?.kind === 'data'

/** Keeps the database `default`, without which the engine cannot open connections. */
function assertDefaultStays(sql: string, tokens: readonly Token[], i: number): void {
  const verb = tokens[0]
  const isRemoval = ['DROP', 'DETACH', 'RENAME'].some((keyword) => isKeyword(sql, verb, keyword))
  if (!isRemoval || !isKeyword(sql, tokens[1], 'DATABASE') || i < 2) return
  if (identifier(sql, tokens[i] as Token) === 'default') throw accessDenied('The database default cannot be removed')
}

/**
 * Refuses the function `file`, which reads any file here. It can be passed by name, so the bare name is refused as
 * well.
 */
function assertNameAllowed(sql: string, tokens: readonly Token[], i: number): void {
  const name = identifier(sql, tokens[i] as Token)
  const isCall = isSymbol(sql, tokens[i + 1], '(')
  if (name === 'file' && (isCall || !isSymbol(sql, tokens[i - 1], '.'))) {
    throw accessDenied('The function file is not allowed. To read a column of that name, write table.file')
  }
  if (isCall && name.toLowerCase() === 'format' && !isTableName(sql, tokens, i)) {
    assertFormatReadable(sql, tokens.slice(i + 2, i + 4))
  }
  if (isCall && /^(disk|(complex_key_)?ssd_cache)$/i.test(name)) throw accessDenied(`${name}() is not allowed in SQL`)
}

/** Whether brackets after a name contain the columns of a table in CREATE or INSERT, so that the name is not a call. */
function isTableName(sql: string, tokens: readonly Token[], i: number): boolean {
  const before = tokens[i - 1]
  if (isSymbol(sql, before, '.') || isKeyword(sql, before, 'INTO')) return true
  const hasColumns = ['CREATE', 'ATTACH', 'REPLACE', 'INSERT'].some((verb) => isKeyword(sql, tokens[0], verb))
  return hasColumns && (isKeyword(sql, before, 'TABLE') || isKeyword(sql, before, 'EXISTS'))
}

/**
 * The table function format takes rows from the statement, so its format, the first argument, must be a literal. The
 * ordinary function format is covered too: its pattern has to be constant anyway.
 */
function assertFormatReadable(sql: string, [argument, behind]: readonly Token[]): void {
  const isName = argument?.kind === 'word' || argument?.kind === 'name'
  const isPlain = isName || argument?.kind === 'string'
  if (isPlain && (isSymbol(sql, behind, ',') || isSymbol(sql, behind, ')'))) {
    assertReadable(isName ? identifier(sql, argument) : unquote(sql.slice(argument.start, argument.end)))
  } else if (!isSymbol(sql, argument, ')')) {
    throw notImplemented('The first argument of format() must be a name or a quoted string')
  }
}

/** Whether a statement creates or restores a backup. */
export const isBackup = (sql: string, tokens: readonly Token[]): boolean =>
  ['BACKUP', 'RESTORE', 'SNAPSHOT'].some((verb) => isKeyword(sql, tokens[0], verb))

/**
 * Allows a backup only at File('name'), which the engine restricts to the directory for backups. Any other name before a
 * bracket could be another place, such as a disk or an address.
 */
function assertBackupPlaceAllowed(sql: string, tokens: readonly Token[]): void {
  let places = 0
  for (const [i, token] of tokens.entries()) {
    if ((token.kind !== 'word' && token.kind !== 'name') || !isSymbol(sql, tokens[i + 1], '(')) continue
    const name = identifier(sql, token)
    if (/^(partitions?|tuple)$/i.test(name)) continue
    if (name !== 'File') throw accessDenied(`${name}() is not allowed: the place of a backup must be File('name')`)
    if (tokens[i + 2]?.kind !== 'string' || !isSymbol(sql, tokens[i + 3], ')')) {
      throw accessDenied("The place of a backup must be written as File('name')")
    }
    places++
  }
  if (places === 0) throw accessDenied("The place of a backup must be written as File('name')")
}

const allowedEngine =
  /^((Replicated)?(Replacing|Summing|Aggregating|Collapsing|VersionedCollapsing|Graphite|Coalescing)?MergeTree|Memory|Null|Set|Join|Buffer|Merge|Log|TinyLog|StripeLog|View|MaterializedView|WindowView|Dictionary|GenerateRandom|Alias|TimeSeries|Atomic|Ordinary)$/

/** Keywords that may follow a column called engine, and are not the name of an engine. */
const afterColumn = /^(AS|FROM|IN|NOT|LIKE|ILIKE|IS|AND|OR|BETWEEN|ASC|DESC|WHERE|GROUP|HAVING|ORDER|LIMIT|UNION|END)$/i

/**
 * Allows only table engines that keep their data in the engine's own files. The `=` after ENGINE is optional, but the
 * clause is never in brackets: there, the word without `=` is the name of a column.
 */
function assertEngineAllowed(sql: string, tokens: readonly Token[], i: number, depth: number): void {
  if (!isKeyword(sql, tokens[i], 'ENGINE')) return
  const isEquation = isSymbol(sql, tokens[i + 1], '=')
  const name = tokens[isEquation ? i + 2 : i + 1]
  if (name?.kind !== 'word' && name?.kind !== 'name') return
  if (!isEquation && (depth > 0 || (name.kind === 'word' && afterColumn.test(identifier(sql, name))))) return
  if (!allowedEngine.test(identifier(sql, name)))
    throw accessDenied(`The engine ${identifier(sql, name)} is not allowed`)
}

const remoteKeys = ['HOST', 'PORT', 'SECURE', 'NAME', 'USER', 'PASSWORD']

/**
 * Allows a dictionary to read tables of this server only: other sources run commands or open connections. Its strings
 * are checked as SQL.
 */
function assertSourceAllowed(sql: string, tokens: readonly Token[], from: number): void {
  const kind = tokens[from]
  if (!isKeyword(sql, kind, 'CLICKHOUSE') && !isKeyword(sql, kind, 'NULL')) {
    throw accessDenied('The source of a dictionary must be CLICKHOUSE or NULL')
  }
  let depth = 0
  for (const token of tokens.slice(from + 1)) {
    if (isSymbol(sql, token, '(')) depth++
    else if (isSymbol(sql, token, ')') && --depth < 0) return
    else if (remoteKeys.some((key) => isKeyword(sql, token, key)))
      throw accessDenied('A dictionary may only read from this server')
    else if (token.kind === 'data') throw accessDenied('A dictionary may not be defined with heredocs')
    else if (token.kind === 'string') {
      const text = unquote(sql.slice(token.start, token.end))
      assertAllowed(text, tokenize(text))
    }
  }
}

/** Formats whose reader in the engine overruns its buffer, and crashes, if a length in the rows is wrong. */
const unsafeFormats = /^(protobuf|orc$)/i

/** Throws ClickHouse's error 48 for a format in which rows from clients are not accepted. */
export function assertReadable(format: string): void {
  if (unsafeFormats.test(format)) {
    throw notImplemented(`Rows in the format ${format} are not accepted: corrupt rows would crash this engine`)
  }
}

const isSymbol = (sql: string, token: Token | undefined, symbol: string) =>
  token?.kind === 'symbol' && sql[token.start] === symbol
