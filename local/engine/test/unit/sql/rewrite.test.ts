import { expect, test } from 'vitest'
import { ownGrants, replaceProcesses } from '../../../sql/rewrite.js'

const replaced = (sql: string) => replaceProcesses(sql, () => '(…)')

test.each([
  ['SELECT * FROM system.processes', 'SELECT * FROM (…)'],
  ['select 1 from `system` . "processes" as p', 'select 1 from (…) as p'],
  ['SELECT * FROM a JOIN system.processes AS p USING (x)', 'SELECT * FROM a JOIN (…) AS p USING (x)'],
  [
    'SELECT (SELECT count() FROM system.processes), 1 FROM/**/system.processes',
    'SELECT (SELECT count() FROM (…)), 1 FROM/**/(…)',
  ],
  ['SHOW PROCESSLIST FORMAT JSON', 'SELECT * FROM (…) ORDER BY elapsed DESC FORMAT JSON'],
  ['INSERT INTO t SELECT query_id FROM system.processes', 'INSERT INTO t SELECT query_id FROM (…)'],
])('%s shows running queries as clients know them', (sql, expected) => {
  expect(replaced(sql)).toBe(expected)
})

test.each([
  "SELECT 'FROM system.processes'",
  'SELECT 1 -- FROM system.processes',
  'SELECT $$ FROM system.processes $$',
  'SELECT "FROM system.processes" FROM t',
  'SELECT system.processes.query_id FROM system.processes',
  'SELECT * FROM a.system.processes',
  'SELECT * FROM t, system.processes',
  'DESCRIBE TABLE system.processes',
  'CREATE VIEW v AS SELECT * FROM system.processes',
  'SELECT * FROM processes',
])('%s is not changed', (sql) => {
  expect(replaced(sql)).toBe(sql)
})

test('SHOW GRANTS shows a user’s own grants, whatever user it names', () => {
  expect(ownGrants('SHOW GRANTS', undefined, 'user_x')).toBe('SHOW GRANTS FOR `user_x`')
  expect(ownGrants('/**/ show grants FOR other, default WITH IMPLICIT FINAL', 'CSV', 'user_x')).toBe(
    'SHOW GRANTS FOR `user_x` FORMAT CSV',
  )
  for (const sql of ['SHOW TABLES', "SELECT 'SHOW GRANTS'", 'SHOW']) expect(ownGrants(sql, undefined, 'x')).toBe(sql)
})
