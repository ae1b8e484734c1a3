import { expect, test } from 'vitest'
import { ProgressRows, progressJson } from '../../../http/progress-rows.js'

/** Rows whose first has been sent. */
function started(): ProgressRows {
  const rows = new ProgressRows()
  rows.add('0')
  return rows
}

const text = (...chunks: (Buffer | undefined)[]) => chunks.map((chunk) => chunk?.toString() ?? '').join('')

test('a row of progress between lines is sent at once', () => {
  const rows = started()
  expect(text(rows.add('1'), rows.insertInto(Buffer.from('{"row":1}\n')), rows.add('2'))).toBe(
    '{"progress":1}\n{"row":1}\n{"progress":2}\n',
  )
})

test('a row of progress within a line waits for its end, wherever chunks are split', () => {
  const rows = started()
  const sent = [
    rows.insertInto(Buffer.from('{"row":1}\n{"r')),
    rows.add('1'),
    rows.insertInto(Buffer.from('o')),
    rows.add('2'),
  ]
  sent.push(rows.insertInto(Buffer.from('w":2}\n{"row":3}')), rows.add('3'), rows.insertInto(Buffer.from('\n')))
  expect(text(...sent)).toBe('{"row":1}\n{"row":2}\n{"progress":2}\n{"row":3}\n{"progress":3}\n')
})

const progress = {
  read_rows: 2,
  read_bytes: 16,
  written_rows: 0,
  written_bytes: 0,
  total_rows_to_read: 4,
  elapsed_ns: 5,
  peak_memory: 0,
}

test('progress has ClickHouse’s format in headers and in rows', () => {
  expect(progressJson(progress, 'all')).toBe(
    '{"read_rows":"2","read_bytes":"16","written_rows":"0","written_bytes":"0","total_rows_to_read":"4","result_rows":"0","result_bytes":"0","elapsed_ns":"5","memory_usage":"0"}',
  )
  expect(progressJson(progress, 'known')).toBe(
    '{"read_rows":"2","read_bytes":"16","total_rows_to_read":"4","elapsed_ns":"5"}',
  )
})

test('a result begins with a row of progress, also if it is empty', () => {
  const first = /^\{"progress":\{"read_rows":"0",.*\}\}\n$/
  const rows = new ProgressRows()
  const [progress, row] = rows
    .insertInto(Buffer.from('{"row":1}\n'))
    .toString()
    .split(/(?<=\n)/)
  expect(progress).toMatch(first)
  expect(row).toBe('{"row":1}\n')
  expect(rows.rest()).toBeUndefined()
  expect(String(new ProgressRows().rest())).toMatch(first)
  expect(started().rest()).toBeUndefined()
})
