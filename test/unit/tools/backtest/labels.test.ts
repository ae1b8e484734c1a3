import { expect, test } from 'vitest'
import { parseLabels } from '../../../../tools/backtest/labels.js'

const A = `0x20c1${'0'.repeat(35)}a`
const B = `0x20c1${'0'.repeat(35)}b`
const at = (iso: string): number => Date.parse(iso) / 1000

test('labels have a stable, a time and a deviation, or none without a quote', () => {
  const csv = `\ufeffstable,from,to,bps\r\n${A.toUpperCase().replace('X', 'x')},2026-01-01T00:00:00Z,1767229200,-12.5\r\n\r\n${B},2026-01-02,2026-01-03,\r\n`
  expect(parseLabels(csv)).toEqual([
    { stable: A, from: at('2026-01-01T00:00:00Z'), to: 1_767_229_200, bps: -12.5 },
    { stable: B, from: at('2026-01-02T00:00:00Z'), to: at('2026-01-03T00:00:00Z'), bps: null },
  ])
})

test('labels of a stable that overlap are one break; those that touch are two', () => {
  const rows = [`${A},100,200,10`, `${B},150,160,5`, `${A},150,300,-40`, `${A},300,310,20`, `${A},305,400,`]
  expect(parseLabels(['stable,from,to,bps', ...rows].join('\n'))).toEqual([
    { stable: A, from: 100, to: 300, bps: -40 },
    { stable: A, from: 300, to: 400, bps: null },
    { stable: B, from: 150, to: 160, bps: 5 },
  ])
})

test('every line at fault is named', () => {
  const rows = ['0x1,100,200,10', `${A},200,100,10`, `${A},yesterday,200,much`, `${A},100,3h,1`]
  const parse = () => parseLabels(['stable,from,to,bps', ...rows].join('\n'))
  expect(parse).toThrow(/line 2: stable must be 0x/)
  expect(parse).toThrow(/line 3: to must be later than from/)
  expect(parse).toThrow(/line 4: from must be an ISO 8601/)
  expect(parse).toThrow(/line 4: bps must be a number/)
  expect(parse).toThrow(/line 5: to must be an ISO 8601/)
})

test.each([
  ['a quote that does not end', 'stable,from,to,bps\n"a,1,2,3'],
  ['a line with too few columns', `stable,from,to,bps\n${A},100,200`],
  ['another header', `address,from,to,bps\n${A},100,200,1`],
])('%s is an error that says so', (_, csv) => {
  expect(() => parseLabels(csv)).toThrow(/labels[:,]/)
})
