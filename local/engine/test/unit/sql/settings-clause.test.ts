import { expect, test } from 'vitest'
import { settingsClause } from '../../../sql/settings-clause.js'

test.each([
  [
    "SELECT 1 SETTINGS max_threads = 2, log_comment='it''s, why' FORMAT JSON",
    { max_threads: '2', log_comment: "it's, why" },
  ],
  ['SELECT 1 FORMAT JSON SETTINGS log_queries=0', { log_queries: '0' }],
  ['INSERT INTO t (a, b) SETTINGS async_insert = 1 FORMAT CSV', { async_insert: '1' }],
  ['INSERT INTO t SETTINGS a = 1, b = -2 VALUES', { a: '1', b: '-2' }],
  [
    "SELECT 1 SETTINGS additional_table_filters = {'t': 'a = 1, b'}, x = true",
    { additional_table_filters: "{'t': 'a = 1, b'}", x: 'true' },
  ],
])('%s sets %o', (sql, expected) => {
  expect(settingsClause(sql)).toEqual(expected)
})

test.each([
  'SELECT * FROM (SELECT 1 SETTINGS log_queries = 0)',
  "SELECT 'SETTINGS log_queries = 0'",
  'SELECT 1 -- SETTINGS log_queries = 0',
  'SELECT settings FROM t',
  'SELECT 1 SETTINGS',
  'SELECT 1 SETTINGS log_queries',
  'SELECT 1 SETTINGS log_queries =',
])('%s sets nothing', (sql) => {
  expect(settingsClause(sql)).toEqual({})
})
