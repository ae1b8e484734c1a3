import { expect, test } from 'vitest'
import { checkFlowLabels, parseFlowLabels } from '../../../../tools/backtest/flow-labels.js'

const A = `0x20c1${'0'.repeat(35)}a`
const B = `0x20c1${'0'.repeat(35)}b`
const parse = (...rows: string[]) => parseFlowLabels(['from_token,to_token,from,to,multiple', ...rows].join('\n'))

test('labels of flows have an edge, a time and a multiple of the usual volume, in order of edge and time', () => {
  expect(
    parse(`${B},${A},1970-01-01T00:15:00Z,1800,0`, `${A.toUpperCase().replace('X', 'x')},${B},1800,2700,12.5`),
  ).toEqual([
    { from_token: A, to_token: B, from: 1800, to: 2700, multiple: 12.5, line: 3 },
    { from_token: B, to_token: A, from: 900, to: 1800, multiple: 0, line: 2 },
  ])
})

test('every line at fault is named', () => {
  const rows = [`0x1,${B},100,200,10`, `${A},${B},200,100,10`, `${A},${B},yesterday,200,-1`, `${A},${B},100,200,1`]
  for (const message of [
    /line 2: from_token must be 0x/,
    /line 3: to must be later than from/,
    /line 4: from must be an ISO 8601/,
    /line 4: multiple must be a number/,
    /line 5: multiple must not be 1/,
  ])
    expect(() => parse(...rows)).toThrow(message)
})

test('labels of one edge that overlap are an error that names both lines; those that touch are not', () => {
  const rows = [`${A},${B},100,500,10`, `${A},${B},500,600,10`, `${B},${A},100,500,10`]
  expect(parse(...rows)).toHaveLength(3)
  expect(() => parse(...rows, `${A},${B},550,560,0`)).toThrow(/line 5: overlaps line 3 on the same edge/)
  // One that lies within an earlier one does not hide what that one overlaps.
  expect(() => parse(`${A},${B},100,900,10`, `${A},${B},200,300,10`, `${A},${B},400,500,10`)).toThrow(
    /line 3: overlaps line 2.*\n.*line 4: overlaps line 2/,
  )
})

test('labels outside the range, or of an edge without a flow, are errors that name the line', () => {
  const labels = parse(`${A},${B},1800,3600,10`, `${A},${B},0,100,10`, `${A},${B},3600,3700,0`, `${B},${A},2000,3000,0`)
  const check = () => checkFlowLabels(labels, { from: 1800, to: 3600 }, [{ from_token: A, to_token: B }])
  expect(check).toThrow(/line 3: is not within the range, 1970-01-01T00:30:00Z to 1970-01-01T01:00:00Z/)
  expect(check).toThrow(/line 4: is not within the range/)
  expect(check).toThrow(/line 5: no flow of this edge is stored before the end of the range/)
  expect(check).not.toThrow(/line 2/)
})
