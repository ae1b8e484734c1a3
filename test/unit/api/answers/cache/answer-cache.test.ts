import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Answer } from '../../../../../api/answers/cache/answer.js'
import { createAnswerCache } from '../../../../../api/answers/cache/answer-cache.js'
import { versionOf } from '../../../../../api/answers/cache/plugin.js'
import { PlumblineError } from '../../../../../process/errors.js'
import { Memories } from '../../../../../process/memory.js'

const freshness = { maxAgeMs: 2000, staleMs: 10_000, cacheControl: 'public, max-age=2' }
const answerOf = (text: string): Answer => new Answer(Buffer.from(text), null, freshness)

class Away extends PlumblineError {
  constructor() {
    super('away', { retryable: true })
  }
}

class Broken extends PlumblineError {
  constructor() {
    super('broken', { retryable: false })
  }
}

/** A cache with its own clock, whose answers count how often they were computed. */
function counting(maxBytes = 1_000_000) {
  const clock = { ms: 0 }
  const cache = createAnswerCache({ maxBytes, memories: new Memories(), shared: null, nowMs: () => clock.ms })
  const state = { computed: 0, failing: null as Error | null }
  const client = new AbortController()
  const ask = async (key = 'key') => {
    const outcome = await cache.get(
      key,
      async () => {
        await turn()
        if (state.failing) throw state.failing
        state.computed += 1
        return answerOf(`${state.computed}`)
      },
      client.signal,
    )
    return { how: outcome.how, body: outcome.answer.body.toString(), ageMs: outcome.ageMs }
  }
  return { clock, cache, state, ask }
}

test('concurrent requests, and those soon after, get the same answer', async () => {
  const { clock, state, ask } = counting()
  const together = await Promise.all(Array.from({ length: 50 }, () => ask()))
  expect(together).toEqual(Array(50).fill({ how: 'miss', body: '1', ageMs: 0 }))
  clock.ms = 900
  expect(await ask()).toEqual({ how: 'hit', body: '1', ageMs: 900 })
  expect(await ask('another')).toMatchObject({ how: 'miss', body: '2' })
  expect(state.computed).toBe(2)
})

test('an answer is renewed before it is too old, while it is still served', async () => {
  const { clock, cache, ask } = counting()
  await ask()
  clock.ms = 1500
  expect(cache.fresh('key')).toBeUndefined()
  expect(await ask()).toEqual({ how: 'hit', body: '1', ageMs: 1500 })
  await expect.poll(() => ask()).toEqual({ how: 'hit', body: '2', ageMs: 0 })
})

test('no answer that is too old is served while a new one can be computed', async () => {
  const { clock, ask } = counting()
  await ask()
  clock.ms = 2000
  expect(await ask()).toEqual({ how: 'miss', body: '2', ageMs: 0 })
})

test('an old answer is served as stale while new ones cannot be computed, for a limited time', async () => {
  const { clock, state, ask } = counting()
  await ask()
  state.failing = new Away()
  clock.ms = 2000
  expect(await ask()).toEqual({ how: 'stale', body: '1', ageMs: 2000 })
  clock.ms = 11_999
  expect(await ask()).toEqual({ how: 'stale', body: '1', ageMs: 11_999 })
  clock.ms = 12_000
  await expect(ask()).rejects.toThrow(Away)
  state.failing = null
  expect(await ask()).toEqual({ how: 'miss', body: '2', ageMs: 0 })
})

test('permanent errors are returned at once, and errors are not cached', async () => {
  const { clock, state, ask } = counting()
  await ask()
  state.failing = new Broken()
  clock.ms = 2000
  await expect(ask()).rejects.toThrow(Broken)
  await expect(ask('another')).rejects.toThrow(Broken)
  state.failing = null
  expect(await ask('another')).toMatchObject({ how: 'miss', body: '2' })
})

test('the work is aborted when its last client disconnects, and the next request starts again', async () => {
  const cache = createAnswerCache({ maxBytes: 1000, memories: new Memories(), shared: null, nowMs: () => 0 })
  const clients = [new AbortController(), new AbortController()] as const
  const signals: AbortSignal[] = []
  const hang = (signal: AbortSignal) => {
    signals.push(signal)
    return new Promise<Answer>((_, reject) =>
      signal.addEventListener('abort', () => reject(new Away()), { once: true }),
    )
  }
  const waiting = clients.map(({ signal }) => cache.get('key', hang, signal))
  const settled = Promise.allSettled(waiting)
  clients[0].abort()
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  clients[1].abort()
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  const next = await cache.get('key', async () => answerOf('next'), new AbortController().signal)
  expect(next.answer.body.toString()).toBe('next')
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})

test('memory is bounded: the least recently requested answers are removed first', async () => {
  const { state, ask } = counting(3 * answerOf('1').size)
  for (const key of ['a', 'b', 'c', 'a', 'd']) await ask(key)
  expect(state.computed).toBe(4)
  expect(await ask('a')).toMatchObject({ how: 'hit' })
  expect(await ask('b')).toMatchObject({ how: 'miss' })
})

test('only answers with the same formulas and the same shape are shared', () => {
  const shape = () => ({ 200: z.object({ price: z.number() }) })
  const versions = [
    versionOf('1', shape()),
    versionOf('2', shape()),
    versionOf('1', { 200: z.object({ price: z.string() }) }),
    versionOf('1', {}),
  ]
  expect(new Set(versions).size).toBe(4)
  expect(versionOf('1', shape())).toBe(versions[0])
})
