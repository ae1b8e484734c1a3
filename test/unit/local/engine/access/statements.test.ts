import { expect, test } from 'vitest'
import { assertMayRun } from '../../../../../local/engine/access/statements.js'
import { owner } from '../../../../../local/engine/access/users.js'

const full = owner('full', { password_sha256_hex: '', password_salt: '' })
const bounded = { ...full, name: 'bounded', databases: ['a'] }
const reader = { ...full, name: 'reader', access: 'read' as const }

test('statements that grants do not cover are refused in any spelling, except to owners of every database', () => {
  for (const sql of [
    'backup TABLE a.t TO Memory(1)',
    '/* */ RESTORE TABLE a.t FROM Memory(1)',
    'create or replace view a.v AS SELECT 1',
    'CREATE MATERIALIZED VIEW a.v ENGINE = Memory AS SELECT 1',
    'CREATE TEMPORARY VIEW v AS SELECT 1',
    'ATTACH VIEW a.v AS SELECT 1',
    'ALTER TABLE a.v MODIFY QUERY SELECT 1',
    'ALTER TABLE a.v MODIFY/**/sql SECURITY DEFINER',
    'explain query tree SELECT 1',
    'SELECT * FROM (EXPLAIN SYNTAX SELECT 1)',
    'SELECT * FROM "viewExplain"(1)',
  ]) {
    expect(() => assertMayRun(bounded, sql), sql).toThrow('bounded: Not enough privileges')
    expect(() => assertMayRun(full, sql), sql).not.toThrow()
  }
  for (const user of [bounded, reader]) {
    for (const engine of ['= Buffer(a, t)', 'Alias(a, t)', '= `Merge`(a, t)', "= Dictionary('a.d')"]) {
      const sql = `CREATE TEMPORARY TABLE t (a UInt8) ENGINE ${engine}`
      expect(() => assertMayRun(user, sql), sql).toThrow('ACCESS_DENIED')
      expect(() => assertMayRun(full, sql), sql).not.toThrow()
    }
    expect(() =>
      assertMayRun(user, 'CREATE TABLE a.merge (buffer UInt8) ENGINE = MergeTree ORDER BY buffer'),
    ).not.toThrow()
  }
  expect(() => assertMayRun(reader, 'RESTORE TABLE a.t FROM Memory(1)')).toThrow('ACCESS_DENIED')
  expect(() => assertMayRun(reader, 'EXPLAIN QUERY TREE SELECT 1')).not.toThrow()
})

test('tables and columns can have such names', () => {
  for (const sql of [
    'CREATE TABLE a.view (view String, query String) ENGINE = Memory',
    'ALTER TABLE a.backup MODIFY COLUMN query String',
    "SELECT 'EXPLAIN QUERY TREE', `query`, view FROM a.restore",
    'EXPLAIN SELECT 1',
  ]) {
    expect(() => assertMayRun(bounded, sql), sql).not.toThrow()
  }
})
