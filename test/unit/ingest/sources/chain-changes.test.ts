import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { RpcAnswerError } from '../../../../ingest/chain/rpc-answers.js'
import { ChainChangedError, linkedRanges, persistAt } from '../../../../ingest/sources/chain-changed.js'
import { followHead } from '../../../../ingest/sources/heads.js'
import type { Rpc } from '../../../../ingest/sources/rpc.js'

const hash = (name: string) => `0x${name.padStart(64, '0')}`
const header = (number: number, name: string) => ({
  number: `0x${number.toString(16)}`,
  hash: hash(name),
  parentHash: hash('0'),
  timestamp: '0x1',
  logsBloom: `0x${'0'.repeat(512)}`,
  transactions: [],
})

/** A node that gives one answer after the other; a failed read is tried five times. */
function nodeThatAnswers(answers: unknown[]): Rpc {
  return {
    followsNewest: false,
    request: async (method, _params, shape) => {
      if (method === 'eth_chainId') return shape.parse('0x1') as never
      return shape.parse(answers.length > 1 ? answers.shift() : answers[0]) as never
    },
    persist: async (_what, read) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await read()
        } catch (error) {
          if (attempt === 5 || error instanceof ChainChangedError) throw error
        }
      }
    },
  }
}

describe('following the head', () => {
  const known = new Map([
    [7, hash('a7')],
    [8, hash('a8')],
    [9, hash('a9')],
  ])

  /** The heads that are returned until the answers end or the chain changes. */
  async function heads(answers: unknown[]): Promise<{ yielded: number[]; error: unknown }> {
    const end = 100
    const yielded: number[] = []
    try {
      for await (const number of followHead(nodeThatAnswers([...answers, header(end, 'e')]), {
        tag: 'latest',
        checkChainId: () => {},
        wsUrl: null,
        onHead: () => {},
        pollMs: 1,
        flushMs: 0,
        log: pino({ level: 'silent' }),
        signal: new AbortController().signal,
        hashOf: async (number) => known.get(number) ?? null,
      })) {
        if (number === end) break
        yielded.push(number)
      }
      return { yielded, error: null }
    } catch (error) {
      return { yielded, error }
    }
  }

  test('a node that lags behind its own earlier answers is not a change of the chain', async () => {
    const answers = [header(9, 'a9'), header(7, 'a7'), header(9, 'a9'), header(8, 'a8'), header(12, 'a12')]
    expect(await heads(answers)).toEqual({ yielded: [9, 12], error: null })
  })

  test('a different block at the same height or below is a change of the chain', async () => {
    expect(await heads([header(9, 'a9'), header(9, 'b9')])).toEqual({
      yielded: [9],
      error: expect.any(ChainChangedError),
    })
    expect(await heads([header(9, 'a9'), header(8, 'b8')])).toEqual({
      yielded: [9],
      error: expect.any(ChainChangedError),
    })
  })

  test('a block that is not stored yet is only checked when it is', async () => {
    expect(await heads([header(99, 'a99'), header(12, 'b12'), header(9, 'a9')])).toEqual({ yielded: [99], error: null })
  })
})

describe('reading at a block', () => {
  const block = { number: 9, hash: hash('a9') }
  const refuses = () => Promise.reject(new RpcAnswerError('no such block'))

  test('is retried while the node has that block', async () => {
    const attempt = persistAt(nodeThatAnswers([header(9, 'a9')]), 'read', block, refuses)
    await expect(attempt).rejects.toThrow('no such block')
  })

  test('fails at once if the node has another block, and after three attempts if it has none', async () => {
    const other = persistAt(nodeThatAnswers([header(9, 'b9')]), 'read', block, refuses)
    await expect(other).rejects.toThrow(ChainChangedError)
    const back = persistAt(nodeThatAnswers([null, null, header(9, 'a9')]), 'read', block, refuses)
    await expect(back).rejects.toThrow('no such block')
    const none = persistAt(nodeThatAnswers([null]), 'read', block, refuses)
    await expect(none).rejects.toThrow(ChainChangedError)
  })
})

describe('linked ranges', () => {
  const block = (number: number, name: string, parent: string) => ({
    number,
    hash: hash(name),
    parentHash: hash(parent),
  })
  async function* ranges(...list: ReturnType<typeof block>[][]) {
    yield* list
  }
  const passed = async (...args: Parameters<typeof linkedRanges>) => {
    const seen: number[] = []
    for await (const range of linkedRanges(...args)) seen.push(...range.map(({ number }) => number))
    return seen
  }
  const chain = [[block(4, 'a4', 'a3'), block(5, 'a5', 'a4')], [block(6, 'a6', 'a5')]]

  test('pass if each continues the one before', async () => {
    expect(await passed(ranges(...chain), { hash: hash('a3') }, null)).toEqual([4, 5, 6])
    expect(await passed(ranges(...chain), null, { to: 5, lastHash: hash('a5') })).toEqual([4, 5, 6])
  })

  test('fail if the first or a later one has another parent', async () => {
    await expect(passed(ranges(...chain), { hash: hash('b3') }, null)).rejects.toThrow(ChainChangedError)
    const broken = ranges([block(4, 'a4', 'a3')], [block(5, 'b5', 'b4')])
    await expect(passed(broken, null, null)).rejects.toThrow('block 5 is not a child of')
  })

  test('fail if a planned range ends with another block', async () => {
    await expect(passed(ranges(...chain), null, { to: 5, lastHash: hash('b5') })).rejects.toThrow(ChainChangedError)
  })
})
