import { expect, test } from 'vitest'
import { logsBloom } from '../../../../ingest/sources/logs.js'

test('no logs set no bit', () => {
  expect(logsBloom([])).toBe(`0x${'0'.repeat(512)}`)
})

test('an item sets three bits of its keccak digest', () => {
  // Yellow paper 4.3.1: the low 11 bits of the first three pairs of bytes of the item's keccak-256.
  // keccak256 of 32 zero bytes, a digest known from every Solidity storage layout, begins 290d ecd9 548b.
  const zero = `0x${'0'.repeat(64)}`
  const filter = BigInt(logsBloom([{ address: zero, topics: [] }]))
  const bits = [0x290d & 2047, 0xecd9 & 2047, 0x548b & 2047]
  expect(filter).toBe(bits.reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n))
})

test('a missing log is detected unless other logs set the same bits', () => {
  const log = (topic: string) => ({ address: `0x${'1'.repeat(40)}`, topics: [`0x${topic.repeat(64)}`] })
  const whole = logsBloom([log('1'), log('2'), log('2')])
  expect(logsBloom([log('1')])).not.toBe(whole)
  expect(logsBloom([log('1'), log('2')])).toBe(whole)
})
