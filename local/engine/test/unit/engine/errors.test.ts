import { expect, test } from 'vitest'
import { EngineError, httpStatus, withoutClause } from '../../../engine/errors.js'

test('the code is parsed from the engine’s text', () => {
  const error = EngineError.from(new Error('Query failed: Code: 60. DB::Exception: Unknown table x. (UNKNOWN_TABLE)'))
  expect(error).toMatchObject({ code: 60, message: 'Code: 60. DB::Exception: Unknown table x. (UNKNOWN_TABLE)' })
})

test('an exception nested in itself is shown once', () => {
  const inner = 'Code: 452. DB::Exception: Setting x should not be changed. (SETTING_CONSTRAINT_VIOLATION)'
  const text = `Code: 452. DB::Exception: ${inner} (version 26.7.2.1). (SETTING_CONSTRAINT_VIOLATION)`
  expect(EngineError.from(new Error(text)).message).toBe(inner)
})

test('other failures also get a ClickHouse code', () => {
  expect(EngineError.from(new Error('boom'))).toMatchObject({ code: 1001 })
})

test('a clause that the gateway added is removed from the text', () => {
  const error = new Error("Code: 62. DB::Exception: failed: SELECT  INTO OUTFILE '/x'  FORMAT y. (SYNTAX_ERROR)")
  expect(withoutClause(error, " INTO OUTFILE '/x' ").message).not.toContain('OUTFILE')
})

test('each code has the same status as on a server', () => {
  const statuses = [516, 497, 62, 60, 202, 159, 48, 194].map(httpStatus)
  expect(statuses).toEqual([403, 403, 400, 404, 500, 408, 501, 401])
})
