import { describe, expect, test } from 'vitest'
import type { Family } from '../../../clickhouse/chain/batches.js'
import { coverageOf } from '../../../clickhouse/chain/coverage.js'
import type { Ledger } from '../../../clickhouse/chain/ledger.js'
import { sampledPeriods, unsampledRanges } from '../../../clickhouse/chain/sampling.js'
import type { Search } from '../../../clickhouse/chain/searched.js'
import { listPeriods, type TokenListRow } from '../../../clickhouse/chain/token-lists.js'
import { type Random, randomFor } from '../../../local/chain/random.js'
import { coverageAt, type StoredBlocks } from '../../../oracle/coverage.js'
import { type JobSearch, slotsByJob } from '../../../oracle/searched.js'

const T = 1_790_000_400
const PERIOD = 40
const BLOCKS = 60
const STABLE = '0xa'

describe('which slots count as searched', () => {
  const runs = [0, 1, 2, 3].map((i) => ({ job: 'a', slot_at: 100 * i, revision: i === 3 ? 2 : 0 }))

  test('without changes of history, all that were done, each job apart', () => {
    const slots = slotsByJob([...runs, { job: 'b', slot_at: 50, revision: 0 }], [], [])
    expect(slots.get('a')).toEqual({ searched: [0, 100, 200, 300], shown: [0, 100, 200, 300] })
    expect(slots.get('b')).toEqual({ searched: [50], shown: [50] })
  })

  test('after a rollback those from its time on that were run since, and only those are shown', () => {
    const rollback = { sequence_number: 2, kept_time: 200, is_done: true }
    expect(slotsByJob(runs, [rollback], []).get('a')).toEqual({ searched: [0, 100, 300], shown: [0, 100, 300] })
    const planned = { ...rollback, is_done: false }
    expect(slotsByJob(runs, [planned], []).get('a')?.searched).toEqual([0, 100, 200, 300])
  })

  test('after a backfill those that were run since, while the others are still shown', () => {
    const change = { sequence_number: 1, kept_time: 100, after_rollback: 1 }
    expect(slotsByJob(runs, [], [change]).get('a')).toEqual({ searched: [0, 300], shown: [0, 100, 200, 300] })
    // A rollback after it has the next number.
    const rollback = { sequence_number: 2, kept_time: 0, is_done: true }
    expect(slotsByJob(runs, [rollback], [change]).get('a')).toEqual({ searched: [], shown: [] })
  })
})

/** Token lists, and books of the asked stable and of others, some before it was created. */
function randomLists(random: Random): { lists: TokenListRow[]; books: StoredBlocks['books'] } {
  const lists = Array.from({ length: random.int(1, 4) }, (_, i) => {
    const from_block = i === 0 ? 0 : random.int(1, BLOCKS)
    return {
      sequence_number: i + 1,
      from_block,
      holds_from: i === 0 ? 0 : T + 10 * from_block - 9,
      track: random.pick(['listed', 'all', 'paired', 'paired'] as const),
      stables: random.chance(0.2) ? [STABLE] : [],
    }
  })
  const others = random.pick([0, 98, 99, 100])
  const opened = [STABLE, ...Array.from({ length: others }, (_, i) => `0x${i}`)]
  const books = opened
    .filter(() => random.chance(0.99))
    .map((base) => ({ base, block_number: random.int(1, BLOCKS) }))
    .map((book) => ({ ...book, block_time: T + 10 * book.block_number }))
  return { lists, books: books.toSorted((a, b) => a.block_number - b.block_number) }
}

/** Blocks ten seconds apart of which some stretches are not stored, as the service and as the definition have them. */
function randomBlocks(random: Random, family: Family = 'logs'): { ledger: Ledger; stored: StoredBlocks } {
  const [first, hole] = [random.int(1, 20), random.int(25, 40)]
  const length = random.pick([0, 0, 5])
  const ranges = [
    [first, hole],
    [hole + 1 + length, BLOCKS],
  ].map(([from_block = 0, to_block = 0]) => ({
    family,
    stables: [],
    from_block,
    to_block,
    from_time: T + 10 * from_block,
    to_time: T + 10 * to_block,
  }))
  const isStored = (block: number) => ranges.some((range) => range.from_block <= block && block <= range.to_block)
  return {
    ledger: {
      ...{ ranges, gaps: [], unknown: [], disagreed: [] },
      ...{ head: null, started_at: T, revision: '', unsampled: () => [] },
    },
    stored: {
      started_at: T,
      last: BLOCKS,
      timeOf: (block) => (isStored(block) ? T + 10 * block : null),
      isStored: (_, block) => isStored(block),
      gaps: [],
      lists: [],
      books: [],
    },
  }
}

/** The slots of a job that has done some of them, and the stretches of time that they stand for. */
function randomSearch(random: Random): { slots: JobSearch; search: Search } {
  const done = Array.from({ length: 18 }, (_, i) => T - 80 + i * PERIOD).filter(() => random.chance(0.8))
  const slots = random.chance(0.1) ? [] : done
  const isPart = random.chance(0.3)
  const newest = slots.at(-1)
  if (newest !== undefined && random.chance(0.2))
    return {
      slots: { slots: [newest], period: PERIOD, isNewest: true, isPart },
      search: { stretches: [{ from: 0, until: newest }], late_seconds: 2 * PERIOD, isPart },
    }
  const stretches: Array<{ from: number; until: number }> = []
  for (const slot of slots) {
    const last = stretches.at(-1)
    if (last?.until === slot - PERIOD) last.until = slot
    else stretches.push({ from: slot - PERIOD, until: slot })
  }
  return { slots: { slots, period: PERIOD, isPart }, search: { stretches, late_seconds: 2 * PERIOD, isPart } }
}

test('for any blocks and slots the service publishes the coverage that the definition gives', () => {
  const statuses: Record<string, number> = {}
  for (let seed = 1; seed <= 3000; seed++) {
    const random = randomFor(seed, 'searched')
    const { ledger, stored } = randomBlocks(random)
    const searches = Array.from({ length: random.int(1, 2) }, () => randomSearch(random))
    const [one, other] = [T + random.int(-100, 600), T + random.int(-100, 600)]
    const asked = { families: ['logs'] as const, logsOf: [], from: Math.min(one, other), to: Math.max(one, other) }
    const { message: _, ...published } = coverageOf(ledger, {
      ...asked,
      searches: searches.map(({ search }) => search),
    })
    const expected = coverageAt(stored, { ...asked, searches: searches.map(({ slots }) => slots) }, 100)
    expect(published, JSON.stringify({ seed, asked, searches, ledger })).toEqual(expected)
    const key = published.missing.some(({ reason }) => reason === 'not_searched') ? 'searched' : 'other'
    statuses[`${published.status} ${key}`] = (statuses[`${published.status} ${key}`] ?? 0) + 1
  }
  expect(Math.min(statuses['partial searched'] ?? 0, statuses['unavailable searched'] ?? 0)).toBeGreaterThan(100)
})

test('for any token lists and books the service publishes the coverage of pegs that the definition gives', () => {
  const statuses: Record<string, number> = {}
  for (let seed = 1; seed <= 3000; seed++) {
    const random = randomFor(seed, 'sampled')
    const { ledger, stored } = randomBlocks(random, 'pegs')
    const { lists, books } = randomLists(random)
    const periods = sampledPeriods(
      listPeriods(lists),
      books.map(({ base: stable, ...opened }) => ({ stable, ...opened })),
    )
    const unsampled: Ledger['unsampled'] = (stable, created) => unsampledRanges(periods, { stable, created })
    const [one, other] = [T + random.int(-100, 600), T + random.int(-100, 600)]
    const asked = {
      families: ['pegs'] as const,
      stable: STABLE,
      since: { block_number: 1, block_time: T + 10 },
      from: Math.min(one, other),
      to: Math.max(one, other),
    }
    const { message: _, ...published } = coverageOf({ ...ledger, unsampled }, asked)
    const expected = coverageAt({ ...stored, lists, books }, asked, 100)
    expect(
      published,
      JSON.stringify({ seed, asked, lists, books: books.filter(({ base }) => base === STABLE) }),
    ).toEqual(expected)
    const key = published.missing.some(({ reason }) => reason === 'not_sampled') ? 'unsampled' : 'other'
    statuses[`${published.status} ${key}`] = (statuses[`${published.status} ${key}`] ?? 0) + 1
  }
  expect(Math.min(statuses['partial unsampled'] ?? 0, statuses['unavailable unsampled'] ?? 0)).toBeGreaterThan(100)
})
