import { expect, test } from 'vitest'
import { FAMILIES } from '../../../../clickhouse/chain/batches.js'
import { parseRequest } from '../../../../ingest/backfill/request.js'

const parse = (...args: string[]) => parseRequest(args, FAMILIES)

test('a backfill is of all blocks and families, unless it is told otherwise', () => {
  expect(parse()).toEqual({
    ...{ from: 1, to: Number.MAX_SAFE_INTEGER, stables: [], newestFirst: false },
    families: ['logs', 'pegs', 'state', 'transfers'],
  })
  expect(parse('--from', '5', '--to', '9', '--only', 'logs')).toMatchObject({ from: 5, to: 9, families: ['logs'] })
  expect(() => parse('--from', '9', '--to', '5')).toThrow(/--to/)
})

test('blocks are read again from and to what was given, and with no other flag', () => {
  expect(parse('--again')).toEqual({ again: { from: null, to: null } })
  expect(parse('--again', '--from', '7', '--to', '7')).toEqual({ again: { from: 7, to: 7 } })
  for (const others of [['--only', 'logs'], ['--newest-first'], ['--stables', `0x${'20'.repeat(20)}`]])
    expect(() => parse('--again', ...others)).toThrow(/--again/)
})
