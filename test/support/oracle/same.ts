import { expect } from 'vitest'

const TOLERANCE = 1e-9

/** `expected` with every number replaced by the corresponding one in `actual` if they are equal to 1e-9. */
function adopted(expected: unknown, actual: unknown): unknown {
  if (typeof expected === 'number' && typeof actual === 'number')
    return Math.abs(expected - actual) <= TOLERANCE * Math.abs(expected) ? actual : expected
  if (Array.isArray(expected))
    return expected.map((item, i) => adopted(item, Array.isArray(actual) ? actual[i] : undefined))
  if (typeof expected === 'object' && expected !== null)
    return Object.fromEntries(
      Object.entries(expected).map(([key, value]) => [key, adopted(value, (actual as Record<string, unknown>)?.[key])]),
    )
  return expected
}

/** Fails unless `actual` equals `expected` in every field, with numbers equal to a relative 1e-9. */
export function expectSame(actual: unknown, expected: unknown, about: string): void {
  expect(actual, about).toEqual(adopted(expected, actual))
}
