import { expect, test } from 'vitest'
import { ownGrants } from '../../../../../local/engine/sql/show-grants.js'

test('whosever grants are asked for, one’s own are shown', () => {
  expect(ownGrants('SHOW GRANTS', undefined, 'user_x')).toBe('SHOW GRANTS FOR `user_x`')
  expect(ownGrants('/**/ show grants FOR other, default WITH IMPLICIT FINAL', 'CSV', 'user_x')).toBe(
    'SHOW GRANTS FOR `user_x` FORMAT CSV',
  )
  for (const sql of ['SHOW TABLES', "SELECT 'SHOW GRANTS'", 'SHOW']) expect(ownGrants(sql, undefined, 'x')).toBe(sql)
})
