import type { Random } from '../fuzz/random.js'
import { expression, refusedSetting, source } from './forbidden.js'
import { around, definitions, peeks, settingsClauses, within } from './places.js'
import type { World } from './world.js'

/**
 * A statement with its parameters and its rows. It contains something forbidden; or it may run, but must not show what
 * others do and have.
 */
export type Attempt = { sql: string; params: Record<string, string>; rows?: string; mayRun?: boolean }

const rowsOf = (expression: string): Attempt => ({
  sql: 'INSERT INTO a.other FORMAT Values',
  params: {},
  rows: `(1, ${expression})`,
})

/** What the generator has found with many more statements than a usual run has: it stays in every run. */
export const found: Attempt[] = [
  rowsOf('toString(7 IN b.keys)'),
  rowsOf("toString(arrayReduce('agg\\x54hrow(0)', [1]))"),
  rowsOf("formatRowNoNewline(concat('CS', 'V'), 1)"),
]

/** Blanks, comments, line breaks and case of keywords, all without a meaning. */
function disguised(random: Random, sql: string): string {
  const noise = () => random.pick([' ', ' ', ' ', '\n', '\t', ' /* x */ ', ' -- x\n', ' /* /* file */ */ ', ' # x\n'])
  return sql
    .split(/( (?=(?:[^'`"]|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*")*$))/)
    .map((part) => (part === ' ' ? noise() : part))
    .map((part) => (random.int(4) === 0 && /^(SELECT|FROM|WITH|WHERE|AS)$/.test(part) ? part.toLowerCase() : part))
    .join('')
}

const aroundPeeks: ((select: string) => string)[] = [
  (s) => s,
  (s) => `${s} FORMAT JSON`,
  (s) => `SELECT * FROM (${s})`,
  (s) => `WITH t AS (${s}) SELECT * FROM t`,
  (s) => `SELECT * FROM view(${s})`,
  (s) => `SELECT toString(tuple(*)) FROM (${s})`,
  (s) => `${s} UNION ALL ${s}`,
  (s) => `EXPLAIN ${s}`,
]

/** A statement with something forbidden for `all`, or also with what is forbidden to users of one database. */
export function attempt(random: Random, w: World, isConfined: boolean): Attempt {
  for (;;) {
    const made = anyAttempt(random, w)
    if (made.forbidden === 'all' || isConfined) return made
  }
}

function anyAttempt(random: Random, w: World): Attempt & { forbidden: 'all' | 'confined' } {
  const kind = random.int(12)
  if (kind === 0) {
    const { text, for: whom } = expression(random, w)
    return { sql: disguised(random, random.pick(definitions)(text)), params: {}, forbidden: whom }
  }
  if (kind === 1) {
    const e = random.pick(around)('arrayMap({f: Identifier}, [1])[1]')
    return { sql: disguised(random, random.pick(within)(e)), params: { param_f: 'file' }, forbidden: 'all' }
  }
  if (kind === 2) {
    const s = `SELECT * FROM {d: Identifier}.{t: Identifier}`
    return { sql: random.pick(within)(s), params: { param_d: 'b', param_t: 'secret' }, forbidden: 'confined' }
  }
  if (kind === 3) {
    const { text, for: whom } = expression(random, w)
    return { sql: 'INSERT INTO a.other FORMAT Values', params: {}, rows: `(1, ${text})`, forbidden: whom }
  }
  if (kind === 4) {
    const sql = random.pick(settingsClauses)(refusedSetting(random))
    return { sql: disguised(random, sql), params: {}, forbidden: 'all' }
  }
  if (kind === 5) {
    const peek = random.pick(peeks)
    const sql = peek.startsWith('SELECT') ? random.pick(aroundPeeks)(peek) : peek
    return { sql: disguised(random, sql), params: {}, forbidden: 'all', mayRun: true }
  }
  if (kind < 9) {
    const { text, for: whom } = expression(random, w)
    let select = random.pick(around)(text)
    for (let depth = random.int(3); depth > 0; depth--) select = random.pick(around)(`(${select})`)
    return { sql: disguised(random, random.pick(within)(select)), params: {}, forbidden: whom }
  }
  const { text, for: whom } = source(random, w)
  const select = `SELECT ${random.pick(['*', 'count()', '1'])} FROM ${text}`
  const nested = random.int(2) === 0 ? select : random.pick(around)(`(${select})`)
  return { sql: disguised(random, random.pick(within)(nested)), params: {}, forbidden: whom }
}
