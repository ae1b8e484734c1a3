import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { RawLog, RawLogs } from '../../../../ingest/chain/rpc-answers.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'

const digits = (random: Random, length: number): string =>
  Array.from({ length }, () => random.int(0, 15).toString(16)).join('')

/** Logs of a few blocks and transactions, as a node answers them. */
function someLogs(random: Random): Record<string, unknown>[] {
  let own = { blockHash: '', transactionHash: '', blockNumber: '', blockTimestamp: '' as string | null }
  return Array.from({ length: random.int(0, 30) }, (_, i) => {
    if (i === 0 || random.chance(0.3)) {
      const blockTimestamp = random.chance(0.8) ? `0x${random.int(1, 2 ** 30).toString(16)}` : null
      const blockNumber = `0x${random.int(1, 1000).toString(16)}`
      own = {
        blockHash: `0x${digits(random, 64)}`,
        transactionHash: `0x${digits(random, 64)}`,
        blockNumber,
        blockTimestamp,
      }
    }
    const address = `0x20C0${digits(random, 36)}`
    return {
      ...own,
      address: random.chance(0.5) ? address : address.toLowerCase(),
      topics: Array.from({ length: random.int(0, 4) }, () =>
        `0x${digits(random, random.chance(0.5) ? 64 : 63)}0`.slice(0, 66),
      ),
      data: `0x${digits(random, 2 * random.int(0, 40))}`,
      logIndex: `0x${i.toString(16)}`,
      removed: false,
      ...(random.chance(0.9) && { transactionIndex: '0x0' }),
    }
  })
}

const WRONG = [
  undefined,
  null,
  7,
  '',
  '0x',
  '0xZZ',
  '0x01',
  `0x${'a'.repeat(63)}`,
  [],
  {},
  `0x${'A'.repeat(64)}`,
  '0x1g',
]
const FIELDS = Object.keys(RawLog.shape)

test('logs are read as the shape of one log says, and one that is not valid refuses the answer', () => {
  let [valid, refused] = [0, 0]
  for (let round = 0; round < 2000; round++) {
    const random = randomFor(3, 'logs', round)
    const logs = someLogs(random)
    const broken = logs[random.int(0, Math.max(logs.length - 1, 0))]
    if (broken && random.chance(0.5)) {
      const field = FIELDS[random.int(0, FIELDS.length - 1)] as string
      const wrong = WRONG[random.int(0, WRONG.length - 1)]
      if (field === 'topics' && random.chance(0.7)) broken.topics = [...(broken.topics as string[]), wrong]
      else broken[field] = wrong
    }
    const expected = z.array(RawLog).safeParse(structuredClone(logs))
    const found = RawLogs.safeParse(structuredClone(logs))
    expect(found.success, JSON.stringify(logs)).toBe(expected.success)
    if (expected.success) {
      valid++
      const times = expected.data.map((log) => ({ ...log, blockTimestamp: log.blockTimestamp ?? null }))
      const byPlace = (a: RawLog, b: RawLog) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex
      expect(found.data).toEqual(times.sort(byPlace))
    } else {
      refused++
      expect(found.error?.issues[0]?.path.slice(0, 2)).toEqual(expected.error.issues[0]?.path.slice(0, 2))
    }
  }
  expect(Math.min(valid, refused)).toBeGreaterThan(500)
})

test('what was read as an address is not a topic, nor a topic an address', () => {
  const [log] = someLogs(randomFor(3, 'logs', 1))
  const [address, topic] = [`0x20c0${'ab'.repeat(18)}`, `0x${'ab'.repeat(32)}`]
  const isRead = (fields: object): boolean => RawLogs.safeParse([{ ...log, ...fields }]).success
  expect(isRead({ address, topics: [topic] })).toBe(true)
  expect(isRead({ address, topics: [address] })).toBe(false)
  expect(isRead({ address: topic, topics: [topic] })).toBe(false)
})

test.for([undefined, {}, 'logs', [null], ['log']])('an answer without logs is refused: %j', (answer) => {
  expect(RawLogs.safeParse(answer).success).toBe(false)
})

describe('logs that are all there, in another form', () => {
  const logs = (): Record<string, unknown>[] =>
    [3, 4, 4, 7].map((block, i) => ({
      ...{ address: `0x20c0${'ab'.repeat(18)}`, topics: [`0x${'ab'.repeat(32)}`], data: `0xab${i}0` },
      ...{ blockNumber: `0x${block}`, logIndex: `0x${i}`, blockTimestamp: '0xabc', removed: false },
      blockHash: `0x${`a${block}`.repeat(32)}`,
      transactionHash: `0x${`b${i}`.repeat(32)}`,
    }))
  const upper = (value: unknown): unknown =>
    typeof value === 'string' ? `0x${value.slice(2).toUpperCase()}` : Array.isArray(value) ? value.map(upper) : value

  test.for<[string, (logs: Record<string, unknown>[]) => unknown]>([
    ['in another order', (all) => all.reverse()],
    ['some of them twice', (all) => [all[0], ...all, all[2]]],
    ['with one of a removed block', (all) => [{ ...all[0], removed: true, blockHash: 'gone' }, ...all]],
    [
      'in upper case',
      (all) => all.map((log) => Object.fromEntries(Object.entries(log).map(([k, v]) => [k, upper(v)]))),
    ],
    [
      'with leading zeros',
      (all) => all.map((log) => ({ ...log, blockNumber: `0x000${`${log.blockNumber}`.slice(2)}` })),
    ],
  ])('%s', ([, change]) => {
    expect(RawLogs.parse(change(logs()))).toEqual(RawLogs.parse(logs()))
  })

  test('null for none', () => expect(RawLogs.parse(null)).toEqual([]))

  test('two different logs with one index stay two, which later checks refuse', () => {
    expect(RawLogs.parse([...logs(), { ...logs()[0], data: '0x' }])).toHaveLength(5)
  })
})
