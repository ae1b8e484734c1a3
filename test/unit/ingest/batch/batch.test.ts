import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { familiesRead } from '../../../../ingest/batch/scope.js'
import { type BlockRange, blockRanges } from '../../../../ingest/chain/block-ranges.js'
import { IngestConfig } from '../../../../ingest/config.js'
import { readAhead } from '../../../../ingest/stages/read-ahead.js'
import { parseEnv } from '../../../../process/environment.js'

async function* listed<Item>(...items: Item[]): AsyncGenerator<Item> {
  yield* items
}
async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = []
  for await (const item of items) collected.push(item)
  return collected
}
const pairs = (ranges: BlockRange[]) => ranges.map(({ from, to }) => [from, to])

describe('block ranges', () => {
  test('are consecutive up to each head, and end at multiples of the size', async () => {
    expect(pairs(await collect(blockRanges(listed(25, 25, 27, 41), 1, 10, null)))).toEqual([
      [1, 9],
      [10, 19],
      [20, 25],
      [26, 27],
      [28, 29],
      [30, 39],
      [40, 41],
    ])
  })

  test('an unfinished range comes first, unchanged', async () => {
    expect(pairs(await collect(blockRanges(listed(30), 13, 10, { from: 13, to: 24 })))).toEqual([
      [13, 24],
      [25, 29],
      [30, 30],
    ])
  })

  test('a head behind the stored blocks gives no range', async () => {
    expect(await collect(blockRanges(listed(5), 9, 10, null))).toEqual([])
  })
})

describe('working ahead', () => {
  test('keeps the order, whichever item finishes first', async () => {
    const slowFirst = readAhead(listed(30, 1, 20, 2), 3, async (ms) => {
      await sleep(ms)
      return ms
    })
    expect(await collect(slowFirst)).toEqual([30, 1, 20, 2])
  })

  test('never has more items in progress than its depth', async () => {
    let working = 0
    let most = 0
    const work = readAhead(listed(...Array(12).keys()), 4, async (item) => {
      most = Math.max(most, ++working)
      await sleep(1)
      working--
      return item
    })
    expect(await collect(work)).toHaveLength(12)
    expect(most).toBe(4)
  })

  test('an error is thrown in its item’s turn, after the items before it', async () => {
    const seen: number[] = []
    const failing = readAhead(listed(1, 2, 3), 3, async (item) => {
      if (item === 2) throw new Error('second')
      return item
    })
    await expect(async () => {
      for await (const item of failing) seen.push(item)
    }).rejects.toThrow('second')
    expect(seen).toEqual([1])
  })
})

const read = (env: Record<string, string>) =>
  familiesRead(parseEnv(IngestConfig, { RPC_URL: 'http://127.0.0.1:8545', ...env }))

const OTHERS = ['catalogue', 'logs', 'pegs', 'state']

test('transfers are read if holders are tracked: by default only on a local chain', () => {
  expect(read({})).toEqual(OTHERS)
  expect(read({ TRACK_HOLDERS: '' })).toEqual(OTHERS)
  expect(read({ CHAIN: 'tempo-testnet' })).toEqual(OTHERS)
  expect(read({ TRACK_HOLDERS: 'true' })).toEqual([...OTHERS, 'transfers'])
  expect(read({ CHAIN: 'devnet' })).toEqual([...OTHERS, 'transfers'])
  expect(read({ CHAIN: 'devnet', TRACK_HOLDERS: 'false' })).toEqual(OTHERS)
  expect(() => read({ TRACK_HOLDERS: 'yes' })).toThrow('TRACK_HOLDERS: must be true or false')
})
