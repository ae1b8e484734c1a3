import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hrefOf, type Place, placeOf, SCALES, SHAPES, SORTS, WINDOWS } from '../../../dashboard/state/place.js'

const address = fc.stringMatching(/^0x[0-9a-f]{40}$/)
const views = fc.oneof(
  fc.constantFrom('board' as const, 'flows', 'events', 'status', 'webhooks').map((view) => ({ view, address: null })),
  address.map((address) => ({ view: 'stable' as const, address })),
)
const rest = fc.record({
  isFramed: fc.boolean(),
  asOf: fc.option(fc.integer({ min: 1, max: 4_000_000_000 })),
  window: fc.constantFrom(...WINDOWS),
  sort: fc.constantFrom(...SORTS),
  pins: fc.uniqueArray(address, { maxLength: 5 }),
  scale: fc.constantFrom(...SCALES),
  shape: fc.option(fc.constantFrom(...SHAPES)),
  search: fc.string({ maxLength: 100 }),
  more: fc.dictionary(fc.stringMatching(/^(?:type|page|tab)$/), fc.string(), { noNullPrototype: true }),
})

const open = (href: string): Place => {
  const { pathname, search } = new URL(href, 'http://localhost')
  return placeOf(pathname, search)
}

test('the URL of a place leads back to it', () => {
  fc.assert(
    fc.property(views, rest, (view, others) => {
      const place: Place = { ...others, ...view }
      expect(open(hrefOf(place))).toEqual(place)
    }),
  )
})

test('what is the default is left out, and the rest is legible', () => {
  expect(hrefOf(open('/'))).toBe('/')
  const pins = ['1', '2'].map((digit) => `0x${digit.repeat(40)}`)
  expect(hrefOf({ ...open('/'), asOf: 1_764_000_000, window: '7d', pins })).toBe(
    `/?as_of=2025-11-24T16:00:00Z&w=7d&pin=${pins.join(',')}`,
  )
})

test('whatever a URL has wrong counts as left out', () => {
  const board = open('/')
  for (const query of ['as_of=soon', 'as_of=-5', 'w=2h', 'sort=price', 'pin=0x12,<b>', 'scale=', 'shape=pie'])
    expect([query, open(`/?${query}`)]).toEqual([query, board])
  expect(open('/?as_of=1764000000').asOf).toBe(1_764_000_000)
  expect(open(`/s/0x${'AB'.repeat(20)}/`).address).toBe(`0x${'ab'.repeat(20)}`)
  expect(open('/else').view).toBe('nowhere')
})
