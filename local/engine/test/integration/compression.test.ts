import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateSync,
} from 'node:zlib'
import { decompress as unzstd } from 'fzstd'
import lz4 from 'lz4-napi'
import { describe, expect } from 'vitest'
import { ByteReader } from '../../compression/byte-reader.js'
import { decodeNativeBlocks, nativeBlock } from '../../compression/native-blocks.js'
import { zstdFrame } from '../../compression/zstd.js'
import { basic, test } from './engine.js'

async function* once(data: Buffer) {
  yield data
}

async function unblock(data: Buffer): Promise<Buffer> {
  const found: Buffer[] = []
  for await (const block of decodeNativeBlocks(new ByteReader(once(data)), true)) found.push(block)
  return Buffer.concat(found)
}

const quickBrotli = (data: Buffer) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } })

const residentMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** All bytes of a response, truncated or not. */
const allBytesOf = (url: URL, headers: Record<string, string>) =>
  new Promise<Buffer>((resolve, reject) => {
    const sent = request(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', () => resolve(Buffer.concat(chunks)))
      response.on('end', () => resolve(Buffer.concat(chunks)))
    })
    sent.on('error', reject)
    sent.end()
  })

const codecs = [
  { name: 'gzip', compress: gzipSync, decompress: gunzipSync },
  { name: 'deflate', compress: deflateSync, decompress: inflateSync },
  { name: 'br', compress: quickBrotli, decompress: brotliDecompressSync },
  { name: 'lz4', compress: lz4.compressFrameSync, decompress: lz4.decompressFrameSync },
  {
    name: 'zstd',
    compress: (data: Buffer) => zstdFrame(data, 3),
    decompress: (data: Buffer) => Buffer.from(unzstd(data)),
  },
]

/** The ways to request compression: `compress` and `decompress`, and headers. */
const ways = [
  ...codecs.map((codec) => ({
    ...codec,
    ask: (asked: string) => ({ url: {}, headers: { ...basic, [asked]: codec.name } }),
  })),
  {
    name: 'native blocks',
    compress: nativeBlock,
    decompress: unblock,
    ask: (asked: string) => ({
      url: { [asked === 'Accept-Encoding' ? 'compress' : 'decompress']: '1' },
      headers: basic,
    }),
  },
]

describe.each(ways)('$name', ({ name, compress, decompress, ask }) => {
  test('long, short and empty responses are the same as without compression', async ({ http }) => {
    for (const rows of [0, 3, 500_000]) {
      const query = `SELECT number, repeat('ab', number % 50) FROM numbers(${rows})`
      const plain = await http(query)
      const answer = await http({ query, ...ask('Accept-Encoding') })
      expect(answer.status).toBe(200)
      const isHeader = name !== 'native blocks' && rows > 0
      expect(answer.headers['content-encoding']).toBe(isHeader ? name : undefined)
      const text = rows === 0 ? answer.body : await decompress(answer.body)
      expect(text.equals(plain.body), `${rows} rows`).toBe(true)
    }
  })

  test('the statement, its rows or both can be sent compressed', async ({ http }) => {
    const asked = ask('Content-Encoding')
    expect(await http({ body: compress(Buffer.from('SELECT 7')), ...asked })).toMatchObject({ text: '7\n' })
    const table = `sent_${name.replace(' ', '_')}`
    await http(`CREATE TABLE ${table} (n UInt32, s String) ENGINE = MergeTree ORDER BY n`)
    const rows = Array.from({ length: 300_000 }, (_, i) => `${i},row ${i}\n`).join('')
    const query = `INSERT INTO ${table} FORMAT CSV`
    expect(await http({ query, body: compress(Buffer.from(rows)), ...asked })).toMatchObject({ status: 200 })
    const both = `INSERT INTO ${table} FORMAT CSV\n300000,x\n`
    expect(await http({ body: compress(Buffer.from(both)), ...asked })).toMatchObject({ status: 200 })
    expect(await http(`SELECT count(), sum(n), max(s) FROM ${table}`)).toMatchObject({
      text: '300001\t45000150000\tx\n',
    })
  })

  test('errors are readable, before the result and in the middle of it', async ({ http, engine }) => {
    const early = await http({ query: 'SELECT nothing', ...ask('Accept-Encoding') })
    expect(early.status).toBe(404)
    expect((await decompress(early.body)).toString()).toContain('UNKNOWN_IDENTIFIER')
    const { url, headers } = ask('Accept-Encoding')
    const query = "SELECT randomPrintableASCII(500), throwIf(number = 9000, 'late') FROM numbers(10000)"
    const parameters = new URLSearchParams({ query, max_block_size: '1000', max_threads: '1', ...url })
    const late = await allBytesOf(new URL(`${engine.url}/?${parameters}`), headers)
    expect((await decompress(late)).subarray(-400).toString()).toMatch(/__exception__\r\n[a-z]{16}\r\nCode: 395.*late/)
  })

  test('corrupt and truncated bodies are errors and store nothing', async ({ http }) => {
    const asked = ask('Content-Encoding')
    const table = `broken_${name.replace(' ', '_')}`
    await http(`CREATE TABLE ${table} (n UInt32) ENGINE = Memory`)
    const query = `INSERT INTO ${table} FORMAT CSV`
    const whole = compress(Buffer.from('1\n2\n3\n'.repeat(1000)))
    const flipped = Buffer.from(whole)
    const middle = Math.floor(whole.length / 2)
    flipped.writeUInt8(flipped.readUInt8(middle) ^ 0xff, middle)
    for (const body of [whole.subarray(0, middle), flipped, Buffer.from('1\n2\n3\n'), Buffer.alloc(40, 0xff)]) {
      const answer = await http({ query, body, ...asked })
      expect(answer.headers['x-clickhouse-exception-code'], answer.text).toBeDefined()
    }
    expect(await http(`SELECT count() FROM ${table}`)).toMatchObject({ text: '0\n' })
  })
})

test('blocks of all lengths have the same checksum as the engine’s', async ({ http, dataDir }) => {
  // The engine's files consist of the same blocks; uncompressed, each is as long as its string.
  await http(
    'CREATE TABLE files (s String CODEC(NONE)) ENGINE = MergeTree ORDER BY () SETTINGS min_bytes_for_wide_part = 0',
  )
  await http('SYSTEM STOP MERGES files')
  const lengths = [...Array(40).keys(), 100, 117, 118, 119, 133, 134, 135, 149, 150, 151, 180, 250, 260, 300, 1_000]
  for (const length of lengths) await http(`INSERT INTO files SELECT repeat('x', ${length})`)
  const store = join(dataDir, 'engine', 'store')
  const names = (await readdir(store, { recursive: true })).filter((name) => /\/s\.bin$/.test(name))
  const read = await Promise.all(names.map(async (name) => (await unblock(await readFile(join(store, name)))).length))
  for (const length of lengths) expect(read).toContain(length)
})

test('a body that decompresses to a thousand times its size takes no more memory than any other', async ({
  http,
  engine,
}) => {
  await http('CREATE TABLE grown (s String) ENGINE = Null')
  const row = `${'0'.repeat(999)}\n`
  const plain = Buffer.alloc(400_000_000, row)
  const bodies: [string, Buffer][] = [
    ['identity', plain],
    ['gzip', gzipSync(plain)],
    ['lz4', lz4.compressFrameSync(plain)],
    ['zstd', Buffer.concat(Array.from({ length: 100 }, () => zstdFrame(plain.subarray(0, 4_000_000), 3)))],
  ]
  const peaks: Record<string, number> = {}
  for (const [encoding, body] of bodies) {
    const watch = setInterval(() => {
      peaks[encoding] = Math.max(peaks[encoding] ?? 0, residentMb(engine.pid))
    }, 20)
    const answer = await http({
      query: 'INSERT INTO grown FORMAT TSV',
      body,
      headers: { ...basic, 'Content-Encoding': encoding },
    })
    clearInterval(watch)
    expect(answer).toMatchObject({ status: 200 })
    expect(JSON.parse(String(answer.headers['x-clickhouse-summary']))).toMatchObject({ written_rows: '400000' })
  }
  // The engine reads all of them in parallel, and does not release memory at once.
  for (const encoding of ['gzip', 'lz4', 'zstd']) {
    expect(Number(peaks[encoding]) - Number(peaks.identity), encoding).toBeLessThan(300)
  }
})
