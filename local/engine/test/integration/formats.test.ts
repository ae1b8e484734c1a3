import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { describe, expect } from 'vitest'
import { type Http, test } from './engine.js'

/** Numbers, strings and arrays with every kind of character that a format has to escape. */
const table =
  "number AS n, concat('a\\t\"\\'<&>\\n', toString(number)) AS s, [number, number + 1] AS list FROM numbers(3)"
/** Simpler tables, for formats that cannot hold every table. */
const tables: Record<string, string> = {
  RawBLOB: "SELECT unhex('0a0a00ff') AS s",
  LineAsString: "SELECT concat('x;', toString(number)) AS s FROM numbers(3)",
  LineAsStringWithNames: 'SELECT toString(number) AS s FROM numbers(3)',
  LineAsStringWithNamesAndTypes: 'SELECT toString(number) AS s FROM numbers(3)',
  Npy: 'SELECT number AS n FROM numbers(3)',
  PNG: 'SELECT 1::UInt8 AS r, 2::UInt8 AS g, 3::UInt8 AS b',
  Prometheus: "SELECT 'm' AS name, 1.5 AS value",
  GeoJSON: 'SELECT (1.5, 2.5)::Point::Geometry AS geometry',
}
/** Formats that escape nothing. */
const isRaw = (format: string) => /^(Raw|TSVRaw|TabSeparatedRaw)(With|$)/.test(format)
const raw = `SELECT number AS n, concat('a"<\\\\', toString(number)) AS s FROM numbers(3)`
const statementFor = (format: string) => tables[format] ?? (isRaw(format) ? raw : `SELECT ${table}`)

/** Removes what differs between runs: times, progress, and the random marker between Avro blocks. */
const comparable = (format: string, answer: string) => {
  if (format === 'Avro') return answer.replaceAll(answer.slice(-16), '')
  const times = /"elapsed": [\d.e-]+|<elapsed>[\d.e-]+</g
  return answer.replace(times, '').replace(/^\{"progress":.*\n/gm, '')
}

const formatsWhere = async (http: Http, condition: string) =>
  (await http(`SELECT name FROM system.formats WHERE ${condition} ORDER BY name`)).text.trimEnd().split('\n')

/** The engine's own results of statements, from a separate process: by format, Latin-1 text or an error's code. */
function inProcess(statements: [format: string, sql: string][]): Record<string, string> {
  const loader = createRequire(import.meta.url)
    .resolve('chdb/package.json')
    .replace(/package\.json$/, 'dist/loader.js')
  const script = `
    process.env.TZ = 'UTC'
    const addon = require(${JSON.stringify(loader)}).loadNative()
    const answers = {}
    const run = async () => {
      for (const [format, sql] of ${JSON.stringify(statements)}) {
        // One connection each: output of a failed statement would appear in the next result.
        const connection = addon.CreateConnection(':memory:', [])
        answers[format] = await addon.QueryAsyncConnection(connection, sql, format).then(
          ({ bytes }) => bytes.toString('latin1'),
          (error) => String(/Code: (\\d+)/.exec(error.message)?.[1]),
        )
        addon.CloseConnection(connection)
      }
      process.stdout.write(JSON.stringify(answers))
    }
    run()`
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { maxBuffer: 64_000_000 }).toString())
}

describe('every format', () => {
  test('of a result is the same as the engine’s own', async ({ http }) => {
    const formats = await formatsWhere(http, 'is_output')
    expect(formats.length).toBeGreaterThan(80)
    const expected = inProcess(formats.map((format) => [format, statementFor(format)]))
    const different: Record<string, [string, string]> = {}
    for (const format of formats) {
      const answer = await http(`${statementFor(format)} FORMAT ${format}`)
      const got =
        answer.status === 200 ? answer.body.toString('latin1') : String(answer.headers['x-clickhouse-exception-code'])
      const [a, b] = [comparable(format, got), comparable(format, String(expected[format]))]
      if (a !== b) different[format] = [a, b]
    }
    expect(different).toEqual({})
  })

  test('that is also an input format accepts its own rows, except those whose reader is unsafe', async ({ http }) => {
    const formats = await formatsWhere(http, 'is_input AND is_output')
    expect(formats.length).toBeGreaterThan(55)
    const different: Record<string, string> = {}
    for (const format of formats) {
      await http('DROP TABLE IF EXISTS taken')
      const rows = await http(`${statementFor(format)} FORMAT ${format}`)
      if (rows.status !== 200) continue
      await http(`CREATE TABLE taken ENGINE = Memory EMPTY AS ${statementFor(format)}`)
      const answer = await http({ query: `INSERT INTO taken FORMAT ${format}`, body: rows.body })
      if (format.startsWith('Protobuf') || format === 'ORC') {
        expect(answer, format).toMatchObject({ status: 501, text: expect.stringContaining('not accepted') })
        continue
      }
      const [given, taken] = [
        await http(`${statementFor(format)} FORMAT TSV`),
        await http('SELECT * FROM taken FORMAT TSV'),
      ]
      if (answer.status !== 200 || taken.text !== given.text) different[format] = answer.text + taken.text
    }
    expect(different).toEqual({})
  })
})
