import { expect, test } from 'vitest'
import { Canonical } from '../../../sql/canonical.js'

test('the names of all settings are found, at any depth and after any value', () => {
  for (const [sql, names] of [
    [
      "SELECT 1 SETTINGS a = 1, `b c` = 'x, y = 2', d = [1, 2], e = DEFAULT FORMAT JSON SETTINGS f = true",
      ['a', 'b c', 'd', 'e', 'f'],
    ],
    ['SELECT * FROM (SELECT 1 SETTINGS a = -1) WHERE b = 2', ['a']],
    ['INSERT INTO t SETTINGS a = 1, b = 2 SELECT c = 3 SETTINGS b = 2', ['a', 'b', 'b']],
    ['SET a = 1, b = {p:UInt8}', ['a', 'b']],
    ['CREATE TABLE t (`a` String SETTINGS (x = 1)) ENGINE = MergeTree ORDER BY a SETTINGS y = 1', ['x', 'y']],
    ['ALTER TABLE t (MODIFY SETTING x = 1, y = 2)', ['x', 'y']],
    ['SELECT settings = 1, a AS SETTINGS FROM t', []],
  ] as const) {
    expect(new Canonical(sql).settings(), sql).toEqual(names)
  }
})
