// Quotes from logs alone against those of the local node's exchange, in the markets of many seeds and in the hostile one; and
// what they cost: replay, a quote, a block of a thousand stables, a book of a hundred thousand orders.
import type { Book, Side } from '../../clickhouse/exchange/book.js'
import { type ExchangeBlock, OrderBooks } from '../../clickhouse/exchange/books.js'
import { type Question, quote } from '../../clickhouse/exchange/quote.js'
import { type Rules, rulesAt } from '../../clickhouse/exchange/rules.js'
import { booksOf, snapshotOf } from '../../clickhouse/exchange/snapshots.js'
import { StandingQuotes } from '../../clickhouse/exchange/standing-quotes.js'
import { DEPTH_SIZES, ONE_TOKEN, REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { createRpc } from '../../local/chain/rpc.js'
import { type BareLog, placed } from '../support/exchange-histories.js'
import {
  type Comparison,
  compareQuotes,
  exchangeLogs,
  genesisBooks,
  questionsAbout,
} from '../support/exchange-replay.js'
import { ATTACKS } from '../support/hostile-market/attacks.js'
import { CALM_BLOCKS, PREPARING, PREPARING_BLOCKS, startHostileMarket } from '../support/hostile-market/market.js'
import { ownChain } from '../support/own-chain.js'
import { randoms } from '../support/randoms.js'
import { t12Node } from '../support/t12/node.js'

const SEEDS = Number(process.argv[2] ?? 20)
const BLOCKS = 180

const rulesOf = (...forks: string[]): Rules =>
  rulesAt(
    forks.map((name) => ({ name, activation_time: 0 })),
    0,
  )
const [T4, T12] = [rulesOf('T3'), rulesOf('T3', 'T5', 'T12')]

const totals = new Map<string, { asked: number; differences: number; contradictions: number }>()
function note(market: string, { asked, answers, differences, books }: Comparison & { books: OrderBooks }): void {
  const contradictions = [...books.contradictions.values()].reduce((sum, count) => sum + count, 0)
  const total = totals.get(market) ?? { asked: 0, differences: 0, contradictions: 0 }
  totals.set(market, {
    asked: total.asked + asked,
    differences: total.differences + differences.length,
    contradictions: total.contradictions + contradictions,
  })
  console.log(market, asked, Object.fromEntries(answers), 'differences', differences.length, differences.slice(0, 3))
}

/** Milliseconds of CPU that `work` takes. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function replaySpeed(rpcUrl: string, head: number): Promise<void> {
  const rpc = createRpc(rpcUrl)
  const byBlock = await exchangeLogs(rpc, head)
  const blocks: ExchangeBlock[] = [...byBlock].map(([number, logs]) => ({ number, rules: T4, logs }))
  const logs = blocks.reduce((sum, block) => sum + block.logs.length, 0)
  const genesis = snapshotOf(await genesisBooks(rpc))
  const rounds = 50
  let books = booksOf(genesis)
  const replay = cpuMs(() => {
    for (let i = 0; i < rounds; i++) {
      books = booksOf(genesis)
      for (const block of blocks) books.apply(block)
    }
  })
  const questions = questionsAbout([...books.tokens.keys()].slice(1), 7)
  console.log(
    `replay: ${Math.round((rounds * blocks.length * 1000) / replay)} blocks/s, ${Math.round((rounds * logs * 1000) / replay)} logs/s`,
  )
  for (const [name, rules] of Object.entries({ T4, T12 })) {
    const quotes = cpuMs(() => {
      for (let i = 0; i < rounds; i++) for (const question of questions) quote(books, question, rules)
    })
    console.log(`quote at ${name}: ${((quotes * 1000) / (rounds * questions.length)).toFixed(2)} us`)
  }
}

const addressOf = (n: number): string => `0x20c0${n.toString(16).padStart(36, '1')}`
const order = (id: number, token: string, amount: bigint, isBid: boolean, tick: number): BareLog => ({
  ...{ name: 'OrderPlaced', address: '' },
  args: { orderId: BigInt(id), maker: addressOf(id % 50), token, amount, isBid, tick, isFlipOrder: false, flipTick: 0 },
})

/** A block of 1,000 stables with 40 orders each, of whose books some change. */
function thousandStables(): void {
  const random = randoms(1)
  const stables = Array.from({ length: 1000 }, (_, n) => addressOf(n))
  let id = 0
  const logs = stables.flatMap((token, n): BareLog[] => {
    const quoteToken = n % 3 === 2 ? (stables[n - 1] as string) : REFERENCE_STABLE
    const orders = Array.from({ length: 40 }, (_, i) =>
      order(
        ++id,
        token,
        BigInt(100 + random(5000)) * ONE_TOKEN,
        i % 2 === 0,
        (i % 2 === 0 ? -10 : 10) * (1 + (i % 10)),
      ),
    )
    return [
      { name: 'TokenCreated', address: '', args: { token, quoteToken } },
      { name: 'PairCreated', address: '', args: { base: token, quote: quoteToken } },
      ...orders,
    ]
  })
  for (const [sizes, name] of [
    [[ONE_TOKEN], 'two quotes each'],
    [[ONE_TOKEN, ...DEPTH_SIZES.map((size) => BigInt(size) * ONE_TOKEN)], 'ten quotes each'],
  ] as const) {
    const books = new OrderBooks()
    books.apply({ number: 0, rules: T12, logs: placed(logs) })
    const standing = new StandingQuotes(books, T12)
    const all = cpuMs(() => {
      for (const stable of stables)
        for (const amount of sizes) {
          standing.ask({ from: stable, to: REFERENCE_STABLE, exact: 'in', amount })
          standing.ask({ from: REFERENCE_STABLE, to: stable, exact: 'out', amount })
        }
    })
    let next = id
    for (const changed of [0, 5, 50]) {
      const blocks = Array.from({ length: 2000 }, () =>
        placed(
          Array.from({ length: changed }, () =>
            order(++next, stables[random(1000)] as string, 100n * ONE_TOKEN, random(2) === 0, 0),
          ),
        ),
      )
      let number = books.block as number
      const spent = cpuMs(() => {
        for (const block of blocks) standing.update(books.apply({ number: ++number, rules: T12, logs: block }), T12)
      })
      console.log(
        `1,000 stables, ${name}, ${changed} books changed: ${(spent / blocks.length).toFixed(4)} ms CPU a block`,
      )
    }
    console.log(`1,000 stables, ${name}, all asked: ${all.toFixed(1)} ms`)
  }
}

/** A book of 100,000 orders, at one tick and at all of them. */
function deepBook(): void {
  const token = addressOf(1)
  const random = randoms(1)
  for (const ticks of [1, 401]) {
    const logs: BareLog[] = [
      { name: 'TokenCreated', address: '', args: { token, quoteToken: REFERENCE_STABLE } },
      { name: 'PairCreated', address: '', args: { base: token, quote: REFERENCE_STABLE } },
      ...Array.from({ length: 100_000 }, (_, i) =>
        order(i + 1, token, 100n * ONE_TOKEN + BigInt(random(1_000_000_000)), true, ((i % ticks) - (ticks >> 1)) * 10),
      ),
    ]
    const books = new OrderBooks()
    const block = { number: 1, rules: T12, logs: placed(logs) }
    const applied = cpuMs(() => books.apply(block))
    const side: Side = (books.bookOf(token, REFERENCE_STABLE) as Book).bids
    const all = side.levels.reduce((sum, level) => sum + level.base, 0n)
    const questions = Array.from({ length: 500 }, (_, i): Question => {
      const amount = (all * BigInt(i)) / 500n
      return { from: token, to: REFERENCE_STABLE, exact: i % 2 === 0 ? 'in' : 'out', amount: (amount * 95n) / 100n }
    })
    for (const [name, rules] of Object.entries({ T4, T12 })) {
      const spent = cpuMs(() => {
        for (const question of questions) quote(books, question, rules)
      })
      console.log(
        `100,000 orders at ${ticks} ticks, quote at ${name}: ${((spent * 1000) / questions.length).toFixed(1)} us`,
      )
    }
    let json = ''
    const saved = cpuMs(() => {
      json = JSON.stringify(snapshotOf(books))
    })
    const restored = cpuMs(() => {
      booksOf(JSON.parse(json))
    })
    console.log(
      `100,000 orders at ${ticks} ticks: applied in ${applied.toFixed(0)} ms, snapshot of ${(json.length / 1e6).toFixed(1)} MB in ${saved.toFixed(0)} ms, restored in ${restored.toFixed(0)} ms`,
    )
  }
}

thousandStables()
deepBook()
for (let seed = 1; seed <= SEEDS; seed++) {
  const chain = await ownChain({ seed, historyBlocks: BLOCKS })
  try {
    const compares = (block: number): boolean => block % 12 === seed % 12
    note('market at T4', await compareQuotes(createRpc(chain.rpcUrl), chain.head, { rules: T4, compares }))
    const node = await t12Node(chain.rpcUrl, { actions: seed, blocksASecond: 2 })
    try {
      const rarely = (block: number): boolean => block % 36 === seed % 36
      note('market at T12', await compareQuotes(createRpc(node.url), chain.head, { rules: T12, compares: rarely }))
    } finally {
      await node.close()
    }
    if (seed === SEEDS) await replaySpeed(chain.rpcUrl, chain.head)
  } finally {
    await chain.remove()
  }
}

const attacks = Object.keys(ATTACKS)
const rounds = 3
const market = await startHostileMarket(1, CALM_BLOCKS + PREPARING_BLOCKS + attacks.length * rounds)
try {
  await market.mine(CALM_BLOCKS)
  let head = await market.mine(PREPARING_BLOCKS, PREPARING)
  for (const attack of attacks) head = await market.mine(rounds, attack)
  note('hostile market at T4', await compareQuotes(createRpc(market.rpcUrl), head, { rules: T4, compares: () => true }))
  const node = await t12Node(market.rpcUrl, { actions: 1, blocksASecond: 2 })
  try {
    const compares = (block: number): boolean => block % 4 === 0
    note('hostile market at T12', await compareQuotes(createRpc(node.url), head, { rules: T12, compares }))
  } finally {
    await node.close()
  }
} finally {
  await market.stop()
}
console.log(Object.fromEntries(totals))
