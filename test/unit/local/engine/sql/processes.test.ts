import { expect, test } from 'vitest'
import { replaceProcesses } from '../../../../../local/engine/sql/processes.js'

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
])('%s reads what runs as clients know it', (sql, expected) => {
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
])('%s is left as it is', (sql) => {
  expect(replaced(sql)).toBe(sql)
})
