import { expect, test } from 'vitest'
import { excerptOf } from '../../../../../jobs/webhooks/send/exchange.js'

test('text is kept as it is', () => {
  expect(excerptOf(Buffer.from(' {"ok":true, "name":"Bücher 数 😀"}\n'))).toBe('{"ok":true, "name":"Bücher 数 😀"}')
  expect(excerptOf(Buffer.alloc(0))).toBe('')
})

test('at most 1 KiB is kept, and no partial character', () => {
  expect(excerptOf(Buffer.from('a'.repeat(1025)))).toBe('a'.repeat(1024))
  expect(excerptOf(Buffer.from(`${'a'.repeat(1022)}€ and more`))).toBe('a'.repeat(1022))
  expect(excerptOf(Buffer.from(`${'a'.repeat(1021)}€ and more`))).toBe(`${'a'.repeat(1021)}€`)
  expect(Buffer.byteLength(excerptOf(Buffer.alloc(5000, 0xff)))).toBeLessThanOrEqual(1024)
})

test('characters that control a terminal, a line or the writing direction are removed', () => {
  const hostile = 'a\u001b[31mb\r\nc\u0000d\u202ee\u2028f\u0085g\ufeffh\u2066i'
  expect(excerptOf(Buffer.from(hostile))).toMatch(/^[a-i 31m[]+$/)
  expect(excerptOf(Buffer.from([0x61, 0xff, 0xfe, 0x62]))).toBe('a??b')
})
