import { expect, test } from 'vitest'
import { Paces } from '../../../../../jobs/webhooks/dispatch/paces.js'

const paced = (random = 0): Paces => new Paces({ maxInFlightOfOne: 8, random: () => random })
/** A refusal of an attempt that took no time. */
const refuse = (paces: Paces, atMs: number, waitMs: number | null): number =>
  paces.refused('a', { startedMs: atMs, waitMs }, atMs)

test('only the refused subscription is paused, until the wait that its receiver requests is over', () => {
  const paces = paced()
  expect(refuse(paces, 1000, 350)).toBe(1350)
  expect([paces.isPaused('a'), paces.isPaused('b')]).toEqual([true, false])
  expect(paces.end(1349)).toBe(false)
  expect(paces.isPaused('a')).toBe(true)
  expect(paces.end(1350)).toBe(true)
  expect(paces.isPaused('a')).toBe(false)
  expect(paces.end(1400)).toBe(false)
})

test('after a pause deliveries are sent one after another, and more at once only while the receiver takes many', () => {
  const paces = paced()
  expect(paces.limitOf('a')).toBe(8)
  refuse(paces, 0, 1000)
  expect([paces.limitOf('a'), paces.limitOf('b')]).toEqual([1, 8])
  const limits = new Set<number>()
  for (let i = 0; i < 1000; i++) {
    paces.taken('a')
    limits.add(paces.limitOf('a'))
  }
  expect([...limits]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  refuse(paces, 2000, 1000)
  expect(paces.limitOf('a')).toBe(1)
})

test('of the refusals that were in flight together, the longest wait counts, and they count as one', () => {
  const paces = paced()
  for (const waitMs of [1000, 9000, 2000]) paces.refused('a', { startedMs: 0, waitMs }, 100)
  expect(paces.pausedUntil('a')).toBe(9100)
  expect(refuse(paces, 9100, null) - 9100).toBe(2000)
})

test('without a requested wait, or if it was too short, the pause doubles until the receiver takes one', () => {
  const waits = (waitMs: number | null): number[] => {
    const paces = paced()
    let at = 0
    return Array.from({ length: 12 }, () => {
      const until = refuse(paces, at, waitMs)
      const waited = until - at
      at = until
      return waited / 1000
    })
  }
  expect(waits(null)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600])
  expect(waits(0)).toEqual([0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600])
  expect(waits(60_000)).toEqual([60, 60, 60, 60, 60, 60, 64, 128, 256, 512, 600, 600])
  const paces = paced()
  for (const at of [0, 10_000, 20_000]) {
    expect(refuse(paces, at, 350) - at).toBe(350)
    paces.taken('a')
  }
})

test('a pause is longer by a random part of at most a tenth, and never shorter', () => {
  expect(refuse(paced(0.5), 0, 20_000)).toBe(21_000)
  expect(refuse(paced(0.999), 0, 86_400_000)).toBeLessThan(86_410_000)
})

test('a pause of another process is continued, and one ends when its subscription is changed', () => {
  const paces = paced()
  paces.resume('a', 5000)
  paces.resume('a', 3000)
  expect([paces.isPaused('a'), paces.pausedUntil('a'), paces.limitOf('a')]).toEqual([true, 5000, 1])
  paces.forget('a')
  expect([paces.isPaused('a'), paces.limitOf('a')]).toEqual([false, 8])
})
