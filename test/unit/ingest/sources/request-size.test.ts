import { describe, expect, test } from 'vitest'
import { createRequestSize, type RequestSize } from '../../../../ingest/sources/request-size.js'

const sizeOf = (options = {}): RequestSize =>
  createRequestSize({ first: 1000, most: 100_000, mostResults: 500, ...options })

/** Asks a node that gives at most so many, so many times; returns the sizes that failed and those that were answered. */
function ask(size: RequestSize, times: number, most: number, offers = false) {
  const [failed, answered]: [number[], number[]] = [[], []]
  for (let i = 0; i < times; i++) {
    const asked = size.next()
    if (asked > most) {
      failed.push(asked)
      size.failed(asked, 0, offers ? most : null)
    } else {
      answered.push(asked)
      size.answered(asked, 0, 0, 1)
    }
  }
  return { failed, answered }
}

describe('how much is asked for at once', () => {
  test('grows twofold while a node gives it, up to a limit', () => {
    expect(ask(sizeOf(), 9, Number.POSITIVE_INFINITY).answered).toEqual([
      1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000, 100_000,
    ])
  })

  test('is halved after two failures, and after each that follows at once', () => {
    expect(ask(sizeOf(), 6, 130)).toEqual({ failed: [1000, 1000, 500, 250], answered: [125, 125] })
  })

  test('is at once what a node offers', () => {
    const { failed, answered } = ask(sizeOf(), 5, 337, true)
    expect(failed).toEqual([1000])
    expect(answered).toEqual(Array(4).fill(337))
  })

  test('is not believed to be what a node offers if that fails too', () => {
    const size = sizeOf()
    size.failed(1000, 0, 900)
    expect(size.next()).toBe(900)
    size.failed(900, 0, 900)
    expect(size.next()).toBe(450)
  })

  test('does not change where single requests fail once', () => {
    const size = sizeOf()
    for (const at of [0, 1000, 2000]) {
      expect(size.failed(1000, at, null)).toBe(false)
      size.answered(1000, at, 300, 1)
      expect(size.failed(1000, at, null)).toBe(false)
    }
    expect(size.next()).toBe(1000)
  })

  test('is halved for a request that fails twice while others are answered', () => {
    const size = sizeOf()
    size.failed(1000, 0, null)
    size.answered(1000, 1000, 300, 1)
    expect(size.failed(1000, 0, null)).toBe(true)
    expect(size.next()).toBe(500)
  })

  test('is close to what a node gives, and seldom more', () => {
    const size = sizeOf()
    ask(size, 20, 777)
    const later = ask(size, 2000, 777)
    expect(later.failed.length).toBeLessThan(12)
    expect(Math.min(...later.answered.slice(20))).toBeGreaterThan(777 / 1.5)
  })

  test('grows again where a node gives more than before', () => {
    const size = sizeOf()
    ask(size, 20, 10)
    expect(ask(size, 400, Number.POSITIVE_INFINITY).answered.at(-1)).toBe(100_000)
  })

  test('falls where answers have many results, before a node refuses', () => {
    const size = sizeOf()
    size.answered(1000, 0, 2000, 1)
    expect(size.next()).toBe(250)
    // Twice as many would be too many.
    size.answered(250, 0, 300, 1)
    expect(size.next()).toBe(250)
    size.answered(250, 0, 200, 1)
    expect(size.next()).toBe(500)
  })

  test('does not grow where an answer took long', () => {
    const size = sizeOf()
    size.answered(1000, 0, 0, 5000)
    expect(size.next()).toBe(1000)
  })

  test('halves once for requests that were under way together, and grows once', () => {
    const size = sizeOf()
    for (let i = 0; i < 32; i++) size.failed(1000, i % 16, null)
    expect(size.next()).toBe(500)
    for (let i = 0; i < 16; i++) size.answered(250, 0, 0, 1)
    expect(size.next()).toBe(500)
  })

  test('is never less than one', () => {
    const size = sizeOf({ first: 2 })
    size.failed(2, 0, 0)
    size.failed(2, 0, 0)
    expect(size.next()).toBe(1)
    expect(size.failed(1, 0, null)).toBe(false)
    size.answered(1, 0, 10_000, 1)
    expect(size.next()).toBe(1)
  })
})
