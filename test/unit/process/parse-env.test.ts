import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ConfigError, envInt, envUrl, parseEnv, SECRET_VARIABLES } from '../../../process/environment.js'

const schema = z.object({
  PORT: envInt(0, 65_535).default(3000),
  URL: envUrl('http', 'https'),
  SECRET: z.string().min(20, 'must have 20 characters').optional(),
  LIVE: z.enum(['on', 'off'], 'must be on or off').default('on'),
})

test('an empty variable counts as unset', () => {
  expect(parseEnv(schema, { URL: 'http://x', PORT: '', SECRET: '', LIVE: 'off' })).toEqual({
    URL: 'http://x',
    PORT: 3000,
    LIVE: 'off',
  })
})

test('every bad variable is named at once, and no value is printed', () => {
  const parse = () => parseEnv(schema, { PORT: '99999', URL: 'ftp://host', SECRET: 'hunter2', LIVE: 'maybe' })
  expect(parse).toThrow(ConfigError)
  for (const name of ['PORT', 'URL', 'SECRET', 'LIVE']) expect(parse).toThrow(new RegExp(`^  ${name}: `, 'm'))
  expect(parse).not.toThrow(/hunter2/)
})

test.for(['', '12abc', '1e3', '-1', '3.5', '65536'])('%s is not a port', (PORT) => {
  const parse = () => parseEnv(z.object({ PORT: envInt(0, 65_535) }), { PORT })
  expect(parse).toThrow(/PORT/)
})

test('a variable that is missing is required', () => {
  expect(() => parseEnv(schema, {})).toThrow('URL: is required')
})

const SECRETS = z.object({ CLICKHOUSE_PASSWORD: z.string().default(''), RPC_URL: envUrl('http', 'https').optional() })
const folder = mkdtempSync(join(tmpdir(), 'plumbline-secrets-'))
const file = (name: string, contents: string): string => {
  writeFileSync(join(folder, name), contents)
  return join(folder, name)
}

test('a secret is read from its file, without the line end', () => {
  const env = {
    CLICKHOUSE_PASSWORD_FILE: file('password', ' hunter2 \n'),
    RPC_URL_FILE: file('url', 'https://x/key\r\n'),
  }
  expect(parseEnv(SECRETS, env)).toEqual({ CLICKHOUSE_PASSWORD: ' hunter2 ', RPC_URL: 'https://x/key' })
})

test('an empty file of a secret counts as unset', () => {
  const CLICKHOUSE_PASSWORD_FILE = file('empty', '')
  expect(parseEnv(SECRETS, { CLICKHOUSE_PASSWORD_FILE })).toEqual({ CLICKHOUSE_PASSWORD: '' })
  expect(parseEnv(SECRETS, { CLICKHOUSE_PASSWORD_FILE, CLICKHOUSE_PASSWORD: 'x' }).CLICKHOUSE_PASSWORD).toBe('x')
})

test('a secret that is given twice, or whose file cannot be read, is an error that does not contain it', () => {
  const env = {
    CLICKHOUSE_PASSWORD: 'hunter2',
    CLICKHOUSE_PASSWORD_FILE: file('other', 'hunter3'),
    RPC_URL_FILE: join(folder, 'nothing'),
  }
  const parse = () => parseEnv(SECRETS, env)
  expect(parse).toThrow('CLICKHOUSE_PASSWORD: set either it or CLICKHOUSE_PASSWORD_FILE, not both')
  expect(parse).toThrow('RPC_URL_FILE: the file cannot be read (ENOENT)')
  expect(parse).not.toThrow(/hunter/)
})

test('the file of a secret that a program does not read is not opened', () => {
  expect(parseEnv(SECRETS, { SECRETS_KEY_FILE: join(folder, 'nothing') })).toEqual({ CLICKHOUSE_PASSWORD: '' })
})

test('a bad value in a file is named by its variable', () => {
  expect(() => parseEnv(SECRETS, { RPC_URL_FILE: file('bad', 'ftp://x') })).toThrow(/RPC_URL: must be a URL/)
})

test('.env.example lists the file of every secret', () => {
  const example = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')
  const files = [...example.matchAll(/^(\w+)_FILE=/gm)].map(([, name]) => name)
  expect(files.filter((name) => !/^CLICKHOUSE_USERS$|^GRAFANA_/.test(name ?? '')).toSorted()).toEqual(
    SECRET_VARIABLES.toSorted(),
  )
})
