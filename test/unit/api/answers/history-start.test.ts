import { expect, onTestFinished, test, vi } from 'vitest'
import { createHistoryStart } from '../../../../api/answers/as-of.js'
import { Memories } from '../../../../process/memory.js'

const at = (second: number) => new Date(second * 1000)

function setUp(start: number | null) {
  const chain = { start }
  const read = vi.fn(async (_: { signal: AbortSignal }) => (chain.start === null ? null : at(chain.start)))
  return { chain, read, history: createHistoryStart(read, new Memories()) }
}

test('an instant at or after the first block is in history, any other is not', async () => {
  const { history } = setUp(100)
  expect(await Promise.all([99, 100, 101].map((second) => history.hasBegunBy(at(second))))).toEqual([false, true, true])
})

test('requests about known history need no look-up, and concurrent look-ups are shared', async () => {
  const { history, read } = setUp(100)
  await Promise.all(Array.from({ length: 20 }, () => history.hasBegunBy(at(150))))
  await history.hasBegunBy(at(100))
  expect(read).toHaveBeenCalledTimes(1)
})

test('blocks that a backfill adds before the known start are found, and so is the very first block', async () => {
  const { history, chain } = setUp(null)
  expect(await history.hasBegunBy(at(100))).toBe(false)
  chain.start = 90
  expect(await history.hasBegunBy(at(100))).toBe(true)
  chain.start = 50
  expect(await history.hasBegunBy(at(60))).toBe(true)
})

test('a look-up ends by itself when it takes as long as no query of an answer may', async () => {
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.abort(new Error('too late')))
  onTestFinished(() => timeout.mockRestore())
  const { history, read } = setUp(100)
  read.mockImplementationOnce(async ({ signal }) => {
    signal.throwIfAborted()
    return at(100)
  })
  await expect(history.hasBegunBy(at(150))).rejects.toThrow('too late')
  expect(timeout).toHaveBeenCalledWith(15_000)
})
