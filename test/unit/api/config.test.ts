import { expect, test } from 'vitest'
import { ApiConfig } from '../../../api/config.js'
import { parseEnv } from '../../../domain/parse-env.js'

test('an empty environment is a working configuration, on the loopback interface only', () => {
  expect(parseEnv(ApiConfig, {})).toMatchObject({ PORT: 3000, HOST: '127.0.0.1', LOG_LEVEL: 'info' })
})

test('every bad variable is named at once', () => {
  const env = { PORT: '70000', REDIS_URL: 'http://localhost', LOG_LEVEL: 'loud', CLICKHOUSE_URL: 'localhost:8123' }
  expect(() => parseEnv(ApiConfig, env)).toThrow(/PORT[\s\S]*REDIS_URL|REDIS_URL[\s\S]*PORT/)
  for (const name of Object.keys(env)) expect(() => parseEnv(ApiConfig, env)).toThrow(name)
})

test('subscription keys are a list, and one that could be guessed is refused without being told', () => {
  const [one, two] = ['a'.repeat(32), `${'b'.repeat(50)}==`]
  expect(parseEnv(ApiConfig, {}).SUBSCRIPTION_KEYS).toEqual([])
  expect(parseEnv(ApiConfig, { SUBSCRIPTION_KEYS: `${one}, ${two}` }).SUBSCRIPTION_KEYS).toEqual([one, two])
  for (const bad of ['c'.repeat(31), `${one},`, `${'d'.repeat(20)} ${'d'.repeat(20)}`, 'é'.repeat(40)]) {
    const parse = () => parseEnv(ApiConfig, { SUBSCRIPTION_KEYS: `${one},${bad}` })
    expect(parse).toThrow(/SUBSCRIPTION_KEYS: must be keys of at least 32/)
    expect(parse).not.toThrow(one)
  }
})
