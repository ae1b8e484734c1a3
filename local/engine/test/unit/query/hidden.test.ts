import { expect, test } from 'vitest'
import { hideLiterals, hideReason } from '../../../query/hidden.js'

test.each([
  "SELECT encrypt('aes', 'text', 'hush')",
  'SELECT f($$hush$$, $a$hush$a$)',
  "SELECT f(x'hush', 1) /* hush */ -- hush",
  "SELECT f('it''s hush', 'a\\'hush')",
  "SELECT f('hush",
  'ALTER USER u IDENTIFIED BY ‘hush’',
])('literals and comments are removed from %s', (sql) => {
  expect(hideLiterals(sql)).not.toContain('hush')
})

test('text other than literals is kept', () => {
  const sql = "SELECT  encrypt('aes', toString(a.b), 'key')\nFROM t WHERE n=12"
  expect(hideLiterals(sql)).toBe("SELECT encrypt('[HIDDEN]', toString(a.b), '[HIDDEN]') FROM t WHERE n='[HIDDEN]'")
})

test.each([
  [
    "Code: 36. DB::Exception: Invalid key 'hush': In scope SELECT 'hush'. (BAD_ARGUMENTS)",
    'Code: 36. DB::Exception: [HIDDEN]. (BAD_ARGUMENTS)',
  ],
  ['Code: 62. DB::Exception: Syntax error\nhush\n(SYNTAX_ERROR)', 'Code: 62. DB::Exception: [HIDDEN].'],
  ['Code: 36. DB::Exception: (HUSH) hush (BAD_ARGUMENTS)', 'Code: 36. DB::Exception: [HIDDEN]. (BAD_ARGUMENTS)'],
])('an error keeps its code and name: %s', (message, expected) => {
  expect(hideReason(message)).toBe(expected)
})
