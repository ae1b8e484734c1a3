import { BaseError, decodeFunctionData, encodeFunctionResult, type Hex, multicall3Abi, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { batchQuotes } from '../../../../ingest/batch/batch-quotes.js'
import type { DecodedBlock } from '../../../../ingest/batch/decode.js'
import type { BookQuotes } from '../../../../ingest/batch/quote-batch.js'
import type { Quote } from '../../../../ingest/sources/quotes.js'
import type { Rpc } from '../../../../ingest/sources/rpc.js'

const [A, B] = ['a', 'b'].map((digit) => `0x20c0${digit.repeat(36)}`) as [string, string]
const BLOCKS = 5
/** Block hashes begin with their number as a share of 2^32: half of the blocks are below a half. */
const hashOf = (number: number): string => `0x${(number * 0x33333333).toString(16).padStart(8, '0')}${'0'.repeat(56)}`

const quoted = (micros: number): Quote => ({ status: 'quoted', sellMicros: micros, buyMicros: micros })

/** Blocks 0 to 4, each with the quotes of the books; `unknownAt`: a block with an event that is not understood. */
function batchOf(quotesOf: (number: number) => Record<string, Quote>, unknownAt: number | null = null) {
  const decoded = Array.from({ length: BLOCKS }, (_, number) => ({
    block: { number, hash: hashOf(number), time: 1000 + number },
    facts: { unknown_events: number === unknownAt ? [{ emitter: 'token' }] : [] },
    sampled: [],
  })) as unknown as DecodedBlock[]
  const bookQuotes: BookQuotes[] = decoded.map(({ block }) => ({
    quotes: new Map(Object.entries(quotesOf(block.number))),
    depths: [],
    values: new Map(),
  }))
  return { decoded, bookQuotes }
}

/** A node that answers what amounts of each stable sell for and cost, and notes which it was asked for in which block. */
function nodeOf(unitsFor: (stable: string, number: number, amount: number) => number | 'dropped' | 'too dear') {
  const reads = new Set<string>()
  const request = async (method: string, [call, at]: [{ data: Hex }, { blockHash: string }]) => {
    if (method !== 'eth_call') return { hash: hashOf(BLOCKS - 1) }
    const number = Array.from({ length: BLOCKS }, (_, i) => i).find((i) => hashOf(i) === at.blockHash) as number
    const [calls] = decodeFunctionData({ abi: multicall3Abi, data: call.data }).args as unknown as [{ callData: Hex }[]]
    const result = calls.map(({ callData }) => {
      const [from, to] = [callData.slice(34, 74), callData.slice(98, 138)].map((digits) => `0x${digits}`) as [
        string,
        string,
      ]
      const stable = from === REFERENCE_STABLE ? to : from
      const units = unitsFor(stable, number, Number(`0x${callData.slice(138)}`))
      reads.add(`${number} ${stable === A ? 'A' : 'B'}`)
      if (units === 'dropped') throw new BaseError('missing trie node', { details: 'missing trie node' })
      if (units === 'too dear') return { success: false, returnData: '0x' as Hex }
      return { success: true, returnData: numberToHex(units, { size: 32 }) }
    })
    return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result })
  }
  const persist = <Result>(_: string, read: () => Promise<Result>) => read()
  return { rpc: { request, persist } as unknown as Rpc, reads }
}

const wanted = { priced: Array.from({ length: BLOCKS }, () => [A, B]), deep: Array.from({ length: BLOCKS }, () => []) }
const right = (stable: string, number: number): number => 999_000 + number + (stable === A ? 0 : 100)
const books = (number: number) => ({ [A]: quoted(right(A, number)), [B]: quoted(right(B, number)) })

test('the node is asked at the last block, at a share of the others, and where an event is not understood', async () => {
  for (const [share, unknownAt, blocks] of [
    [0, null, [4]],
    [0.5, null, [0, 1, 2, 4]],
    [1, null, [0, 1, 2, 3, 4]],
    [0, 2, [2, 4]],
  ] as const) {
    const node = nodeOf(right)
    const { quotes, agreement } = await batchQuotes(
      { rpc: node.rpc, quotesCompared: share },
      batchOf(books, unknownAt),
      wanted,
    )
    expect([...node.reads].sort()).toEqual(blocks.flatMap((number) => [`${number} A`, `${number} B`]))
    expect(quotes.map((ofBlock) => Object.fromEntries(ofBlock))).toEqual([0, 1, 2, 3, 4].map(books))
    expect(agreement).toEqual({ blocks: blocks.length, quotes: 2 * blocks.length, differences: [] })
  }
})

test('if one quote differs, those of the node are taken in the whole batch', async () => {
  const other = (stable: string, number: number): number => right(stable, number) - (stable === B && number > 2 ? 1 : 0)
  const node = nodeOf(other)
  const { quotes, agreement } = await batchQuotes({ rpc: node.rpc, quotesCompared: 0 }, batchOf(books), wanted)
  expect(quotes.map((ofBlock) => [ofBlock.get(A), ofBlock.get(B)])).toEqual(
    [0, 1, 2, 3, 4].map((number) => [quoted(other(A, number)), quoted(other(B, number))]),
  )
  expect(agreement).toEqual({ blocks: 1, quotes: 2, differences: [{ block_number: 4, stable: B }] })
})

test('what the books do not know is read in every block, and is no difference', async () => {
  const node = nodeOf(right)
  const withoutB = (number: number) => ({ [A]: quoted(right(A, number)) })
  const { quotes, agreement } = await batchQuotes({ rpc: node.rpc, quotesCompared: 0 }, batchOf(withoutB), wanted)
  expect(quotes.map((ofBlock) => Object.fromEntries(ofBlock))).toEqual([0, 1, 2, 3, 4].map(books))
  expect([...node.reads].sort()).toEqual(['0 B', '1 B', '2 B', '3 B', '4 A', '4 B'])
  expect(agreement).toEqual({ blocks: 1, quotes: 1, differences: [] })
})

test('a node that has dropped the state compares nothing, and is missed only where the books know nothing', async () => {
  const { rpc } = nodeOf(() => 'dropped')
  const { quotes, agreement } = await batchQuotes({ rpc, quotesCompared: 1 }, batchOf(books), wanted)
  expect(quotes.map((ofBlock) => Object.fromEntries(ofBlock))).toEqual([0, 1, 2, 3, 4].map(books))
  expect(agreement).toEqual({ blocks: 0, quotes: 0, differences: [] })
  const unknown = batchQuotes(
    { rpc, quotesCompared: 1 },
    batchOf(() => ({})),
    wanted,
  )
  await expect(unknown).rejects.toThrow('state')
})

test('where depth is due, it is compared too', async () => {
  const sizes = [1_000, 10_000, 100_000, 1_000_000]
  const depths = (number: number, lost: number) =>
    sizes.map((size_tokens) => ({
      ...{ stable: A, size_tokens, block_number: number, block_time: 1000 + number },
      ...{ sell_status: 'quoted' as const, sell_raw: `${size_tokens * 1_000_000 - lost}` },
      ...{ buy_status: 'quoted' as const, buy_raw: `${size_tokens * 1_000_000 - lost}` },
    }))
  const batch = batchOf(books)
  const lost = (number: number): number => (number === 4 ? 1 : 0)
  const bookQuotes = batch.bookQuotes.map((quoted, number) => ({ ...quoted, depths: depths(number, 0) }))
  const node = nodeOf((stable, number, amount) =>
    amount === 1_000_000 ? right(stable, number) : amount - lost(number),
  )
  const deep = Array.from({ length: BLOCKS }, () => [A])
  const { depths: taken, agreement } = await batchQuotes(
    { rpc: node.rpc, quotesCompared: 0 },
    { ...batch, bookQuotes },
    { ...wanted, deep },
  )
  expect(agreement).toEqual({
    ...{ blocks: 1, quotes: 2 + sizes.length },
    differences: sizes.map(() => ({ block_number: 4, stable: A })),
  })
  expect(taken).toEqual([0, 1, 2, 3, 4].map((number) => depths(number, lost(number))))
})

test('a quote for which the gas did not suffice is no answer: that of the books stays', async () => {
  const node = nodeOf((stable, number) => (stable === B ? 'too dear' : right(stable, number)))
  const { quotes, agreement } = await batchQuotes({ rpc: node.rpc, quotesCompared: 0 }, batchOf(books), wanted)
  expect(quotes.map((ofBlock) => Object.fromEntries(ofBlock))).toEqual([0, 1, 2, 3, 4].map(books))
  expect(agreement).toEqual({ blocks: 1, quotes: 1, differences: [] })

  // Also where another stable's quotes are the node's.
  const other = nodeOf((stable, number) => (stable === B ? 'too dear' : right(stable, number) - 1))
  const disagreed = await batchQuotes({ rpc: other.rpc, quotesCompared: 0 }, batchOf(books), wanted)
  expect(disagreed.quotes.map((ofBlock) => [ofBlock.get(A), ofBlock.get(B)])).toEqual(
    [0, 1, 2, 3, 4].map((number) => [quoted(right(A, number) - 1), quoted(right(B, number))]),
  )
})
