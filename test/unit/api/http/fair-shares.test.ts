import { expect, test } from 'vitest'
import { createFairShares } from '../../../../api/http/fair-shares.js'

function setup() {
  const clock = { now: 0 }
  const shares = createFairShares(() => clock.now)
  const add = (caller: string, times: number): void => {
    for (let i = 0; i < times; i++) shares.add(caller)
  }
  return { clock, shares, add }
}

test('a caller with more than its share is large, the others are not', () => {
  const { shares, add } = setup()
  add('big', 1000)
  for (let i = 0; i < 50; i++) add(`small ${i}`, 3)
  expect(shares.isLarge('big')).toBe(true)
  expect(shares.isLarge('small 7')).toBe(false)
  expect(shares.isLarge('new')).toBe(false)
})

test('a caller alone and callers who ask equally much are all large, so that overload can end', () => {
  const { shares, add } = setup()
  add('one', 10)
  expect(shares.isLarge('one')).toBe(true)
  add('other', 10)
  expect(['one', 'other'].map(shares.isLarge)).toEqual([true, true])
})

test('requests count for five to ten seconds', () => {
  const { clock, shares, add } = setup()
  add('big', 100)
  add('small', 1)
  clock.now = 5000
  add('small', 1)
  expect(['big', 'small'].map(shares.isLarge)).toEqual([true, false])
  clock.now = 10_000
  add('small', 1)
  expect(['big', 'small'].map(shares.isLarge)).toEqual([false, true])
  clock.now = 60_000
  expect(['big', 'small'].map(shares.isLarge)).toEqual([false, false])
})

test('in a lasting overload small callers get all that they ask for, and the greedy one a part', () => {
  const { clock, shares } = setup()
  const demands = { greedy: 100, modest: 15, tiny: 2 }
  const admitted = { greedy: 0, modest: 0, tiny: 0 }
  let running = 0
  const ticks = 300
  for (let tick = 0; tick < ticks; tick++) {
    clock.now += 100
    const isOverloaded = running > 40
    running = 0
    for (const caller of ['greedy', 'modest', 'tiny'] as const)
      for (let i = 0; i < demands[caller]; i++) {
        if (isOverloaded && shares.isLarge(caller)) continue
        shares.add(caller)
        admitted[caller] += 1
        running += 1
      }
  }
  expect(admitted.tiny).toBe(demands.tiny * ticks)
  expect(admitted.modest).toBe(demands.modest * ticks)
  expect(admitted.greedy).toBeLessThan(demands.greedy * ticks * 0.6)
})
