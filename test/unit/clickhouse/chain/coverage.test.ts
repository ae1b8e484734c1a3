import { describe, expect, test } from 'vitest'
import { FAMILIES, type Family } from '../../../../clickhouse/chain/batches.js'
import { coverageOf, withState } from '../../../../clickhouse/chain/coverage.js'
import type { Ledger, StoredRange, TimedGap } from '../../../../clickhouse/chain/ledger.js'
import { type Asked, missingRanges, type Sought } from '../../../../clickhouse/chain/missing.js'
import { type Emitter, OF_FLOWS } from '../../../../clickhouse/chain/unknown-events.js'
import { randomFor } from '../../../../local/chain/random.js'
import { isoSeconds } from '../../../../process/instants.js'

const T = 1_790_000_000
const at = (seconds: number): string => new Date((T + seconds) * 1000).toISOString().replace('.000', '')

/** Blocks ten seconds apart: block n has the time T + 10 n. */
const range = (from_block: number, to_block: number, changes: Partial<StoredRange> = {}): StoredRange => ({
  family: 'logs',
  stables: [],
  from_block,
  to_block,
  from_time: T + from_block * 10,
  to_time: T + to_block * 10,
  ...changes,
})
const ledger = (ranges: StoredRange[], changes: Partial<Ledger> = {}): Ledger => ({
  ranges,
  gaps: [],
  unknown: [],
  disagreed: [],
  head: null,
  started_at: null,
  revision: '',
  unsampled: () => [],
  ...changes,
})
const logs = (from: number, to: number, changes: Partial<Sought> = {}): Asked => ({
  families: ['logs'],
  logsOf: ['exchange'],
  from: T + from,
  to: T + to,
  ...changes,
})

describe('the coverage of a time', () => {
  test('is complete where every block of it is stored', () => {
    expect(coverageOf(ledger([range(1, 100)]), logs(105, 900))).toEqual({
      status: 'complete',
      message: 'All of it is measured.',
      missing: [],
      missing_count: 0,
      measured_from: at(105),
      measured_until: at(900),
    })
  })

  test('says when the chain or the stable began, if that was within the asked time', () => {
    const genesis = ledger([range(0, 100)])
    expect(coverageOf(genesis, logs(-500, 900))).toMatchObject({
      status: 'complete',
      message: `All of it is measured. It begins at ${at(0)}; before that there was nothing.`,
      measured_from: at(0),
    })
    const since = { block_number: 20, block_time: T + 200 }
    expect(coverageOf(genesis, logs(105, 900, { since }))).toMatchObject({
      message: `All of it is measured. It begins at ${at(200)}; before that there was nothing.`,
    })
    expect(coverageOf(genesis, { ...logs(0, 900), from: 0 }).message).toBe('All of it is measured.')
  })

  test('lists the blocks that ingest did not read, and the time between their neighbours', () => {
    expect(coverageOf(ledger([range(1, 40), range(51, 100)]), logs(105, 900))).toEqual({
      status: 'partial',
      message: `Missing from ${at(400)} to ${at(510)}, because its blocks have not been read.`,
      missing: [{ from: at(400), to: at(510), from_block: 41, to_block: 50, reason: 'not_read' }],
      missing_count: 1,
      measured_from: at(105),
      measured_until: at(900),
    })
  })

  test('ends with the newest block once ingest has stopped', () => {
    const stopped = ledger([range(1, 40)], { head: { block_number: 40, seen_at: T + 401 } })
    expect(coverageOf(stopped, logs(105, 461))).toMatchObject({ status: 'complete', measured_until: at(400) })
    expect(coverageOf(stopped, logs(105, 462))).toMatchObject({
      status: 'partial',
      missing: [{ from: at(400), to: at(462), from_block: 41, to_block: null, reason: 'not_read' }],
      measured_until: at(400),
    })
  })

  test('is complete on a quiet chain whose head is stored, but not behind the head', () => {
    const quiet = (block_number: number) => ledger([range(1, 40)], { head: { block_number, seen_at: T + 800 } })
    expect(coverageOf(quiet(40), logs(105, 805)).status).toBe('complete')
    expect(coverageOf(quiet(41), logs(105, 805)).status).toBe('partial')
    // A block may take seconds to be read.
    expect(coverageOf(quiet(41), logs(105, 410)).status).toBe('complete')
    expect(coverageOf(quiet(41), logs(105, 411)).status).toBe('partial')
  })

  test('says that nothing is known before the first block that was read', () => {
    const late = ledger([range(50, 100)], { started_at: T })
    expect(coverageOf(late, logs(105, 900))).toMatchObject({
      status: 'partial',
      missing: [{ from: at(105), to: at(500), from_block: 1, to_block: 49, reason: 'before_history' }],
      measured_from: at(500),
    })
    expect(coverageOf(late, { ...logs(0, 900), from: 0 })).toMatchObject({
      missing: [{ from: at(0), to: at(500) }],
      measured_from: at(500),
    })
    expect(coverageOf(late, logs(105, 450))).toMatchObject({ status: 'unavailable', measured_until: null })
    // The chain itself begins with block 1.
    const whole = ledger([range(1, 100)], { started_at: T })
    expect(coverageOf(whole, logs(-500, 900))).toMatchObject({ status: 'complete', measured_from: at(10) })
  })

  test('is complete from its creation on for a stable that was created within it', () => {
    const young = { families: ['pegs'] as const, stable: 's', from: T, to: T + 900 }
    const pegs = [range(1, 30, { family: 'pegs' }), range(50, 100, { family: 'pegs' })]
    expect(coverageOf(ledger(pegs), young).status).toBe('partial')
    const since = { block_number: 60, block_time: T + 600 }
    expect(coverageOf(ledger(pegs), { ...young, since })).toMatchObject({ status: 'complete', measured_from: at(600) })
  })

  test('counts blocks that were read for some stables only for those', () => {
    const some = ledger([
      range(1, 40, { family: 'pegs' }),
      range(41, 60, { family: 'pegs', stables: ['a', 'b'] }),
      range(61, 100, { family: 'pegs' }),
    ])
    const of = (stable?: string) => coverageOf(some, { families: ['pegs'], stable, from: T + 10, to: T + 900 })
    expect([of('a').status, of('b').status]).toEqual(['complete', 'complete'])
    for (const stable of ['c', undefined])
      expect(of(stable).missing).toEqual([
        { from: at(400), to: at(610), from_block: 41, to_block: 60, reason: 'not_read' },
      ])
  })

  test('of a stable that was listed later begins when it was listed', () => {
    const unsampled = (to: number | null) => () => [
      { from_block: 10, to_block: to, from: T + 100, to: to && T + to * 10 },
    ]
    const pegs = [range(1, 100, { family: 'pegs' }), range(1, 100, { family: 'state' })]
    const of = (to: number | null, family: Family = 'pegs') =>
      coverageOf(ledger(pegs, { unsampled: unsampled(to) }), {
        families: [family],
        logsOf: [],
        stable: 'a',
        since: { block_number: 10, block_time: T + 100 },
        from: T,
        to: T + 900,
      })
    expect(of(40)).toMatchObject({
      status: 'partial',
      missing: [{ from: at(100), to: at(400), from_block: 10, to_block: 39, reason: 'not_sampled' }],
      measured_from: at(400),
      measured_until: at(900),
    })
    expect(of(null)).toMatchObject({ status: 'unavailable', measured_from: null, measured_until: null })
    expect(of(null, 'state').status).toBe('complete')
  })

  test('names what the node no longer has, and flows without a value where values are asked for', () => {
    const gap = (family: Family, from_block: number, to_block: number): TimedGap => {
      const { from_time, to_time } = range(from_block, to_block)
      return { family, from_block, to_block, from_time, to_time, reason: 'pruned' }
    }
    const pruned = ledger([range(1, 100), range(50, 100, { family: 'pegs' })], {
      gaps: [gap('pegs', 1, 49), gap('logs', 20, 30)],
    })
    expect(coverageOf(pruned, { families: ['pegs'], from: T + 10, to: T + 900 }).missing).toMatchObject([
      { to: at(500), to_block: 49, reason: 'unavailable' },
    ])
    expect(coverageOf(pruned, logs(10, 900)).status).toBe('complete')
    expect(coverageOf(pruned, logs(10, 900, { isPriced: true })).missing).toEqual([
      { from: at(200), to: at(300), from_block: 20, to_block: 30, reason: 'unpriced' },
    ])
  })

  /** With a job that has searched these stretches, in seconds after T. */
  const searched = (...stretches: [number, number][]) => ({
    searches: [
      { stretches: stretches.map(([from, until]) => ({ from: T + from, until: T + until })), late_seconds: 60 },
    ],
  })
  const gap = (from: number, to: number, reason = 'not_searched') => ({
    from: at(from),
    to: at(to),
    from_block: null,
    to_block: null,
    reason,
  })

  test('of a search lists every stretch in which its slots were not run', () => {
    const whole = ledger([range(1, 100)], { started_at: T - 1000 })
    const missing = (...stretches: [number, number][]) => coverageOf(whole, logs(105, 900, searched(...stretches)))
    expect(missing([0, 850])).toMatchObject({ status: 'complete', missing: [] })
    expect(missing([105, 900]).missing).toEqual([])
    expect(missing([0, 300], [300, 839])).toMatchObject({ missing: [gap(839, 900)], measured_until: at(839) })
    expect(missing([400, 850])).toMatchObject({
      status: 'partial',
      message: `Missing from ${at(105)} to ${at(400)}, because it has not been searched yet.`,
      missing: [gap(105, 400)],
      measured_from: at(400),
      measured_until: at(900),
    })
    expect(missing([0, 200], [400, 700]).missing).toEqual([gap(200, 400), gap(700, 900)])
    expect(missing([0, 90], [950, 990]).missing).toEqual([gap(105, 900)])
    // Before its first block a chain has nothing to search.
    expect(coverageOf(whole, { ...logs(-500, 900, searched([10, 900])), from: 0 })).toMatchObject({
      status: 'complete',
      measured_from: at(10),
    })
  })

  test('of a search that has not begun is not partial: nothing can be said', () => {
    const whole = ledger([range(1, 100)])
    for (const asked of [logs(105, 900, searched()), logs(105, 900, searched([2000, 2900]))])
      expect(coverageOf(whole, asked)).toMatchObject({
        status: 'unavailable',
        missing: [gap(105, 900)],
        measured_from: null,
        measured_until: null,
      })
  })

  test('of a search that only a part of the answer depends on leaves the rest measured', () => {
    const [search] = searched().searches
    const searches = search ? [{ ...search, isPart: true }] : []
    expect(coverageOf(ledger([range(1, 100)]), logs(105, 900, { searches }))).toMatchObject({
      status: 'partial',
      missing: [gap(105, 900)],
      measured_from: at(105),
    })
  })

  test('keeps the reason of blocks that are missing in time that was not searched', () => {
    const holed = ledger([range(1, 40), range(51, 100)])
    const hole = { from: at(400), to: at(510), from_block: 41, to_block: 50, reason: 'not_read' }
    expect(coverageOf(holed, logs(105, 900, searched([800, 900]))).missing).toEqual([
      gap(105, 400),
      hole,
      gap(510, 800),
    ])
    expect(coverageOf(holed, logs(105, 900, searched([0, 450], [500, 900]))).missing).toEqual([hole])
    expect(coverageOf(holed, logs(105, 900, searched([0, 200], [480, 900]))).missing).toEqual([gap(200, 400), hole])
  })

  test('of several searches has what any of them left out', () => {
    const whole = ledger([range(1, 100)])
    const searches = [searched([0, 300], [500, 900]), searched([0, 400], [450, 900])].flatMap(
      ({ searches }) => searches,
    )
    expect(coverageOf(whole, logs(105, 900, { searches })).missing).toEqual([gap(300, 500)])
  })

  test('lists at most a hundred ranges, and how many there are', () => {
    const holes = ledger(Array.from({ length: 300 }, (_, i) => range(1 + i * 3, 2 + i * 3)))
    const { missing, missing_count } = coverageOf(holes, logs(10, 7995))
    expect([missing.length, missing_count]).toEqual([100, 266])
  })
})

test('with another state, the worse of both counts', () => {
  const whole = coverageOf(ledger([range(1, 100)]), logs(105, 900))
  const holed = coverageOf(ledger([range(1, 40), range(51, 100)]), logs(105, 900))
  expect(withState(whole, { status: 'complete', message: 'Quoted.' })).toMatchObject({ message: 'Quoted.' })
  expect(withState(whole, { status: 'unavailable', message: 'No pair.' })).toMatchObject({
    status: 'unavailable',
    message: 'No pair.',
  })
  expect(withState(holed, { status: 'complete', message: 'Quoted.' })).toMatchObject({ ...holed })
  expect(withState(holed, { status: 'unavailable', message: 'No pair.' })).toMatchObject({
    status: 'unavailable',
    message: `No pair. ${holed.message}`,
    missing: holed.missing,
  })
})

describe('for any stored ranges and any question', () => {
  /** A chain of blocks whose times repeat and jump, and a random ledger of it. */
  function randomLedger(seed: number) {
    const random = randomFor(seed, 'coverage')
    const times = [T]
    for (let block = 1; block <= 80; block++)
      times.push((times[block - 1] as number) + random.pick([0, 0, 1, 1, 2, 5, random.int(1, 40)]))
    const ranges: StoredRange[] = []
    for (const family of FAMILIES) {
      for (let i = random.int(0, 5); i > 0; i--) {
        const from_block = random.int(1, 80)
        const to_block = Math.min(80, from_block + random.int(0, 40))
        const stables = family === 'pegs' || family === 'state' ? random.pick([[], [], ['a'], ['a', 'b']]) : []
        const [from_time, to_time] = [times[from_block] as number, times[to_block] as number]
        ranges.push({ family, stables, from_block, to_block, from_time, to_time })
      }
    }
    const head = random.chance(0.5) ? { block_number: random.int(1, 80), seen_at: T + random.int(0, 900) } : null
    return { random, times, ledger: ledger(ranges, { head, started_at: T }) }
  }

  test('what was not searched hides no missing block, and nothing that was not searched is left out', () => {
    let apart = 0
    for (let seed = 1; seed <= 500; seed++) {
      const { random, ledger } = randomLedger(seed)
      const [one, other] = [T + random.int(0, 600), T + random.int(0, 600)]
      const asked = { families: ['logs'] as const, from: Math.min(one, other), to: Math.max(one, other) }
      const stretches = []
      for (let from = T + random.int(-20, 200); from < T + 700; ) {
        const until = from + random.int(1, 200)
        stretches.push({ from, until })
        from = until + random.int(1, 120)
      }
      const searches = [{ stretches, late_seconds: random.int(0, 30) }]
      const missing = missingRanges(ledger, { ...asked, searches })
      const context = JSON.stringify({ seed, stretches, missing, from: asked.from, to: asked.to })
      const holes = missingRanges(ledger, asked)
      expect(
        missing.filter(({ reason }) => reason !== 'not_searched'),
        context,
      ).toEqual(holes)
      const isApart = missing.every(
        ({ from, to }, i) => from <= to && from >= (missing[i - 1]?.to ?? asked.from) && to <= asked.to,
      )
      expect(isApart, context).toBe(true)
      const logs = ledger.ranges.filter(({ family }) => family === 'logs')
      const first = Math.max(asked.from, T, Math.min(...logs.map(({ from_time }) => from_time ?? 0)))
      const last = stretches.at(-1)?.until ?? 0
      const wrong: number[] = []
      for (let second = first + 1; second <= asked.to; second++) {
        const isSearched = stretches.some(({ from, until }) => from < second && second <= until)
        const isLate = second > last && last + (searches[0]?.late_seconds ?? 0) >= asked.to
        const listed = missing.find(({ from, to }) => from <= second && second <= to)
        if (logs.length > 0 && !isSearched && !isLate && !listed) wrong.push(second)
        const edges = missing.some(({ from, to }) => from === second || to === second)
        if (isSearched && !edges && listed?.reason === 'not_searched') wrong.push(second)
      }
      expect(wrong, context).toEqual([])
      if (holes.length > 0 && missing.length > holes.length) apart += 1
    }
    expect(apart).toBeGreaterThan(50)
  })

  test('every missing block lies in a missing range, ranges do not overlap, and each holds a missing block', () => {
    let [holes, wholes] = [0, 0]
    for (let seed = 1; seed <= 4000; seed++) {
      const { random, times, ledger } = randomLedger(seed)
      const families = [random.pick(FAMILIES), ...FAMILIES.filter(() => random.chance(0.3))]
      const stable = random.pick([undefined, 'a', 'b', 'c'])
      const [one, other] = [T + random.int(0, 600), T + random.int(0, 600)]
      const [from, to] = [Math.min(one, other), Math.max(one, other)]
      const missing = missingRanges(ledger, { families, stable, from, to })
      const isStored = (family: Family, block: number) =>
        ledger.ranges.some(
          (range) =>
            range.family === family &&
            range.from_block <= block &&
            range.to_block >= block &&
            (range.stables.length === 0 || (stable !== undefined && range.stables.includes(stable))),
        )
      const isWhole = (block: number) => families.every((family) => isStored(family, block))
      const context = JSON.stringify({ seed, families, stable, from: from - T, to: to - T, missing })
      const newest = (family: Family) => Math.max(0, ...times.map((_, block) => (isStored(family, block) ? block : 0)))
      for (let block = 1; block <= 80; block++) {
        const time = times[block] as number
        if (time < from || time > to || isWhole(block)) continue
        // The newest blocks may be about to be read, or be none that the node had.
        const isTail = families.every((family) => isStored(family, block) || block > newest(family))
        const late = families.some((family) => {
          const last = newest(family)
          if (isStored(family, block) || last >= block) return false
          const isAtHead = ledger.head !== null && last >= ledger.head.block_number && to - ledger.head.seen_at <= 60
          return last === 0 || (to > (times[last] as number) + 10 && !isAtHead)
        })
        if (isTail && !late) continue
        holes += 1
        expect(
          missing.some((range) => range.from <= time && time <= range.to),
          `block ${block}: ${context}`,
        ).toBe(true)
      }
      for (const [i, range] of missing.entries()) {
        expect(range.from >= from && range.to <= to && range.from <= range.to, context).toBe(true)
        expect(i === 0 || range.from >= (missing[i - 1]?.to ?? 0), context).toBe(true)
        const [first, last] = [range.from_block ?? 1, range.to_block ?? 81]
        const blocks = Array.from({ length: last - first + 1 }, (_, n) => first + n)
        expect(
          blocks.some((block) => block > 80 || !isWhole(block)),
          context,
        ).toBe(true)
      }
      const status = coverageOf(ledger, { families, logsOf: [], stable, from, to }).status
      if (missing.length === 0) wholes += 1
      expect(status === 'complete', context).toBe(missing.length === 0)
    }
    expect(Math.min(holes, wholes)).toBeGreaterThan(200)
  })
})

describe('an event that is not understood', () => {
  const [X, Y] = ['0x20c0a', '0x20c0b']
  const iso = (seconds: number): string => isoSeconds(new Date((T + seconds) * 1000))
  const stored = FAMILIES.map((family) => range(1, 100, { family }))
  const blind = (emitter: Emitter, contract: string = emitter) =>
    ledger(stored, { unknown: [{ emitter, contract, from_block: 40, from_time: T + 400 }] })
  const asks: Record<string, Asked> = {
    peg: { families: ['pegs'], stable: X, from: T + 100, to: T + 900 },
    state: { families: ['state'], stable: X, from: T + 100, to: T + 900 },
    roles: { families: ['catalogue'], stable: X, from: T + 100, to: T + 900 },
    holders: { families: ['transfers'], stable: X, from: T + 100, to: T + 900 },
    issuance: { families: ['logs'], logsOf: ['token'], stable: X, from: T + 100, to: T + 900 },
    fees: { families: ['logs'], logsOf: ['fees'], from: T + 100, to: T + 900 },
    flows: { families: ['logs'], logsOf: OF_FLOWS, from: T + 100, to: T + 900 },
  }
  const partialOf = (found: Ledger): string[] =>
    Object.keys(asks).filter((name) => coverageOf(found, asks[name] as Asked).status === 'partial')

  test('makes those answers partial that it may change, and no other', () => {
    expect(partialOf(blind('token', X))).toEqual(['state', 'roles', 'holders', 'issuance', 'flows'])
    expect(partialOf(blind('token', Y))).toEqual(['flows'])
    expect(partialOf(blind('exchange'))).toEqual(['peg', 'flows'])
    expect(partialOf(blind('policies'))).toEqual(['state'])
    expect(partialOf(blind('factory'))).toEqual(['roles'])
    expect(partialOf(blind('fees'))).toEqual(['fees'])
    expect(partialOf(blind('guard'))).toEqual(['holders'])
    expect(partialOf(blind('channels'))).toEqual(['holders'])
    expect(partialOf(blind('zones'))).toEqual(['flows'])
    expect(partialOf(blind('other'))).toEqual([])
  })

  test('counts from its block on, apart from blocks that are missing, and changes nothing before', () => {
    const { missing, status } = coverageOf(blind('token', X), { ...asks.state, to: T + 2000 } as Asked)
    expect(status).toBe('partial')
    expect(missing).toEqual([
      { from: iso(400), to: iso(1000), from_block: 40, to_block: null, reason: 'unknown_event' },
      { from: iso(1000), to: iso(2000), from_block: 101, to_block: null, reason: 'not_read' },
    ])
    expect(coverageOf(blind('token', X), { ...asks.state, to: T + 399 } as Asked).status).toBe('complete')
  })
})
