import { buffer } from 'node:stream/consumers'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import { connect } from '../../../../clickhouse/store/client.js'
import { decodeRows } from '../../../../clickhouse/store/decode.js'
import { defineExport } from '../../../../clickhouse/store/export.js'
import { test as base } from '../../../support/services.js'

const rows = defineExport({
  name: 'rows_to_decode',
  params: z.object({ count: z.int() }),
  sql: `
    SELECT toUInt64(18446744073709551615 - number) AS wide, '1.500000' AS amount,
           if(number = 0, NULL, 'a, "b"\n\\\\N') AS text, ['x', 'y'] AS list
    FROM numbers({count: UInt32})`,
})

const test = base.extend<{ reader: ReturnType<typeof connect> }>({
  reader: async ({ clickhouseEnv }, use) => {
    const reader = connect(clickhouseEnv, { application: 'test', sendsLargeParameters: true })
    await use(reader)
    await reader.close()
  },
})

const FORMATS = ['csv', 'parquet', 'arrow'] as const
const { signal } = new AbortController()

describe.each(FORMATS)('an export as %s', (format) => {
  test('is read back to the last digit, however long it is', async ({ clickhouse, reader }) => {
    const bytes = await buffer(await rows(clickhouse, { count: 2000 }, { format, signal }))
    const decoded = await decodeRows(reader, { format, bytes })
    expect(decoded).toHaveLength(2000)
    const list = format === 'csv' ? "['x','y']" : ['x', 'y']
    expect(decoded.slice(0, 2)).toEqual([
      { wide: '18446744073709551615', amount: '1.500000', text: null, list },
      { wide: '18446744073709551614', amount: '1.500000', text: 'a, "b"\n\\N', list },
    ])
  })

  test('has no rows where it is empty', async ({ clickhouse, reader }) => {
    const bytes = await buffer(await rows(clickhouse, { count: 0 }, { format, signal }))
    expect(await decodeRows(reader, { format, bytes })).toEqual([])
  })

  test('is refused where it is cut off', async ({ clickhouse, reader }) => {
    const bytes = await buffer(await rows(clickhouse, { count: 2000 }, { format, signal }))
    // Of a CSV, only the header can be missing something.
    const cut = format === 'csv' ? Buffer.from('"a","b"\n1\n') : bytes.subarray(0, bytes.length / 2)
    await expect(decodeRows(reader, { format, bytes: cut })).rejects.toThrow(`decode_${format}`)
  })
})
