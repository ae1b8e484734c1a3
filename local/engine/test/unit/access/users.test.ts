import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { grantsOf } from '../../../access/grants.js'
import { hashPassword } from '../../../access/password.js'
import { isOwner, readUsers } from '../../../access/users.js'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'users-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const hash = hashPassword('x')

function read(content: unknown, mode = 0o600) {
  const path = join(directory, 'users.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  chmodSync(path, mode)
  return readUsers(path)
}

test('by default a user only reads', () => {
  expect(read({ users: [{ name: 'r', password_sha256_hex: hash.password_sha256_hex }] })).toEqual([
    {
      name: 'r',
      password_sha256_hex: hash.password_sha256_hex,
      password_salt: '',
      access: 'read',
      readonly: 0,
      settings: {},
      constraints: {},
    },
  ])
})

test('values of settings become the strings that the engine expects', () => {
  const settings = { max_threads: 2, log_comment: 'x', prefer_localhost_replica: true }
  const [user] = read({ users: [{ name: 'r', ...hash, settings, constraints: { max_threads: { min: 1, max: 4 } } }] })
  expect(user).toMatchObject({
    settings: { max_threads: '2', log_comment: 'x', prefer_localhost_replica: '1' },
    constraints: { max_threads: { min: '1', max: '4' } },
  })
})

test('everything that is wrong is named at once, by its place', () => {
  const wrong = [
    { name: 'a/b', ...hash },
    { name: 'c', password_sha256_hex: 'abc' },
    { name: 'd', ...hash, password: 'plain' },
    { name: 'e', ...hash, access: 'all', readonly: 3, databases: [] },
    { name: 'f', ...hash, databases: ['a`.*; GRANT', 'system'], settings: { profile: 'default', readonly: 0 } },
    { name: 'g', ...hash, quota: { requests: 0 }, constraints: { x: { maximum: 1 } } },
    { name: 'c', ...hash },
  ]
  const attempt = () => read({ users: wrong, more: 1 })
  for (const problem of [
    'more',
    'users.0.name',
    'users.1.password_sha256_hex: must be 64 hex digits',
    'users.2',
    'password',
    'users.3.access',
    'users.3.readonly',
    'users.3.databases',
    'users.4.databases.0',
    'users.4.databases.1: is reserved for the server',
    'users.4.settings.profile: cannot be set here',
    'users.4.settings.readonly',
    'users.5.quota.interval_seconds',
    'users.5.quota.requests',
    'users.5.constraints.x',
  ]) {
    expect(attempt, problem).toThrow(problem)
  }
  expect(() => read({ users: [wrong[6], wrong[6]] })).toThrow('users.1.name: c is listed twice')
})

test('a file that others can read, or that does not exist or is not JSON, is refused without quoting it', () => {
  for (const mode of [0o640, 0o604, 0o620]) expect(() => read({ users: [] }, mode)).toThrow('chmod 600')
  expect(() => readUsers(join(directory, 'none.json'))).toThrow('ENOENT')
  expect(() => read('{"users": [hush')).toThrow(/^users file \S+ is not JSON$/)
})

test('a user of some databases is granted nothing else except their own query log', () => {
  for (const access of ['read', 'write', 'own'] as const) {
    const statements = grantsOf({ access, databases: ['a', 'b'] })
    const scopes = statements.map((statement) => / ON (\S+)$/.exec(statement)?.[1])
    expect(new Set(scopes)).toEqual(new Set(['*.*', 'a.*', 'b.*', 'system.query_log', 'server_log.query_log']))
    const everywhere = statements.filter((statement) => statement.endsWith('*.*'))
    const onDisk = access === 'read' ? [] : ['GRANT CREATE ARBITRARY TEMPORARY TABLE ON *.*']
    expect(everywhere).toEqual(['GRANT CREATE TEMPORARY TABLE, CREATE TEMPORARY VIEW ON *.*', ...onDisk])
    expect(isOwner({ access, databases: ['a'] })).toBe(false)
  }
})

test('no user is granted sources, commands, managing users or shutting down', () => {
  for (const access of ['read', 'write', 'own'] as const) {
    const text = grantsOf({ access }).join('\n')
    expect(text).not.toMatch(
      /\b(ALL|SOURCES|FILE|URL|REMOTE|S3|SHUTDOWN|ACCESS MANAGEMENT|USER|ROLE|GRANT OPTION|SYSTEM,|SYSTEM ON)\b/,
    )
  }
})
