import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { shippedTokens } from '../../../../ingest/token-list/shipped.js'
import { watchTokenList } from '../../../../ingest/token-list/watch.js'

afterEach(() => vi.useRealTimers())

const made_at = shippedTokens(4217)?.made_at ?? new Date(0)

/** What a start on a chain without TOKEN_LIST logs, so many days after the list that comes with this version was made. */
async function startedAfter(days: number, network: 'tempo' | 'devnet', chainId: number) {
  vi.useFakeTimers({ toFake: ['Date'], now: made_at.getTime() + days * 86_400_000 })
  const lines: Record<string, unknown>[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const tokenListCurrent = vi.fn()
  const { signal } = new AbortController()
  const metrics = { tokenListCurrent, tokenListRefused: () => {} }
  const list = await watchTokenList({ location: undefined, network, chainId, log, signal, metrics })
  return { list, lines, tokenListCurrent }
}

const [INFO, WARN] = [30, 40]

test('a start on a real chain logs how old the list is, and warns above 30 days', async () => {
  const { lines, tokenListCurrent } = await startedAfter(30, 'tempo', 4217)
  expect(lines).toEqual([expect.objectContaining({ level: INFO, list: 'shipped', tokens: 35, age_days: 30 })])
  expect(tokenListCurrent).toHaveBeenCalledExactlyOnceWith(made_at)
  const old = await startedAfter(31, 'tempo', 4217)
  expect(old.lines).toEqual([expect.objectContaining({ level: WARN, age_days: 31 })])
})

test('a local chain without a list has no listed stables and no age', async () => {
  const { list, lines, tokenListCurrent } = await startedAfter(99, 'devnet', 31_337)
  expect(list.take()?.addresses.size).toBe(0)
  expect(lines).toEqual([])
  expect(tokenListCurrent).not.toHaveBeenCalled()
})

test('the list that comes with this version does not change while ingest runs', async () => {
  const { list } = await startedAfter(0, 'tempo', 4217)
  list.take()
  expect(list.hasChanged()).toBe(false)
})
