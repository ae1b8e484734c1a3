import { expect, test } from 'vitest'
import { parseRequest } from '../../../../tools/size/request.js'

test('every bad flag and variable is named at once', () => {
  const args = [
    '--tx-per-second',
    'many',
    '--stables',
    '0',
    '--block-time',
    '0',
    '--retain',
    '1',
    '--replicas',
    '1.5',
    '--metrics',
    'nowhere',
  ]
  const parse = () => parseRequest([...args, '--days=-1'], { CLICKHOUSE_URL: 'nowhere', METRICS: 'short' })
  for (const name of [
    '--tx-per-second',
    '--stables',
    '--block-time',
    '--retain',
    '--replicas',
    '--metrics',
    '--days',
    'CLICKHOUSE_URL',
    'METRICS',
  ])
    expect(parse).toThrow(new RegExp(`^  ${name}[.:]`, 'm'))
})

test('an unknown flag is refused', () => {
  expect(() => parseRequest(['--tps', '3'], {})).toThrow(/--tps/)
})

test('without flags it looks a year ahead on one replica', () => {
  expect(parseRequest([], {})?.settings).toMatchObject({ '--days': 365, '--replicas': 1, '--metrics': [] })
  expect(parseRequest(['--help'], {})).toBeNull()
})
