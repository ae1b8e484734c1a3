import type { Random } from '../fuzz/random.js'
import type { World } from './world.js'

/** A statement that contains something forbidden, with its parameters and its rows. */
export type Attempt = { sql: string; params: Record<string, string>; rows?: string }

/** Who may not do it: `all` others than the owner, or those of one database. */
type Forbidden = { text: string; for: 'all' | 'confined' }

const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`

/** The name of a function in another case (where the engine takes any), in quotes, or with escapes. */
function spelled(random: Random, name: string): string {
  const escaped = () =>
    [...name].map((c) => (random.int(3) > 0 ? c : `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)).join('')
  return random.pick([() => name, () => `\`${escaped()}\``, () => `"${escaped()}"`, () => `${name}/**/`])()
}

/** An expression that is forbidden. */
function expression(random: Random, w: World): Forbidden {
  const path = quoted(w.canary)
  const all = (name: string, args: string): Forbidden => ({ text: `${spelled(random, name)}(${args})`, for: 'all' })
  const confined = (text: string): Forbidden => ({ text, for: 'confined' })
  return random.pick([
    () => all('file', path),
    () => all('file', path),
    () => all('file', `concat(${path}, '')`),
    (): Forbidden => ({ text: `arrayMap(${spelled(random, 'file')}, [${path}])[1]`, for: 'all' }),
    (): Forbidden => ({ text: `arrayMap(x -> ${spelled(random, 'file')}(x), [${path}])[1]`, for: 'all' }),
    () => all('catboostEvaluate', `${path}, 1`),
    () => all('hasColumnInTable', "'b', 'secret', 's'"),
    () => all('getServerSetting', "'max_server_memory_usage'"),
    () => all('defaultRoles', ''),
    () => confined("dictGet('b.words', 's', 7::UInt64)"),
    () => confined("dictGet(concat('b.', 'words'), 's', 7::UInt64)"),
    () => confined('toString(7 IN b.keys)'),
    () => confined('toString(7 IN `b`.`keys`)'),
    () => confined('(SELECT any(s) FROM b.secret)'),
    () => confined("(SELECT any(s) FROM merge('b', 'secret'))"),
  ])()
}

/** A table expression that is forbidden. */
function source(random: Random, w: World): Forbidden {
  const path = quoted(w.canary)
  const address = `127.0.0.1:${w.port}`
  const all = (name: string, args: string): Forbidden => ({ text: `${spelled(random, name)}(${args})`, for: 'all' })
  const structure = `a String, b String ${random.pick(['DEFAULT', 'default', 'MATERIALIZED', 'ALIAS'])} ${spelled(random, 'file')}(${path})`
  return random.pick([
    () => all('file', `${path}, LineAsString`),
    () => all('file', `${path}, 'CSV', 'a String'`),
    () => all('url', `'http://${address}/x', CSV, 'a String'`),
    () => all('s3', `'http://${address}/b/x.csv'`),
    () => all('remote', `'${address}', system.one`),
    () => all('mysql', `'${address}', 'd', 't', 'u', 'p'`),
    () => all('postgresql', `'${address}', 'd', 't', 'u', 'p'`),
    () => all('redis', `'${address}', 'k', 'k String, v String'`),
    () => all('sqlite', `${path}, 't'`),
    () => all('filesystem', path),
    () => all('executable', "'cat', TSV, 'a String'"),
    () => all('eval', quoted(`SELECT file(${path})`)),
    () => all('loop', 'system.one'),
    () => all('null', quoted(structure)),
    () => all('format', `CSV, ${quoted(structure)}, 'x,y'`),
    () => all('format', `JSONEachRow, ${quoted(structure)}, '{"a": "x"}'`),
    () => all('generateRandom', quoted(structure)),
    () => all('values', `${quoted(structure)}, ('x', 'y')`),
    (): Forbidden => ({ text: 'system.backups', for: 'all' }),
    (): Forbidden => ({ text: 'system.`user\\x5fprocesses`', for: 'all' }),
    (): Forbidden => ({ text: `(SELECT 1 AS a SETTINGS ${setting(random)})`, for: 'all' }),
    (): Forbidden => ({ text: 'b.secret', for: 'confined' }),
    (): Forbidden => ({ text: "dictionary('b.words')", for: 'confined' }),
    (): Forbidden => ({ text: "merge(REGEXP('b'), 'secret')", for: 'all' }),
  ])()
}

const setting = (random: Random): string =>
  random.pick([
    "chdb_client_name = 'internal'",
    'max_threads = 1',
    '`max_threads` = 1, readonly = 0',
    "dialect = 'prql'",
    "format_schema = 'x'",
    "additional_result_filter = '1'",
    'allow_experimental_eval_table_function = 1',
  ])

/** Puts an expression where a SELECT can have one. */
const around: ((e: string) => string)[] = [
  (e) => `SELECT ${e}`,
  (e) => `SELECT 1 WHERE ${e} = ''`,
  (e) => `WITH ${e} AS q SELECT q`,
  (e) => `WITH t AS (SELECT ${e} AS q) SELECT q FROM t`,
  (e) => `SELECT (SELECT ${e})`,
  (e) => `SELECT 'x' IN (SELECT ${e})`,
  (e) => `SELECT 'x' IN (${e}, 'y')`,
  (e) => `SELECT arrayMap(x -> ${e}, [1])`,
  (e) => `WITH (x -> ${e}) AS f SELECT f(1)`,
  (e) => `SELECT s FROM a.mine ORDER BY ${e}`,
  (e) => `SELECT k FROM a.mine ORDER BY k WITH FILL FROM length(${e}) TO 3`,
  (e) => `SELECT k FROM a.mine ORDER BY k WITH FILL TO 3 INTERPOLATE (k AS length(${e}))`,
  (e) => `SELECT k FROM a.mine LIMIT 1 BY ${e}`,
  (e) => `SELECT count() FROM a.mine GROUP BY ${e}`,
  (e) => `SELECT count() FROM a.mine GROUP BY GROUPING SETS ((k), (${e}))`,
  (e) => `SELECT count() FROM a.mine HAVING ${e} = ''`,
  (e) => `SELECT k FROM a.mine QUALIFY ${e} = ''`,
  (e) => `SELECT sum(k) OVER (PARTITION BY ${e}) FROM a.mine`,
  (e) => `SELECT sum(k) OVER w FROM a.mine WINDOW w AS (ORDER BY ${e})`,
  (e) => `SELECT sum(k) FILTER (WHERE ${e} = '') FROM a.mine`,
  (e) => `SELECT 1 FROM a.mine AS m INNER JOIN a.other AS o ON m.k = o.k AND ${e} = ''`,
  (e) => `SELECT q FROM a.mine ARRAY JOIN [${e}] AS q`,
  (e) => `SELECT * REPLACE (${e} AS s) FROM a.mine`,
  (e) => `SELECT * APPLY(x -> ${e}) FROM a.mine`,
  (e) => `SELECT CASE WHEN 1 THEN ${e} ELSE 'x' END`,
  (e) => `SELECT map('k', ${e}), [${e}], (1, ${e})`,
  (e) => `SELECT 1 UNION ALL SELECT length(${e})`,
  (e) => `SELECT 'x' EXCEPT SELECT ${e}`,
  (e) => `SELECT * FROM numbers(length(${e}))`,
  (e) => `SELECT * FROM values(('x', ${e}))`,
  (e) => `SELECT * FROM view(SELECT ${e})`,
  (e) => `SELECT k FROM a.mine PREWHERE ${e} = ''`,
  (e) => `SELECT s FROM a.one(k = length(${e}))`,
  (e) => `SELECT 1 LIMIT length(${e})`,
  (e) => `WITH RECURSIVE t AS (SELECT 'x' AS n UNION ALL SELECT ${e} FROM t WHERE n = 'x') SELECT * FROM t`,
]

/** Puts a SELECT into another statement. */
const within: ((select: string) => string)[] = [
  (s) => s,
  (s) => s,
  (s) => s,
  (s) => `(${s})`,
  (s) => `SELECT * FROM (${s})`,
  (s) => `EXPLAIN ${s}`,
  (s) => `EXPLAIN PIPELINE ${s}`,
  (s) => `SELECT * FROM (EXPLAIN ${s})`,
  (s) => `DESCRIBE (${s})`,
  (s) => `CREATE TEMPORARY TABLE t ENGINE = Memory AS ${s}`,
  (s) => `INSERT INTO a.other SELECT 1, toString(q) FROM (${s} AS q)`,
  (s) => `INSERT INTO a.other (s) ${s}`,
  (s) => `SELECT 1 FORMAT CSV SETTINGS log_comment = 'x' /* ${s.replaceAll('*', '')} */ UNION ALL ${s}`,
  (s) => `SHOW TABLES FROM a WHERE name IN (${s})`,
  (s) => `KILL QUERY WHERE query_id IN (${s})`,
  (s) => `DELETE FROM a.other WHERE s IN (${s})`,
  (s) => `ALTER TABLE a.other UPDATE s = (${s}) WHERE 1`,
]

/** Statements with an expression where a definition can have one. */
const definitions: ((e: string) => string)[] = [
  (e) => `CREATE TABLE a.t (s String DEFAULT ${e}) ENGINE = Memory`,
  (e) => `CREATE TABLE a.t (k UInt64, PROJECTION p (SELECT ${e})) ENGINE = MergeTree ORDER BY k`,
  (e) => `CREATE TABLE a.t (k UInt64, CONSTRAINT c CHECK ${e} = '') ENGINE = MergeTree ORDER BY k`,
  (e) => `CREATE TABLE a.t (k UInt64, INDEX i ${e} TYPE minmax) ENGINE = MergeTree ORDER BY k`,
  (e) => `CREATE TABLE a.t (k DateTime) ENGINE = MergeTree ORDER BY k TTL k DELETE WHERE ${e} = ''`,
  (e) => `CREATE TABLE a.t (k DateTime, s String) ENGINE = MergeTree ORDER BY k TTL k GROUP BY k SET s = any(${e})`,
  (e) => `CREATE TABLE a.t (k UInt64) ENGINE = MergeTree ORDER BY (k, ${e})`,
  (e) => `CREATE TABLE a.t (k UInt64) ENGINE = MergeTree PARTITION BY ${e} ORDER BY k`,
  (e) => `CREATE VIEW a.v AS SELECT ${e} AS q`,
  (e) => `CREATE MATERIALIZED VIEW a.v ENGINE = Memory AS SELECT ${e} AS q FROM a.mine`,
  (e) => `ALTER TABLE a.other ADD COLUMN q String DEFAULT ${e}`,
  (e) => `ALTER TABLE a.other MODIFY COLUMN s String MATERIALIZED ${e}`,
  (e) => `ALTER TABLE a.other ADD CONSTRAINT c CHECK ${e} = ''`,
  (e) => `CREATE TEMPORARY TABLE t (s String DEFAULT ${e})`,
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

/** A statement with something forbidden for `all`, or also with what is forbidden to users of one database. */
export function attempt(random: Random, w: World, isConfined: boolean): Attempt {
  for (;;) {
    const made = anyAttempt(random, w)
    if (made.forbidden === 'all' || isConfined) return made
  }
}

function anyAttempt(random: Random, w: World): Attempt & { forbidden: 'all' | 'confined' } {
  const kind = random.int(10)
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
  if (kind < 7) {
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
