import { expect, test } from 'vitest'
import { labelsOf, plainText } from '../../../dashboard/parts/names.js'

const address = (i: number): string => `0x20c0${String(i).padStart(36, '0')}`
const texts = (...symbols: string[]): (string | undefined)[] => {
  const labels = labelsOf(symbols.map((symbol, i) => ({ address: address(i + 1), symbol })))
  return symbols.map((_, i) => labels.get(address(i + 1))?.text)
}

test('a name is one short line without invisible characters', () => {
  expect(plainText('USD\u202eCNY\u2066\u0000\u200b\n\tx', 20)).toBe('USDCNYx')
  expect(plainText(`a\u{e0041}b\ufe0f\u3164c`, 20)).toBe('abc')
  expect(plainText('  two \u00a0 words  ', 20)).toBe('two words')
  expect(plainText('W'.repeat(5000), 12)).toBe(`${'W'.repeat(11)}…`)
  expect(plainText('😀'.repeat(50), 4)).toBe('😀😀😀…')
  expect(plainText(`Z${'\u0301'.repeat(200)}ap`, 20)).toBe('Z\u0301\u0301ap')
  expect(plainText('\u202e'.repeat(5000), 12)).toBe('')
})

test('stables are told apart by address where their symbols are not', () => {
  expect(texts('USDX', 'USDY')).toEqual(['USDX', 'USDY'])
  expect(texts('USDX', 'USDX', 'USDY')).toEqual(['USDX 0001', 'USDX 0002', 'USDY'])
  // They look the same.
  expect(texts('USDX', 'USD\u200bX', 'usdx', 'ＵＳＤＸ')).toEqual([
    'USDX 0001',
    'USDX 0002',
    'usdx 0003',
    'ＵＳＤＸ 0004',
  ])
  expect(texts('', '\u202e', 'A')).toEqual(['no symbol 0001', 'no symbol 0002', 'A'])
  const long = `${'W'.repeat(20)}1`
  expect(new Set(texts(long, `${'W'.repeat(20)}2`)).size).toBe(2)
})
