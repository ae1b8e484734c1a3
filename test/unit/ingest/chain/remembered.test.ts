import { expect, test } from 'vitest'
import { remembered } from '../../../../ingest/chain/remembered.js'

test('a text has the value that the function gives it, however many others were read meanwhile', () => {
  let reads = 0
  const lengthOf = remembered((text) => {
    reads++
    return text.endsWith('7') ? undefined : { length: text.length, text }
  })
  const first = lengthOf('0')
  expect(lengthOf('0')).toBe(first)
  expect(reads).toBe(1)
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 60_000; n++) {
      const text = `${n}`
      const expected = text.endsWith('7') ? undefined : { length: text.length, text }
      if (JSON.stringify(lengthOf(text)) !== JSON.stringify(expected)) expect(lengthOf(text)).toEqual(expected)
    }
  }
  expect(lengthOf('0')).toEqual(first)
})
