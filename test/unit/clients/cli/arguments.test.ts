import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandOf, UsageError } from '../../../../clients/cli/src/arguments.js'
import { nodeUrl, serviceKey, serviceUrl } from '../../../../clients/cli/src/settings.js'

const NOW = new Date('2026-07-02T12:00:00Z')
const parse = (line: string) => commandOf(line.split(' ').filter(Boolean), NOW)
const common = { url: undefined, json: false }

test('each command has its own arguments', () => {
  expect(parse('list')).toEqual({ name: 'list', asOf: undefined, ...common })
  expect(parse('peg ABUSD --as-of 3h --json')).toEqual({
    name: 'peg',
    stable: 'ABUSD',
    asOf: '3h',
    url: undefined,
    json: true,
  })
  expect(parse('watch A B --url http://x')).toEqual({
    name: 'watch',
    stables: ['A', 'B'],
    url: 'http://x',
    json: false,
  })
  expect(parse('verify A --at 2026-07-01 --rpc http://n')).toEqual({
    name: 'verify',
    stable: 'A',
    at: '2026-07-01',
    rpc: 'http://n',
    ...common,
    byLogs: false,
  })
  expect(parse('verify A --logs')).toMatchObject({ name: 'verify', byLogs: true })
  for (const help of ['', 'help', '--help', '-h', 'peg --help']) expect(parse(help)).toEqual({ name: 'help' })
})

test('breaks begins a day before now, or where it is told', () => {
  const sinceOf = (line: string) => {
    const command = parse(`breaks ${line}`)
    return command.name === 'breaks' ? command.since.toISOString() : null
  }
  expect(sinceOf('')).toBe('2026-07-01T12:00:00.000Z')
  expect(sinceOf('--since 90m')).toBe('2026-07-02T10:30:00.000Z')
  expect(sinceOf('--since 7d')).toBe('2026-06-25T12:00:00.000Z')
  expect(sinceOf('--since 2026-06-30')).toBe('2026-06-30T00:00:00.000Z')
  expect(sinceOf('--since 2026-07-01T10:00:00+02:00')).toBe('2026-07-01T08:00:00.000Z')
})

test('what cannot be understood is an error', () => {
  const wrong = [
    'pegs',
    'toString',
    'peg',
    'peg A B',
    'list A',
    'list --as-of',
    'peg A --key secret',
    'breaks --since tomorrow',
    'breaks --since 0m',
    'breaks --since 2026-07-03',
    'breaks --since 2026-13-01',
    'breaks --severity bad',
  ]
  for (const line of wrong) expect(() => parse(line), line).toThrow(UsageError)
})

test('URLs come from a flag or the environment, and an error never has their value', () => {
  expect(serviceUrl(undefined, {})).toBe('http://127.0.0.1:3000')
  expect(serviceUrl(undefined, { PLUMBLINE_URL: 'https://a.example' })).toBe('https://a.example')
  expect(serviceUrl('http://b.example', { PLUMBLINE_URL: 'https://a.example' })).toBe('http://b.example')
  expect(nodeUrl(undefined, { PLUMBLINE_RPC_URL: 'https://n.example/k' })).toBe('https://n.example/k')
  expect(() => nodeUrl(undefined, {})).toThrow('PLUMBLINE_RPC_URL')
  for (const bad of ['secret', 'ftp://secret.example', 'https://user:secret@n.example']) {
    expect(() => nodeUrl(undefined, { PLUMBLINE_RPC_URL: bad })).toThrow(UsageError)
    expect(() => nodeUrl(undefined, { PLUMBLINE_RPC_URL: bad })).not.toThrow(/secret/)
  }
})

test('a key comes from the environment or a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-key-'))
  const file = join(folder, 'key')
  await writeFile(file, 'from the file\n')
  expect(await serviceKey({})).toBeUndefined()
  expect(await serviceKey({ PLUMBLINE_KEY: 'given', PLUMBLINE_KEY_FILE: file })).toBe('given')
  expect(await serviceKey({ PLUMBLINE_KEY_FILE: file })).toBe('from the file')
  await expect(serviceKey({ PLUMBLINE_KEY_FILE: join(folder, 'none') })).rejects.toThrow('ENOENT')
  await rm(folder, { recursive: true })
})
