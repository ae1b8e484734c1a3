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
