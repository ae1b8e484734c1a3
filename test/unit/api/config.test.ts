import { expect, test } from 'vitest'
import { ApiConfig } from '../../../api/config.js'
import { parseEnv } from '../../../process/environment.js'

test('an empty environment is a working configuration, on the loopback interface only', () => {
  expect(parseEnv(ApiConfig, {})).toMatchObject({ PORT: 3000, HOST: '127.0.0.1', LOG_LEVEL: 'info' })
})

test('every bad variable is named at once', () => {
  const env = { PORT: '70000', REDIS_URL: 'http://localhost', LOG_LEVEL: 'loud', CLICKHOUSE_URL: 'localhost:8123' }
  expect(() => parseEnv(ApiConfig, env)).toThrow(/PORT[\s\S]*REDIS_URL|REDIS_URL[\s\S]*PORT/)
  for (const name of Object.keys(env)) expect(() => parseEnv(ApiConfig, env)).toThrow(name)
})

test('keys that could be guessed are refused without being printed', () => {
  const good = { ADMIN_API_KEY: 'a'.repeat(32), SECRETS_KEY: Buffer.alloc(32, 7).toString('base64url') }
  expect(parseEnv(ApiConfig, good)).toMatchObject({ ...good, SECRETS_KEY: Buffer.alloc(32, 7) })
  expect(parseEnv(ApiConfig, {})).not.toHaveProperty('ADMIN_API_KEY')
  for (const bad of ['c'.repeat(31), `${'d'.repeat(20)} ${'d'.repeat(20)}`, 'é'.repeat(40)]) {
    const parse = () => parseEnv(ApiConfig, { ADMIN_API_KEY: bad, SECRETS_KEY: bad })
    expect(parse).toThrow(/ADMIN_API_KEY: must .*\n.*SECRETS_KEY: must be 32 bytes/)
    expect(parse).not.toThrow(bad)
  }
})

test('proxies are trusted by address, and none is by default', () => {
  expect(parseEnv(ApiConfig, {}).TRUST_PROXY).toEqual([])
  const TRUST_PROXY = '10.0.0.0/8, 192.0.2.1,2001:db8::/32'
  expect(parseEnv(ApiConfig, { TRUST_PROXY }).TRUST_PROXY).toEqual(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'])
  for (const bad of ['1', 'true', '*', '10.0.0.0/33', '10.0.0.1,', 'proxy.example', '0.0.0.0/0 '.repeat(2)])
    expect(() => parseEnv(ApiConfig, { TRUST_PROXY: bad }), bad).toThrow(/TRUST_PROXY: must be IP addresses/)
})

test('access to metrics is a word or a token, and a token that could be guessed is refused without being printed', () => {
  const access = (METRICS: string) => parseEnv(ApiConfig, { METRICS }).METRICS
  expect(['', 'loopback', 'any', 'off'].map(access)).toEqual(['loopback', 'loopback', 'any', 'off'])
  expect(access('t'.repeat(32))).toEqual({ token: 't'.repeat(32) })
  for (const bad of ['t'.repeat(31), 'loopbak', `${'t'.repeat(20)} ${'t'.repeat(20)}`]) {
    expect(() => access(bad)).toThrow(/METRICS: must be loopback, any, off, or a token of at least 32/)
    expect(() => access(bad)).not.toThrow(bad)
  }
})
