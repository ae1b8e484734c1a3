import { expect, test, vi } from 'vitest'
import { createStables } from '../../../../api/answers/stable.js'
import { Memories } from '../../../../process/memory.js'

function setUp(addresses: string[]) {
  const clock = { ms: 0 }
  const read = vi.fn(async () => addresses.map((stable) => ({ stable, block_number: 1, block_time: 2, in_use: true })))
  return { clock, read, stables: createStables(read, new Memories(), () => clock.ms) }
}

test('a known stable costs one look-up, whatever the number of requests', async () => {
  const { read, stables } = setUp(['a'])
  expect(await Promise.all([stables.has('a'), stables.has('a')])).toEqual([true, true])
  expect(await stables.has('a')).toBe(true)
  expect(read).toHaveBeenCalledTimes(1)
})

test('a new stable is found, but unknown addresses cannot cause more than one read per second', async () => {
  const addresses = ['a']
  const { clock, read, stables } = setUp(addresses)
  expect(await stables.has('b')).toBe(false)
  for (let i = 0; i < 100; i++) expect(await stables.has(`x${i}`)).toBe(false)
  expect(read).toHaveBeenCalledTimes(1)
  addresses.push('b')
  clock.ms += 1001
  expect(await stables.has('b')).toBe(true)
  expect(read).toHaveBeenCalledTimes(2)
})

test('the first question about all stables is answered by a look-up, not as if there were none', async () => {
  expect(await setUp(['a', 'b']).stables.countInUse()).toBe(2)
  expect(await setUp(['a']).stables.creationOf('a')).toEqual({ block_number: 1, block_time: 2 })
})

test('a removed stable is forgotten after a minute', async () => {
  const addresses = ['a']
  const { clock, stables } = setUp(addresses)
  expect(await stables.has('a')).toBe(true)
  addresses.pop()
  clock.ms += 60_001
  expect(await stables.has('a')).toBe(false)
})
