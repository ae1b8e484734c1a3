import { forbidden, hostileText } from './hostile.js'
import type { Random } from './random.js'

const heads = [
  'SELECT 1',
  'SELECT number FROM numbers(3)',
  "SELECT 'x'",
  'WITH 1 AS x SELECT x',
  'FROM numbers(2) SELECT number',
  '(SELECT 1)',
  '(SELECT 1) UNION ALL (SELECT 2)',
  'SHOW TABLES FROM fuzz',
  'DESCRIBE TABLE fuzz.kept',
  'EXPLAIN SELECT 1',
  'EXISTS fuzz.kept',
  'SELECT count() FROM fuzz.torn',
  'SELECT number FROM system.numbers',
  'SELECT count() FROM system.numbers',
  'SELECT sleep(0.02)',
  'SELECT throwIf(number = 5) FROM numbers(10)',
  'SELECT number, throwIf(number = 90000) FROM numbers(100000)',
  "SELECT number, repeat('y', 1000) FROM numbers(20000)",
  'INSERT INTO fuzz.torn SELECT 1, 2',
  "INSERT INTO fuzz.torn VALUES (1, 'x')",
  'INSERT INTO fuzz.torn FORMAT CSV 1,2',
  'INSERT INTO fuzz.torn',
  'CREATE TABLE IF NOT EXISTS fuzz.made (a UInt8) ENGINE = Memory',
  'CREATE TEMPORARY TABLE held (a UInt8)',
  'SET max_threads = 2',
  'USE fuzz',
  'CHECK TABLE fuzz.torn',
  'OPTIMIZE TABLE fuzz.torn',
  'SYSTEM FLUSH LOGS',
  'KILL QUERY WHERE 0',
  'SELECT * FROM system.processes',
]

const clauses = [
  ' FORMAT JSON',
  ' FORMAT CSV',
  ' format Native',
  ' FORMAT Parquet',
  ' FORMAT JSONEachRowWithProgress',
  ' FORMAT "TSV"',
  ' FORMAT',
  ' FORMAT FORMAT',
  ' FORMAT Nope',
  ' SETTINGS max_threads = 1',
  ' SETTINGS nope = 1',
  ' LIMIT 3',
  ' INTO OUTFILE',
  ' TRUNCATE',
  ' APPEND',
  ' AND STDOUT',
  " COMPRESSION 'none'",
  ' FROM INFILE',
  ' FROM fuzz.kept',
  ' UNION ALL ',
  ' INTERSECT SELECT 1',
  ' -- end',
  ' /* c */',
  ' ;',
  '\n',
  ' ',
]

/**
 * A statement that may or may not be valid. It begins with a keyword of a harmless one, so that it is never a forbidden
 * statement as a whole.
 */
export function statement(random: Random, directory: string): string {
  const tail = random.times(random.int(5), () => {
    const kind = random.int(7)
    if (kind === 0) return hostileText(random, directory)
    if (kind === 1) return `; ${random.pick(forbidden(directory))}`
    if (kind === 2) return `\n\n${random.pick(forbidden(directory))};`
    if (kind === 3) return ` /* ${hostileText(random, directory)} */`
    return random.pick(clauses)
  })
  const text = random.pick(heads) + tail.join('')
  return random.chance(0.15) ? text.slice(0, 8 + random.int(text.length)) : text
}

/** A statement that returns the hex of a hostile string, and the expected result. */
export function echo(random: Random, directory: string): { sql: string; url: Record<string, string>; hex: string } {
  const text = hostileText(random, directory)
  const hex = Buffer.from(text).toString('hex').toUpperCase()
  const kind = random.int(4)
  // A comment must not end early or open another one.
  const comment = `/* ${hostileText(random, directory).replace(/\/\*|\*\/|[*/]/g, '.')} */`
  const line = `-- ${hostileText(random, directory).replace(/\n/g, ' ')}\n`
  const around = (literal: string) =>
    `${random.pick(['', comment, line])}SELECT ${random.pick(['', comment])} hex(${literal})${random.pick(['', ' ;', ` ${comment}`, ` ${line}`])}`
  if (kind === 0) {
    const param_p = text.replace(
      /[\\\n\t\r\0]/g,
      (c) => ({ '\\': '\\\\', '\n': '\\n', '\t': '\\t', '\r': '\\r', '\0': '\\0' })[c] as string,
    )
    return { sql: around('{p: String}'), url: { param_p }, hex }
  }
  // A heredoc can contain any text without its tag.
  if (kind === 1 && !text.includes('$')) return { sql: around(`$tag$${text}$tag$`), url: {}, hex }
  if (kind === 2) return { sql: around(`'${text.replace(/\\/g, '\\\\').replace(/'/g, "''")}'`), url: {}, hex }
  return { sql: around(`'${text.replace(/[\\']/g, '\\$&')}'`), url: {}, hex }
}
