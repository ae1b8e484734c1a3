import { expect, test } from 'vitest'
import type { Caller } from '../../../../../api/callers/auth.js'
import { createStreamPlaces } from '../../../../../api/events/stream/places.js'

const FREE: Caller = { tier: 'free' }
const keyOf = (keyId: string, scopes: string[]): Caller => ({ tier: 'subscriber', keyId, scopes, requestsPerMinute: 1 })
const [A, B, C] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const

test('places are limited per address and in total, and a released one is free again', () => {
  const places = createStreamPlaces({ total: 3, perAddress: 2, perKey: 2 })
  const release = places.take(FREE, A)
  places.take(FREE, A)
  expect(() => places.take(FREE, A)).toThrow('the limit of 2 open streams from this address')
  places.take(FREE, B)
  expect(() => places.take(FREE, C)).toThrow('no more streams')
  release()
  // Released only once.
  release()
  places.take(FREE, C)
  expect(() => places.take(FREE, A)).toThrow('no more streams')
})

test('a key with the scope has its own places, from any address; other keys share those of their address', () => {
  const places = createStreamPlaces({ total: 100, perAddress: 1, perKey: 3 })
  places.take(FREE, A)
  const own = keyOf('key_1', ['paid', 'stream'])
  for (const ip of [A, A, B]) places.take(own, ip)
  expect(() => places.take(own, C)).toThrow('the limit of 3 open streams with this key')
  places.take(keyOf('key_2', ['stream']), A)
  expect(() => places.take(keyOf('key_3', ['paid']), A)).toThrow('the limit of 1 open streams from this address')
  for (const ip of [A, A, A]) places.take({ tier: 'admin' }, ip)
})
