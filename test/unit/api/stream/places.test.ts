import { expect, test } from 'vitest'
import { createStreamPlaces } from '../../../../api/stream/places.js'

test('there are so many places for an address and so many in all, and one that is given back is free again', () => {
  const places = createStreamPlaces({ total: 3, perAddress: 2 })
  const release = places.take('a')
  places.take('a')
  expect(() => places.take('a')).toThrow('2 streams are open from this address')
  places.take('b')
  expect(() => places.take('c')).toThrow('no more streams')
  release()
  // Given back once only.
  release()
  places.take('c')
  expect(() => places.take('a')).toThrow('no more streams')
})
