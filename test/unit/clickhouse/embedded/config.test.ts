import { expect, test } from 'vitest'
import { readConfig } from '../../../../clickhouse/embedded/config.js'

test('flags and variables become a configuration', () => {
  const env = { CLICKHOUSE_PASSWORD: 'x', CLICKHOUSE_MAX_CONCURRENT_QUERIES: '7' }
  expect(readConfig(['--data', 'd', '--port', '0'], env)).toEqual({
    dataDirectory: 'd',
    port: 0,
    credentials: { user: 'default', password: 'x' },
    maxConcurrentQueries: 7,
  })
})

test('everything that is wrong is named at once', () => {
  const env = { CLICKHOUSE_USER: '', CLICKHOUSE_MAX_CONCURRENT_QUERIES: 'many' }
  const read = () => readConfig(['--port', '70000'], env)
  for (const name of [
    '--data',
    '--port',
    'CLICKHOUSE_USER',
    'CLICKHOUSE_MAX_CONCURRENT_QUERIES',
    'CLICKHOUSE_PASSWORD',
  ]) {
    expect(read).toThrow(name)
  }
})

test('an unknown flag is an error', () => {
  expect(() => readConfig(['--data', 'd', '--prot', '1'], { CLICKHOUSE_PASSWORD: 'x' })).toThrow('--prot')
})

test('no password has to be asked for', () => {
  expect(() => readConfig(['--data', 'd'], { CLICKHOUSE_PASSWORD: '' })).toThrow('CLICKHOUSE_PASSWORD')
  const config = readConfig(['--data', 'd'], { CLICKHOUSE_ALLOW_EMPTY_PASSWORD: '1' })
  expect(config.credentials.password).toBe('')
})
