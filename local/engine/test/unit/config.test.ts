import { totalmem } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isPassword } from '../../access/password.js'
import type { User } from '../../access/users.js'
import { readConfig } from '../../config.js'

test('flags and variables become a configuration', () => {
  const env = { CLICKHOUSE_PASSWORD: 'x', CLICKHOUSE_MAX_CONCURRENT_QUERIES: '7' }
  expect(readConfig(['--data', 'd', '--port', '0', '--query-log-days', '3'], env)).toMatchObject({
    dataDirectory: 'd',
    port: 0,
    users: [{ name: 'default', access: 'own', readonly: 0 }],
    maxConcurrentQueries: 7,
    queryLogDays: 3,
    backupDirectory: join('d', 'backups'),
    maxServerMemory: expect.any(Number),
  })
})

test('the memory limit is a share of the available memory, or the configured one', () => {
  const memoryWith = (env: NodeJS.ProcessEnv) =>
    readConfig(['--data', 'd'], { CLICKHOUSE_PASSWORD: 'x', ...env }).maxServerMemory
  expect(memoryWith({})).toBeGreaterThan(0)
  expect(memoryWith({})).toBeLessThan(totalmem())
  expect(memoryWith({ CLICKHOUSE_MAX_SERVER_MEMORY_MB: '', CLICKHOUSE_MAX_CONCURRENT_QUERIES: '' })).toBe(
    memoryWith({}),
  )
  expect(memoryWith({ CLICKHOUSE_MAX_SERVER_MEMORY_MB: '700' })).toBe(700 * 1024 * 1024)
  expect(() => memoryWith({ CLICKHOUSE_MAX_SERVER_MEMORY_MB: '0' })).toThrow('CLICKHOUSE_MAX_SERVER_MEMORY_MB')
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

test('an empty password must be explicitly allowed', () => {
  expect(() => readConfig(['--data', 'd'], { CLICKHOUSE_PASSWORD: '' })).toThrow('CLICKHOUSE_PASSWORD')
  // As in a copied .env file, where what is not set is empty.
  const unset = { CLICKHOUSE_PASSWORD: 'x', CLICKHOUSE_ALLOW_EMPTY_PASSWORD: '' }
  expect(readConfig(['--data', 'd'], unset).users).toHaveLength(1)
  const { users } = readConfig(['--data', 'd'], { CLICKHOUSE_ALLOW_EMPTY_PASSWORD: '1' })
  expect(isPassword('', users[0] as User)).toBe(true)
})
