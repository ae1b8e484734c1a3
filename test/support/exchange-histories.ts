import fc from 'fast-check'
import type { ForkTime } from '../../clickhouse/chain/forks.js'
import type { ExchangeBlock, ExchangeLog } from '../../clickhouse/exchange/books.js'
import type { Question } from '../../clickhouse/exchange/quote.js'
import { rulesAt } from '../../clickhouse/exchange/rules.js'
import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'

const MOST = 2n ** 128n - 1n
export const tokenOf = (digit: string): string => `0x20c0${digit.repeat(36)}`
const TOKENS = ['a', 'b', 'c', 'd'].map(tokenOf) as [string, string, string, string]
const EVERY_TOKEN = [REFERENCE_STABLE, ...TOKENS]

/** A log of the exchange without its place. */
export type BareLog = ExchangeLog extends infer Log ? (Log extends unknown ? Omit<Log, 'logIndex'> : never) : never
export const placed = (logs: readonly BareLog[]): ExchangeLog[] =>
  logs.map((log, logIndex) => ({ ...log, logIndex }) as ExchangeLog)

type Step = {
  kind: 'place' | 'fill' | 'cancel' | 'pause' | 'requote' | 'create' | 'open'
  token: string
  other: string
  amount: bigint
  isBid: boolean
  tick: number
  flipTick: number
  isFlip: boolean
  /** Which of the orders, and how much of what remains, in hundredths; all from 60 on. */
  which: number
  share: number
  flips: boolean
}

const amount = fc.oneof(
  fc.bigInt(1n, 300n),
  fc.bigInt(1n, 10n ** 13n),
  fc.bigInt(1n, 10n ** 13n),
  fc.bigInt(2n ** 126n, MOST),
  fc.bigInt((MOST * 98n) / 100n, MOST),
)
/** Few, so that several orders share a level. */
const tick = fc.constantFrom(-2000, -1990, -10, 0, 20, 2000)
/** Most orders and questions concern two of the tokens, so that their books are deep. */
const token = fc.oneof(...[6, 4, 1, 1].map((weight, i) => ({ arbitrary: fc.constant(TOKENS[i] as string), weight })))
const kinds = { place: 20, fill: 8, cancel: 2, pause: 1, requote: 1, create: 1, open: 1 }
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    ...Object.entries(kinds).map(([kind, weight]) => ({ arbitrary: fc.constant(kind as Step['kind']), weight })),
  ),
  token,
  other: fc.constantFrom(...EVERY_TOKEN),
  ...{ amount, tick, flipTick: tick, isBid: fc.boolean(), isFlip: fc.boolean(), flips: fc.boolean() },
  which: fc.nat(1000),
  share: fc.nat(99),
})

/** An amount, or one near to what the best orders hold together: there, rounding decides which order is the last. */
type Size = { amount: bigint } | { orders: number; isBid: boolean; off: bigint; inQuote: boolean }
const size: fc.Arbitrary<Size> = fc.oneof(
  fc.record({ amount: fc.oneof(amount, fc.constantFrom(0n, MOST)) }),
  ...[0, 1].map(() =>
    fc.record({ orders: fc.nat(5), isBid: fc.boolean(), off: fc.bigInt(-2n, 2n), inQuote: fc.boolean() }),
  ),
)
const [A, B] = TOKENS
const ends = fc.oneof(
  {
    arbitrary: fc.constantFrom([A, REFERENCE_STABLE], [REFERENCE_STABLE, A], [A, B], [B, REFERENCE_STABLE]),
    weight: 3,
  },
  { arbitrary: fc.tuple(fc.constantFrom(...EVERY_TOKEN), fc.constantFrom(...EVERY_TOKEN)), weight: 1 },
)
const question = fc.record({ ends, exact: fc.constantFrom('in' as const, 'out' as const), size })

/** Blocks of logs such as the exchange emits, each with questions to ask at its end, and when the forks became active. */
export type History = { forks: ForkTime[]; blocks: Array<ExchangeBlock & { questions: Question[] }> }

/** Random histories. A block's number is its time. */
export const histories = fc
  .record({
    blocks: fc.array(
      fc.record({
        steps: fc.array(step, { maxLength: 10 }),
        questions: fc.array(question, { minLength: 6, maxLength: 12 }),
      }),
      { minLength: 1, maxLength: 14 },
    ),
    forks: fc.array(fc.oneof(fc.constant(0), fc.nat(14)), { minLength: 3, maxLength: 3 }),
  })
  .map(({ blocks, forks }): History => {
    const [T3 = 0, T5 = 0, T12 = 0] = forks.toSorted((a, b) => a - b)
    return historyOf(blocks, [
      { name: 'T3', activation_time: T3 },
      { name: 'T5', activation_time: T5 },
      { name: 'T12', activation_time: T12 },
    ])
  })

/** Three makers in turns. */
const makerOf = (orderId: bigint): string => `0x${(orderId % 3n).toString().padStart(40, '0')}`

type Live = {
  id: bigint
  maker: string
  token: string
  amount: bigint
  remaining: bigint
  isBid: boolean
  tick: number
  flipTick: number | null
}
type Steps = { steps: Step[]; questions: Array<{ ends: readonly string[]; exact: 'in' | 'out'; size: Size }> }

/** What the exchange would log if these steps were taken; those that it would refuse are left out. */
function historyOf(blocks: readonly Steps[], forks: ForkTime[]): History {
  const quoteTokens = new Map<string, string>()
  const pairs = new Set<string>()
  let orders: Live[] = []
  let newestId = 0n

  const isQuotedIn = (token: string, other: string): boolean =>
    token === other || (quoteTokens.has(token) && isQuotedIn(quoteTokens.get(token) as string, other))
  const create = (token: string, quoteToken: string): BareLog[] => {
    if (quoteTokens.has(token) || !(quoteToken === REFERENCE_STABLE || quoteTokens.has(quoteToken))) return []
    quoteTokens.set(token, quoteToken)
    return [{ name: 'TokenCreated', address: '', args: { token, quoteToken } }]
  }
  const open = (base: string): BareLog[] => {
    const quote = quoteTokens.get(base)
    if (quote === undefined || pairs.has(`${base} ${quote}`)) return []
    pairs.add(`${base} ${quote}`)
    return [{ name: 'PairCreated', address: '', args: { base, quote } }]
  }
  const place = (token: string, terms: Omit<Live, 'id' | 'maker' | 'token' | 'remaining'>): BareLog[] => {
    if (!quoteTokens.has(token)) return []
    const { flipTick, ...rest } = terms
    const order = { id: ++newestId, maker: makerOf(newestId), token, remaining: terms.amount, ...terms }
    orders.push(order)
    const args = {
      orderId: order.id,
      maker: order.maker,
      token,
      ...rest,
      isFlipOrder: flipTick !== null,
      flipTick: flipTick ?? 0,
    }
    return [...open(token), { name: 'OrderPlaced', address: '', args }]
  }
  const fill = (order: Live, { share, flips }: Step, flipsInPlace: boolean): BareLog[] => {
    const { id, maker, token, remaining, amount, isBid, tick, flipTick } = order
    const amountFilled = share >= 60 ? remaining : (remaining * BigInt(share)) / 100n
    const isPartial = amountFilled < remaining
    const filled: BareLog = {
      ...{ name: 'OrderFilled', address: '', args: { orderId: id, amountFilled, partialFill: isPartial } },
    }
    order.remaining -= amountFilled
    if (isPartial) return [filled]
    orders = orders.filter((other) => other !== order)
    if (flipTick === null) return [filled]
    const flipped = { amount, isBid: !isBid, tick: flipTick, flipTick: tick }
    if (!flipsInPlace) return [filled, ...(flips ? place(token, flipped) : [])]
    if (!flips) return [filled, { name: 'FlipFailed', address: '', args: { orderId: id } }]
    orders.push({ id, maker, token, remaining: amount, ...flipped })
    return [filled, { name: 'OrderFlipped', address: '', args: { orderId: id, maker, token, ...flipped } }]
  }

  const taken = (one: Step, flipsInPlace: boolean): BareLog[] => {
    const { kind, token, other } = one
    const order = orders[one.which % Math.max(orders.length, 1)]
    switch (kind) {
      case 'create':
        return create(token, other)
      case 'open':
        return open(token)
      case 'place': {
        const { amount, isBid, tick, flipTick, isFlip } = one
        return place(token, { amount, isBid, tick, flipTick: isFlip ? flipTick : null })
      }
      case 'fill':
        return order ? fill(order, one, flipsInPlace) : []
      case 'cancel':
        orders = orders.filter((kept) => kept !== order)
        return order ? [{ name: 'OrderCancelled', address: '', args: { orderId: order.id } }] : []
      case 'pause':
        if (!quoteTokens.has(token)) return []
        return [{ name: 'PauseStateUpdate', address: token, args: { isPaused: one.isBid } }]
      case 'requote':
        if (!quoteTokens.has(token) || !(other === REFERENCE_STABLE || quoteTokens.has(other))) return []
        if (isQuotedIn(other, token)) return []
        quoteTokens.set(token, other)
        return [{ name: 'QuoteTokenUpdate', address: token, args: { newQuoteToken: other } }]
    }
  }
  const amountOf = (one: Size, ends: readonly string[]): bigint => {
    if ('amount' in one) return one.amount
    const { isBid } = one
    const near = orders.filter((order) => ends.includes(order.token) && order.isBid === isBid)
    const best = near.sort((a, b) => (isBid ? b.tick - a.tick : a.tick - b.tick)).slice(0, one.orders)
    const held = best.map(({ remaining, tick }) =>
      one.inQuote ? (remaining * BigInt(100_000 + tick) + (isBid ? 0n : 99_999n)) / 100_000n : remaining,
    )
    const sum = held.reduce((total, amount) => total + amount, one.off)
    return sum < 0n ? 0n : sum > MOST ? MOST : sum
  }

  const first = [
    ...create(TOKENS[0], REFERENCE_STABLE),
    ...create(TOKENS[1], TOKENS[0]),
    ...create(TOKENS[2], REFERENCE_STABLE),
  ]
  const made = blocks.map(({ steps, questions }, number) => {
    const rules = rulesAt(forks, number)
    const logs = steps.flatMap((one) => taken(one, rules.flipsInPlace))
    return {
      ...{ number, rules, logs: placed(number === 0 ? [...first, ...logs] : logs) },
      questions: questions.map(({ ends: [from = '', to = ''], exact, size: one }) => ({
        ...{ from, to, exact, amount: amountOf(one, [from, to]) },
      })),
    }
  })
  return { forks, blocks: made }
}
