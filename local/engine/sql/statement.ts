import { EngineError, syntaxError } from '../engine/errors.js'
import { identifier, isKeyword, nextToken, type Token, tokenize, unquote } from './lexer.js'
import { assertAllowed, assertReadable, isBackup } from './policy.js'

/**
 * A parsed statement.
 * - `select`: its rows are streamed; an output clause can be inserted at `cut`.
 * - `insert`: rows in `format` follow from `dataStart` on. The statement is `head`, an input clause and `tail`; with
 *   `input`, the rows are instead the result of that call in `head`.
 * - `kill`: KILL QUERY; `condition` refers to the columns of system.processes.
 * - `other`: has little or no output (DDL, SHOW, SYSTEM, INSERT … SELECT). `isBackup` marks BACKUP and RESTORE, which the
 *   engine would run even in readonly mode.
 */
export type Statement =
  | { kind: 'select'; sql: string; format: string | undefined; cut: number }
  | { kind: 'insert'; head: string; tail: string; format: string; dataStart: number; input?: InputCall }
  | { kind: 'kill'; sql: string; format: string | undefined; condition: string; mode: 'ASYNC' | 'SYNC' | 'TEST' }
  | { kind: 'other'; sql: string; format: string | undefined; isBackup: boolean }

/** The position and columns of `input('columns')` in a statement. */
export type InputCall = { start: number; end: number; structure: string }

/**
 * Parses a statement. Throws as ClickHouse would if there is none or more than one, or if it is not allowed here. If rows
 * of an INSERT follow in `text`, nothing after `dataStart` is read.
 */
export function analyse(text: string): Statement {
  const insert = insertHead(text)
  if (insert) {
    assertAllowed(text, tokenize(text.slice(0, insert.end)))
    assertReadable(insert.format)
    return { kind: 'insert', ...insert }
  }
  const tokens = withoutLastSemicolon(text, tokenize(text))
  const first = tokens[0]
  if (!first) throw syntaxError('Empty query')
  assertAllowed(text, tokens)
  // Without a comment or semicolon at the end, so that a clause can be appended.
  const sql = text.slice(0, tokens.at(-1)?.end)
  const format = trailingFormat(text, tokens)
  const keyword = text.slice(first.start, first.end).toUpperCase()
  if (keyword === 'SELECT' || keyword === 'WITH' || keyword === 'FROM' || keyword === '(') {
    return { kind: 'select', sql, format: format?.name, cut: format?.cut ?? sql.length }
  }
  const kill = keyword === 'KILL' ? killOf(text, tokens.slice(0, format?.index)) : undefined
  if (kill) return { kind: 'kill', sql, format: format?.name, ...kill }
  return { kind: 'other', sql, format: format?.name, isBackup: isBackup(text, tokens) }
}

/** `KILL QUERY WHERE condition [ASYNC|SYNC|TEST]`. Undefined for a KILL of anything else. */
function killOf(
  text: string,
  tokens: Token[],
): Pick<Extract<Statement, { kind: 'kill' }>, 'condition' | 'mode'> | undefined {
  const [, query, where] = tokens
  if (!isKeyword(text, query, 'QUERY') || !isKeyword(text, where, 'WHERE')) return undefined
  const last = tokens.at(-1)
  const named = (['ASYNC', 'SYNC', 'TEST'] as const).find((mode) => isKeyword(text, last, mode))
  const condition = text.slice(where?.end, named ? last?.start : last?.end).trim()
  return condition === '' ? undefined : { condition, mode: named ?? 'ASYNC' }
}

/** Whether the text begins with the head of an INSERT whose rows follow. */
export const isInsertWithRows = (text: string): boolean => insertHead(text) !== undefined

/** The text of a statement without the rows of an INSERT. */
export function withoutRows(text: string): string {
  const insert = insertHead(text)
  return insert ? text.slice(0, insert.end) : text
}

function withoutLastSemicolon(text: string, tokens: Token[]): Token[] {
  const isSemicolon = (token: Token) => token.kind === 'symbol' && text[token.start] === ';'
  let end = tokens.length
  while (end > 0 && isSemicolon(tokens[end - 1] as Token)) end--
  const statement = tokens.slice(0, end)
  if (statement.some(isSemicolon)) throw syntaxError('Syntax error (Multi-statements are not allowed)')
  return statement
}

/** `FORMAT x` outside of brackets, at the end or followed only by SETTINGS. */
function trailingFormat(text: string, tokens: Token[]): { name: string; cut: number; index: number } | undefined {
  let depth = 0
  for (let i = tokens.length - 1; i > 0; i--) {
    const token = tokens[i] as Token
    const c = text[token.start]
    if (token.kind === 'symbol') {
      if (c === ')' || c === ']' || c === '}') depth++
      if (c === '(' || c === '[' || c === '{') depth--
      if (depth < 0) return undefined
    }
    const name = tokens[i + 1]
    if (depth > 0 || !name || !isKeyword(text, token, 'FORMAT')) continue
    const after = tokens[i + 2]
    if (name.kind !== 'word' && name.kind !== 'name') continue
    if (after && !isKeyword(text, after, 'SETTINGS')) continue
    return { name: identifier(text, name), cut: token.start, index: i }
  }
  return undefined
}

/**
 * The head of an INSERT whose rows follow, parsed as in src/Parsers/ParserInsertQuery.cpp. Undefined for any other
 * statement. Stops at the first row, so that rows are never interpreted as SQL.
 */
function insertHead(text: string): InsertHead | undefined {
  const into = nextToken(text, nextToken(text, 0)?.end ?? 0)
  if (!isKeyword(text, nextToken(text, 0), 'INSERT') || !into || !isKeyword(text, into, 'INTO')) return undefined
  let at = targetEnd(text, into.end)
  let cut: number | undefined
  for (;;) {
    const token = at === undefined ? undefined : nextToken(text, at)
    if (!token || token.kind === 'error' || text[token.start] === ';') return undefined
    at = token.end
    if (text[token.start] === '(') at = groupEnd(text, token)
    else if (['SELECT', 'WITH'].some((word) => isKeyword(text, token, word))) return inputHead(text, token)
    else if (['FROM', 'WATCH'].some((word) => isKeyword(text, token, word))) return undefined
    else if (isKeyword(text, token, 'SETTINGS')) cut ??= token.start
    else if (isKeyword(text, token, 'VALUES')) {
      const tail = `${text.slice(cut ?? token.start, token.start)} FORMAT Values`
      const dataStart = nextToken(text, token.end)?.start ?? text.length
      return { head: text.slice(0, cut ?? token.start), tail, format: 'Values', dataStart, end: token.end }
    } else if (isKeyword(text, token, 'FORMAT')) {
      const name = nextToken(text, token.end)
      if (name?.kind !== 'word' && name?.kind !== 'name') return undefined
      const [head, tail] = [text.slice(0, cut ?? token.start), text.slice(cut ?? token.start, name.end)]
      return { head, tail, format: identifier(text, name), dataStart: firstRow(text, name.end), end: name.end }
    }
  }
}

type InsertHead = {
  head: string
  tail: string
  format: string
  dataStart: number
  end: number
  input?: InputCall
}

/** The head of an INSERT with `SELECT … FROM input('columns') … FORMAT x`, from the SELECT on. Undefined if it does not use input(). */
function inputHead(text: string, select: Token): InsertHead | undefined {
  let input: InputCall | undefined
  let depth = 0
  let before = select
  for (let token = nextToken(text, select.end); token; before = token, token = nextToken(text, token.end)) {
    const c = token.kind === 'symbol' ? text[token.start] : ''
    if (token.kind === 'error' || c === ';') return undefined
    if (c === '(') depth++
    if (c === ')') depth--
    if (isKeyword(text, before, 'FROM') || isKeyword(text, before, 'JOIN')) {
      const call = inputCall(text, token)
      if (call && input) {
        throw EngineError.of(477, 'INVALID_USAGE_OF_INPUT', 'You can use table function input() only once per query')
      }
      input ??= call
    }
    const name = nextToken(text, token.end)
    if (!input || depth > 0 || !isKeyword(text, token, 'FORMAT')) continue
    if (name?.kind !== 'word' && name?.kind !== 'name') continue
    const [head, tail] = [text.slice(0, token.start), text.slice(token.start, name.end)]
    return { head, tail, format: identifier(text, name), dataStart: firstRow(text, name.end), end: name.end, input }
  }
  return undefined
}

function inputCall(text: string, name: Token): InputCall | undefined {
  const open = nextToken(text, name.end)
  const structure = open && nextToken(text, open.end)
  const close = structure && nextToken(text, structure.end)
  if (!isKeyword(text, name, 'INPUT') || !open || text[open.start] !== '(' || structure?.kind !== 'string')
    return undefined
  if (!close || text[close.start] !== ')') return undefined
  return { start: name.start, end: close.end, structure: unquote(text.slice(structure.start, structure.end)) }
}

/** The end of `[TABLE] [db.]table` or `[TABLE] FUNCTION name`. A table may itself be called table, format or values. */
function targetEnd(text: string, from: number): number | undefined {
  let name = nextToken(text, from)
  for (const word of ['TABLE', 'FUNCTION']) {
    const next = name && nextToken(text, name.end)
    if (isKeyword(text, name, word) && (next?.kind === 'word' || next?.kind === 'name') && !startsRows(text, next))
      name = next
  }
  if (name?.kind === 'symbol' || name?.kind === 'error') return undefined
  for (;;) {
    const dot = name && nextToken(text, name.end)
    if (!dot || text[dot.start] !== '.') return name?.end
    name = nextToken(text, dot.end)
  }
}

const startsRows = (text: string, token: Token) =>
  ['VALUES', 'FORMAT', 'SELECT', 'WITH', 'SETTINGS'].some((word) => isKeyword(text, token, word))

/** The end of the bracket that closes the one at `open`. */
function groupEnd(text: string, open: Token): number | undefined {
  let depth = 1
  for (let token = nextToken(text, open.end); token; token = nextToken(text, token.end)) {
    if (token.kind === 'symbol' && text[token.start] === '(') depth++
    if (token.kind === 'symbol' && text[token.start] === ')' && --depth === 0) return token.end
  }
  return undefined
}

/** Where rows start: after the first line break, or after the blanks if there is none. */
function firstRow(text: string, nameEnd: number): number {
  let at = nameEnd
  if (text[at] === ';') throw syntaxError("You have excessive ';' symbol before data for INSERT")
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\f') at++
  if (text[at] === '\r') at++
  if (text[at] === '\n') at++
  return at
}
