import type { Random } from '../fuzz/random.js'
import type { World } from './world.js'

/** Who may not do it: `all` others than the owner, or those of one database. */
export type Forbidden = { text: string; for: 'all' | 'confined' }

const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`

/** The name of a function in quotes, with escapes, or with a comment behind it. */
function spelled(random: Random, name: string): string {
  const escaped = () =>
    [...name].map((c) => (random.int(3) > 0 ? c : `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)).join('')
  return random.pick([() => name, () => `\`${escaped()}\``, () => `"${escaped()}"`, () => `${name}/**/`])()
}

const forAll = (text: string): Forbidden => ({ text, for: 'all' })
const forConfined = (text: string): Forbidden => ({ text, for: 'confined' })

/** An expression that is forbidden. */
export function expression(random: Random, w: World): Forbidden {
  const path = quoted(w.canary)
  const call = (name: string, args: string) => forAll(`${spelled(random, name)}(${args})`)
  return random.pick([
    () => call('file', path),
    () => call('file', path),
    () => call('file', `concat(${path}, '')`),
    () => forAll(`arrayMap(${spelled(random, 'file')}, [${path}])[1]`),
    () => forAll(`arrayMap(x -> ${spelled(random, 'file')}(x), [${path}])[1]`),
    () => forAll(`arrayFold(acc, x -> ${spelled(random, 'file')}(x), [${path}], '')`),
    () => call('catboostEvaluate', `${path}, 1`),
    () => call('hasColumnInTable', "'b', 'secret', 's'"),
    () => call('getServerSetting', "'max_server_memory_usage'"),
    () => call('getClientHTTPHeader', "'X-ClickHouse-Key'"),
    () => call('defaultRoles', ''),
    () => forAll("formatRow('Template', 1)"),
    () => forAll("formatRowNoNewline(concat('Cap', 'nProto'), 1)"),
    () => forConfined("dictGet('b.words', 's', 7::UInt64)"),
    () => forConfined("dictGet(concat('b.', 'words'), 's', 7::UInt64)"),
    () => forConfined("toString(dictHas('b.words', 7::UInt64))"),
    () => forConfined("dictGetOrDefault(`b`.`words`, 's', 7::UInt64, '')"),
    () => forConfined("joinGet('b.joined', 's', 7::UInt64)"),
    () =>
      forAll(
        `toString(arrayReduce(${random.pick(["'groupFormat(\\'CSV\\')'", "'flameGraph'", "'agg\\x54hrow(0)'"])}, [1]))`,
      ),
    () => forConfined('toString(7 IN b.keys)'),
    () => forConfined('toString(7 IN keys)'),
    () => forConfined('toString((SELECT 7 IN keys) + (SELECT max(keys) FROM (SELECT 8 AS keys)))'),
    () => forConfined('toString(7 IN `b`.`keys`)'),
    () => forConfined(`toString(${random.pick(['in', 'notIn', 'globalIn', 'nullIn', 'inIgnoreSet'])}(7, b.keys))`),
    () => forConfined('(SELECT any(s) FROM b.secret)'),
    () => forConfined("(SELECT any(s) FROM merge('b', 'secret'))"),
  ])()
}

/** Table functions that open a connection to an address, with arguments. */
const calling = (address: string): Record<string, string> => ({
  url: `'http://${address}/x', CSV, 'a String'`,
  s3: `'http://${address}/b/x.csv'`,
  remote: `'${address}', system.one`,
  remoteSecure: `'${address}', system.one`,
  cluster: "'default', system.one",
  mysql: `'${address}', 'd', 't', 'u', 'p'`,
  postgresql: `'${address}', 'd', 't', 'u', 'p'`,
  mongodb: `'${address}', 'd', 't', 'u', 'p', 'a String'`,
  redis: `'${address}', 'k', 'k String, v String'`,
  hdfs: `'hdfs://${address}/x', CSV, 'a String'`,
  azureBlobStorage: `'http://${address}/', 'c', 'x.csv'`,
  deltaLake: `'http://${address}/b/x'`,
  iceberg: `'http://${address}/b/x'`,
  jdbc: `'http://${address}', 't'`,
  odbc: `'DSN=x', 't'`,
})

/** A table expression that is forbidden. */
export function source(random: Random, w: World): Forbidden {
  const path = quoted(w.canary)
  const call = (name: string, args: string) => forAll(`${spelled(random, name)}(${args})`)
  const structure = `a String, b String ${random.pick(['DEFAULT', 'default', 'MATERIALIZED', 'ALIAS'])} ${spelled(random, 'file')}(${path})`
  return random.pick([
    () => call('file', `${path}, LineAsString`),
    () => call('file', `${path}, 'CSV', 'a String'`),
    ...Object.entries(calling(`127.0.0.1:${w.port}`)).map(
      ([name, args]) =>
        () =>
          call(name, args),
    ),
    () => call('sqlite', `${path}, 't'`),
    () => call('filesystem', path),
    () => call('executable', "'cat', TSV, 'a String'"),
    () => call('Python', quoted(w.canary)),
    () => call('eval', quoted(`SELECT file(${path})`)),
    () => call('loop', 'system.one'),
    () => call('fuzzJSON', `'{"a": 1}', random_seed = 1`),
    () => call('mergeTreeIndex', "'b', 'secret'"),
    () => call('mergeTreeProjection', "'b', 'secret', 'p'"),
    () => call('viewIfPermitted', "SELECT s FROM b.secret ELSE null('s String')"),
    () => call('null', quoted(structure)),
    () => call('format', `CSV, ${quoted(structure)}, 'x,y'`),
    () => call('format', `JSONEachRow, ${quoted(structure)}, '{"a": "x"}'`),
    () => call('format', "Template, 'a String', 'x'"),
    () => call('generateRandom', quoted(structure)),
    () => call('values', `${quoted(structure)}, ('x', 'y')`),
    () => forAll('system.backups'),
    () => forAll('system.`user\\x5fprocesses`'),
    () =>
      forAll(`system.${random.pick(['disks', 'users', 'errors', 'server_settings', 'stack_trace', 'query_cache'])}`),
    () => forAll(`(SELECT 1 AS a SETTINGS ${setting(random)})`),
    () => forAll("merge('system', '^(backups|disks)$')"),
    () => forAll("merge(REGEXP('b'), 'secret')"),
    () => forConfined('b.secret'),
    () => forConfined('b.words'),
    () => forConfined("dictionary('b.words')"),
  ])()
}

const refusedSettings = [
  "chdb_client_name = 'internal'",
  "dialect = 'prql'",
  "format_schema = 'x'",
  "format_template_row = 'x'",
  "additional_result_filter = '1'",
  "additional_table_filters = {'a.mine': '1'}",
  "input_format_record_errors_file_path = '/x'",
  'allow_experimental_eval_table_function = 1',
  "send_logs_level = 'trace'",
  'ast_fuzzer_runs = 1',
]

/** A setting that is forbidden below the top level of a statement. */
const setting = (random: Random): string =>
  random.pick([...refusedSettings, 'max_threads = 1', '`max_threads` = 1, readonly = 0'])

/** A setting that is forbidden everywhere, perhaps with allowed ones around it. */
export function refusedSetting(random: Random): string {
  const refused = random.pick(refusedSettings)
  return random.pick([refused, `max_threads = 1, ${refused}`, `${refused}, log_comment = 'a = b'`])
}
