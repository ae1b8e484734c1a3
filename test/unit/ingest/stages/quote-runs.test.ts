import { expect, test } from 'vitest'
import type { Quote } from '../../../../ingest/sources/quotes.js'
import { type QuotedBlock, quoteRuns, readRuns } from '../../../../ingest/stages/quote-runs.js'
import { randomFor } from '../../../../local/chain/random.js'

const STABLES = ['0xa', '0xb', '0xc', '0xd']
const NONE: Quote = { status: 'no_liquidity', sellMicros: null, buyMicros: null }
const quoteOf = (price: number): Quote =>
  price === 0 ? NONE : { status: 'quoted', sellMicros: 1_000_000 - price, buyMicros: 1_000_000 + price }

type History = { blocks: QuotedBlock[]; quotes: Map<string, Quote>[] }

/**
 * A batch in which logs change quotes and at times only touch a book. With `silent`, one of its blocks changes quotes for
 * good without a log, as new rules of the chain may.
 */
function history(seed: number, silent: boolean): History {
  const random = randomFor(seed, 'quotes')
  const prices = new Map(STABLES.map((stable) => [stable, random.int(0, 3)]))
  const count = random.int(1, 40)
  const newRules = silent ? random.int(0, count - 1) : -1
  const blocks: QuotedBlock[] = []
  const quotes: Map<string, Quote>[] = []
  for (let i = 0; i < count; i++) {
    const changed = new Set(STABLES.filter(() => random.chance(0.15)))
    for (const stable of changed) prices.set(stable, random.int(0, 3))
    if (i === newRules)
      for (const stable of STABLES) if (random.chance(0.7)) prices.set(stable, (prices.get(stable) ?? 0) + 4)
    const stables = STABLES.filter(() => random.chance(0.97))
    blocks.push({ stables, isChild: !random.chance(0.02), mayChange: (stable) => changed.has(stable) })
    quotes.push(new Map(stables.map((stable) => [stable, quoteOf(prices.get(stable) ?? 0)])))
  }
  return { blocks, quotes }
}

async function readAll({ blocks, quotes }: History): Promise<{ found: Map<string, Quote>[]; reads: number }> {
  let reads = 0
  const found = await readRuns(blocks, quoteRuns(blocks), async (wanted) => {
    reads += wanted.flat().length
    return wanted.map((stables, i) => stables.map((stable) => quotes[i]?.get(stable) as Quote))
  })
  return { found, reads }
}

test.for([
  ['are those of each block', false, 0.75],
  ['are those of each block, also if a block changes some without a log', true, 0.9],
] as const)('quotes %s, and fewer are read than there are', async ([, silent, share]) => {
  let [reads, all] = [0, 0]
  for (let seed = 0; seed < 1000; seed++) {
    const made = history(seed, silent)
    const read = await readAll(made)
    expect(read.found, `seed ${seed}`).toEqual(made.quotes)
    reads += read.reads
    all += made.quotes.reduce((sum, { size }) => sum + size, 0)
  }
  expect(reads / all).toBeLessThan(share)
})

test('of a hundred blocks without a change two are read, and all if the ends differ or are failures', async () => {
  const blocks = Array.from(
    { length: 100 },
    (): QuotedBlock => ({ stables: ['0xa'], isChild: true, mayChange: () => false }),
  )
  const quotes = (of: (i: number) => Quote) => blocks.map((_, i) => new Map([['0xa', of(i)]]))
  const failed: Quote = { status: 'failed', sellMicros: null, buyMicros: null }
  expect((await readAll({ blocks, quotes: quotes(() => quoteOf(1)) })).reads).toBe(2)
  expect((await readAll({ blocks, quotes: quotes((i) => quoteOf(i < 50 ? 1 : 2)) })).reads).toBe(100)
  expect((await readAll({ blocks, quotes: quotes(() => failed) })).reads).toBe(100)
})

test('a block that is not a child of the one before, and one whose predecessor was not asked about, begin a run', () => {
  const block = (isChild: boolean, stables = ['0xa']): QuotedBlock => ({ stables, isChild, mayChange: () => false })
  expect(quoteRuns([block(false), block(true), block(false), block(true, []), block(true)])).toEqual([
    { stable: '0xa', first: 0, last: 1 },
    { stable: '0xa', first: 2, last: 2 },
    { stable: '0xa', first: 4, last: 4 },
  ])
})
