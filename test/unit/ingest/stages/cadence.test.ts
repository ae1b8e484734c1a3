import { describe, expect, test } from 'vitest'
import { isDepthDue, isStateDue } from '../../../../ingest/stages/states.js'

const NOON = Date.UTC(2026, 10, 21, 12) / 1000

/** Seconds after noon of those blocks of a chain that are due. */
function dueOf(isDue: typeof isStateDue, seconds: readonly number[]): number[] {
  const blocks = seconds.map((second, i) => ({ time: NOON + second, parentTime: NOON + (seconds[i - 1] ?? -1) }))
  return blocks.flatMap((block, i) => (isDue(block) ? [seconds[i] as number] : []))
}
const every = (step: number, count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, i) => from + i * step)

describe('states are read at the first block of each aligned five minutes', () => {
  test('whatever the block time', () => {
    expect(dueOf(isStateDue, every(7, 100))).toEqual([0, 301, 602])
    expect(dueOf(isStateDue, every(60, 11))).toEqual([0, 300, 600])
    expect(dueOf(isStateDue, every(700, 3))).toEqual([0, 700, 1400])
  })

  test('once if several blocks have the same second', () => {
    expect(dueOf(isStateDue, [0, 299, 300, 300, 300, 301])).toEqual([0, 300])
  })
})

describe('depth is sampled', () => {
  test('at the first block of each aligned minute if blocks are less than a minute apart', () => {
    expect(dueOf(isDepthDue, every(1, 130))).toEqual([0, 60, 120])
    expect(dueOf(isDepthDue, every(59, 5))).toEqual([0, 118, 177, 236])
  })

  test('at the first block of each aligned five minutes if blocks are a minute or more apart', () => {
    expect(dueOf(isDepthDue, every(60, 11))).toEqual([0, 300, 600])
    expect(dueOf(isDepthDue, every(90, 8))).toEqual([0, 360, 630])
  })

  test('at the next aligned minute after a fast chain has stalled for a minute', () => {
    expect(dueOf(isDepthDue, [0, 1, 2, 95, 96, 119, 121, 122])).toEqual([0, 121])
  })
})
