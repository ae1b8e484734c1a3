import { expect, test } from 'vitest'
import { figuresOf } from '../../../query/figures.js'

const result = { rowsRead: 1, bytesRead: 8 }
const progress = {
  read_rows: 500,
  read_bytes: 4000,
  written_rows: 0,
  written_bytes: 0,
  total_rows_to_read: 1000,
  elapsed_ns: 1,
  peak_memory: 1,
}

test.each([
  ['{"data": [], "statistics":\n\t{\n"elapsed": 0.007,\n"rows_read": 1000,\n"bytes_read": 8000\n\t}\n}\n', 1000],
  ['{"data":[["1"]],"rows":1,"statistics":{"elapsed":0.1,"rows_read":1000,"bytes_read":8000}}\n', 1000],
  ['{"row":{"a":1}}\n{"progress":{"read_rows":"1000","read_bytes":"8000","elapsed_ns":"1"}}\n', 1000],
  ['"rows_read": 7, "bytes_read": 7}} is what a row says\n', 500],
  ['', 500],
])('the rows that were read are known from %j', (tail, read_rows) => {
  expect(figuresOf(false, result, progress, tail)).toMatchObject({
    read_rows,
    read_bytes: read_rows * 8,
    result_rows: 1,
  })
})

test('the rows that an INSERT wrote are those that it read', () => {
  expect(figuresOf(true, { rowsRead: 3, bytesRead: 24 }, undefined, '')).toEqual({
    read_rows: 3,
    read_bytes: 24,
    written_rows: 3,
    written_bytes: 24,
    result_rows: 3,
    result_bytes: 24,
  })
})
