import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseRequest } from '../../../../tools/backtest/request.js'

const NOW = new Date('2026-07-01T12:00:00.500Z')
const seconds = (iso: string): number => Date.parse(iso) / 1000

function file(content: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'backtest-')), 'file')
  writeFileSync(path, content)
  return path
}

const parse = (args: string[], env = {}) => parseRequest(args, env, NOW)

test('without flags it compares the published tracks each with one that is harder to deceive, over a week', () => {
  const request = parse([])
  if (request?.kind !== 'pegs') throw new Error('not about pegs')
  expect(request.range).toEqual({ from: seconds('2026-06-24T12:00:00Z'), to: seconds('2026-07-01T12:00:00Z') })
  expect(request.detectors.map(({ name }) => name)).toEqual(['mild', 'severe', 'mild-agreed', 'severe-agreed'])
  expect(request.detectors[0]).toMatchObject({ size_tokens: 1, enter_bps: 10, exit_bps: 10, min_seconds: 300 })
  expect(request.detectors[1]).toMatchObject({ size_tokens: 1, enter_bps: 50, exit_bps: 50, min_seconds: 60 })
  expect(request).toMatchObject({ stables: null, labels: null, format: 'table' })
  expect(parse(['--help'])).toBeNull()
})

test('every bad flag and variable is named at once', () => {
  const args = ['--from', '1h', '--to', '2026-02-31', '--stable', '0x1', '--labels', '/nowhere', '--format', 'xml']
  const detectors = file('{')
  for (const name of ['--to', '--stable', '--labels', '--format', '--detectors', 'CLICKHOUSE_URL'])
    expect(() => parse([...args, '--detectors', detectors], { CLICKHOUSE_URL: 'nowhere' })).toThrow(
      new RegExp(`^  ${name}[.:]`, 'm'),
    )
  expect(() => parse(['--from', '1h', '--to', '2h'])).toThrow(/--from: must be before --to/)
})

test.each([
  [{ name: 'x', enter_bps: 10, exit_bps: 11, min_seconds: 0 }, /exit_bps: must not be above enter_bps/],
  [{ name: 'x', enter_bps: -1, min_seconds: 0 }, /enter_bps/],
  [{ name: 'x', enter_bps: 10, min_seconds: 0, size_tokens: 5 }, /size_tokens/],
  [{ name: 'x', enter_bps: 10, min_seconds: 0, tau: 5 }, /tau/],
  [{ name: 'a b', enter_bps: 10, min_seconds: 0 }, /name/],
])('a detector that cannot be is refused: %j', (detector, message) => {
  expect(() => parse(['--detectors', file(JSON.stringify([detector]))])).toThrow(message)
})

test('with --flows it compares the two rules that are announced with z alone and q', () => {
  const request = parse(['--flows'])
  if (request?.kind !== 'flows') throw new Error('not about flows')
  expect(request.detectors.map(({ name, limit }) => [name, limit])).toEqual([
    ['z', 3],
    ['z_score', 3],
    ['robust', 3],
    ['q_value', 0.01],
  ])
  expect(request).toMatchObject({ stables: null, labels: null, format: 'table' })
  const row = '0x20c0000000000000000000000000000000000001,0x20c0000000000000000000000000000000000002,900,1800,5'
  const labels = file(`from_token,to_token,from,to,multiple\n${row}\n`)
  expect(parse(['--flows', '--labels', labels])?.labels).toMatchObject([{ from: 900, multiple: 5 }])
  // Those of the other kind are refused.
  expect(() => parse(['--labels', labels])).toThrow(/labels, line 2/)
})

test.each([
  [{ name: 'x', measure: 'z_score', limit: 3.5 }, /limit: must be a whole number from 1 to 255/],
  [{ name: 'x', measure: 'anomaly', limit: 256 }, /limit: must be a whole number from 1 to 255/],
  [{ name: 'x', measure: 'q_value', limit: 2 }, /limit: must be at most 1/],
  [{ name: 'x', measure: 'robust_z', limit: 0 }, /limit/],
  [{ name: 'x', measure: 'p_value', limit: 1 }, /measure/],
  [{ name: 'x', measure: 'q_value', limit: 0.1, min_windows: 0 }, /min_windows/],
  [{ name: 'x', enter_bps: 10, min_seconds: 0 }, /measure/],
])('a detector of flows that cannot be is refused: %j', (detector, message) => {
  expect(() => parse(['--flows', '--detectors', file(JSON.stringify([detector]))])).toThrow(message)
})

test('two detectors of one name, or none, are refused', () => {
  const one = { name: 'x', enter_bps: 10, min_seconds: 0 }
  expect(() => parse(['--detectors', file(JSON.stringify([one, one]))])).toThrow(/names must differ/)
  expect(() => parse(['--detectors', file('[]')])).toThrow(/at least one/)
})
