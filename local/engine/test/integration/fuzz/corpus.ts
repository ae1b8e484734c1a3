import { basic, type Http } from '../engine.js'
import { hostileText } from './hostile.js'
import type { Random } from './random.js'

/** The rows of an INSERT in one format and encoding, as written by the engine itself. */
export type Body = { format: string; encoding: string; bytes: Buffer; rows: Map<string, string> }

const encodings = ['identity', 'gzip', 'deflate', 'br', 'zstd', 'lz4']

/**
 * Bodies in every format that the engine can read back, with blank lines and SQL in their strings. Each body has its own
 * range of 1000 row ids.
 */
export async function makeCorpus(http: Http, random: Random, directory: string): Promise<Body[]> {
  const { text } = await http('SELECT name FROM system.formats WHERE is_input AND is_output ORDER BY name')
  const bodies: Body[] = []
  const left: string[] = []
  for (const format of text.trim().split('\n')) {
    for (const encoding of [encodings[0] as string, random.pick(encodings)]) {
      const first = (bodies.length + 1) * 1000
      const rows = new Map<string, string>()
      for (let i = 0; i < 1 + random.int(8); i++)
        rows.set(String(first + i), hostileText(random, directory, 1 + random.int(12)))
      const tuples = [...rows].map(([id, v]) => `(${id}, '${Buffer.from(v).toString('hex')}')`)
      const query = `SELECT toUInt64(t.1) AS id, unhex(t.2) AS v FROM (SELECT arrayJoin([${tuples.join(', ')}]) AS t) FORMAT ${format}`
      const answer = await http({ body: query, headers: { ...basic, 'Accept-Encoding': encoding } })
      const sent = String(answer.headers['content-encoding'] ?? 'identity')
      const body = { format, encoding: sent, bytes: answer.body, rows }
      if (answer.status === 200 && (await isFaithful(http, body))) bodies.push(body)
      else left.push(format)
    }
  }
  console.log(
    `${bodies.length} bodies; formats that need a schema or do not keep such texts: ${[...new Set(left)].join(', ')}`,
  )
  return bodies
}

/** Whether the engine reads back its own rows, sent in the simplest way. */
async function isFaithful(http: Http, body: Body): Promise<boolean> {
  await http('CREATE OR REPLACE TABLE fuzz.trial (id UInt64, v String) ENGINE = Memory')
  const headers = { ...basic, 'Content-Encoding': body.encoding }
  await http({ query: `INSERT INTO fuzz.trial FORMAT ${body.format}`, body: body.bytes, headers })
  const { text } = await http('SELECT id, hex(v) FROM fuzz.trial ORDER BY id FORMAT TSV')
  return text === [...body.rows].map(([id, v]) => `${id}\t${Buffer.from(v).toString('hex').toUpperCase()}\n`).join('')
}
