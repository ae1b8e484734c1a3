import { ClickHouseError } from '@clickhouse/client'
import { expect, test } from 'vitest'
import { QueryError } from '../../../../clickhouse/store/query-error.js'

const failed = (code: number) => new QueryError('read', new ClickHouseError({ code: `${code}`, message: 'no' }))

test('an error of Keeper, a replica, a disk or the load passes; one of the request stays, and says what to do', () => {
  const passing = [159, 202, 209, 210, 225, 236, 241, 242, 243, 252, 279, 285, 286, 289, 319, 341, 364, 394, 425, 999]
  expect(passing.filter((code) => !failed(code).retryable)).toEqual([])
  expect(new QueryError('read', new Error('connect ECONNREFUSED')).retryable).toBe(true)
  const staying = [16, 47, 60, 62, 81, 164, 349, 497, 516]
  expect(staying.filter((code) => failed(code).retryable)).toEqual([])
  expect(failed(516).message).toBe('read: no; check CLICKHOUSE_USER and CLICKHOUSE_PASSWORD')
  expect(failed(246).message).toMatch(/damaged.*restart ClickHouse/)
  expect(failed(62).message).toBe('read: no')
})
