import { decodeEventLog, type Hex, parseAbi, toEventSelector } from 'viem'
import { apply, type Exchange, emptyExchange, type Log, quote } from '../../../../oracle/exchange.js'
import { REFERENCE } from '../../../../oracle/liquidity.js'
import { ANCHOR, DEPTH_SIZES, MOST_BOOKS, ONE_TOKEN, type Quotes, quoteOf, type Sample, without } from './formulas.js'
import type { Block, ChainNode, RawLog } from './node.js'

/** Every log that changes what the exchange quotes. */
const EVENTS = parseAbi([
  'event TokenCreated(address indexed token, string name, string symbol, string currency, address quoteToken, address admin, bytes32 salt)',
  'event QuoteTokenUpdate(address indexed updater, address indexed newQuoteToken)',
  'event PauseStateUpdate(address indexed updater, bool isPaused)',
  'event PairCreated(bytes32 indexed key, address indexed base, address indexed quote)',
  'event OrderPlaced(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, bool isFlipOrder, int16 flipTick)',
  'event OrderFilled(uint128 indexed orderId, address indexed maker, address indexed taker, uint128 amountFilled, bool partialFill)',
  'event OrderFlipped(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, int16 flipTick)',
  'event FlipFailed(uint128 indexed orderId, address indexed maker, bytes4 reason)',
  'event OrderCancelled(uint128 indexed orderId)',
])
const EXCHANGE_TOPICS = EVENTS.map((event) => toEventSelector(event))

/** The protocol's own contracts: any other could emit the same events. */
const FACTORY = '0x20fc000000000000000000000000000000000000'
const EXCHANGE = '0xdec0000000000000000000000000000000000000'
/** Twelve bytes, which the chain keeps for tokens. */
const TOKEN_PREFIX = `0x20c0${'0'.repeat(20)}`
const isOfProtocol = ({ address }: RawLog): boolean =>
  address === EXCHANGE || address === FACTORY || address.startsWith(TOKEN_PREFIX)

/** Since when quotes round at each order on the main network, in unix seconds (fork T12). */
const ROUNDS_BY_ORDER_FROM: Readonly<Record<number, number>> = { 4217: 1_791_900_000 }

/** The statuses of refused quotes. */
const STATUS_OF: Readonly<Record<string, string>> = {
  no_liquidity: 'no_liquidity',
  no_pair: 'no_pair',
  paused: 'paused',
}

/** A log with addresses in lower case. */
function decoded({ address, topics, data }: RawLog): Log {
  const { eventName, args } = decodeEventLog({ abi: EVENTS, topics: topics as [Hex], data })
  const lower = Object.entries(args ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' && value.startsWith('0x') ? value.toLowerCase() : value,
  ])
  return { name: eventName, address, args: Object.fromEntries(lower) }
}

/** What the exchange's quotes were at blocks, by a replay of all logs since the first block: no state is needed. */
export function quotesFromLogs(node: ChainNode, chainId: number, newest: Block): Quotes {
  let logs: Promise<RawLog[]> | undefined
  const currencies = new Map<string, string>()
  let replay = { exchange: emptyExchange(), next: 0, block: -1 }

  /** The exchange at the end of a block. */
  async function exchangeAt(number: number): Promise<Exchange> {
    logs ??= node.logs({ from: 1, to: newest.number }, EXCHANGE_TOPICS).then((emitted) => emitted.filter(isOfProtocol))
    const history = await logs
    if (number < replay.block) replay = { exchange: emptyExchange(), next: 0, block: -1 }
    const { exchange } = replay
    for (let log = history[replay.next]; log && log.blockNumber <= number; log = history[++replay.next]) {
      const { name, address, args } = decoded(log)
      const { token, currency } = args as { token: string; currency: string }
      if (name === 'TokenCreated') currencies.set(token, currency)
      // The tokens of the first block have no log of their creation: each is quoted in the reference.
      const base = name === 'PairCreated' ? (args as { base: string }).base : null
      if (base !== null && !exchange.quoteTokens.has(base)) exchange.quoteTokens.set(base, REFERENCE)
      apply(exchange, { name, address, args })
    }
    replay.block = number
    return exchange
  }

  async function sampleAt(stable: Hex, block: Block, size: bigint): Promise<Sample> {
    const exchange = await exchangeAt(block.number)
    if (!exchange.quoteTokens.has(stable)) exchange.quoteTokens.set(stable, REFERENCE)
    const from = ROUNDS_BY_ORDER_FROM[chainId]
    const forks = { T3: true, T12: from !== undefined && block.time >= from }
    const answer = (tokens: { from: string; to: string }, exact: 'in' | 'out') => {
      const quoted = quote(exchange, { ...tokens, exact, amount: size }, forks)
      return typeof quoted === 'bigint'
        ? quoteOf(size, quoted)
        : { status: STATUS_OF[quoted] ?? 'failed', amount: null }
    }
    return {
      sell: answer({ from: stable, to: REFERENCE }, 'in'),
      buy: answer({ from: REFERENCE, to: stable }, 'out'),
    }
  }

  return {
    sample: async (stable, block) => {
      if (stable === REFERENCE) return ANCHOR
      const { quoteTokens } = await exchangeAt(block.number)
      if ((currencies.get(stable) ?? 'USD') !== 'USD') return without('not_usd')
      const sample = await sampleAt(stable, block, ONE_TOKEN)
      let [token, books]: [string | undefined, number] = [stable, 0]
      for (; token !== undefined && token !== REFERENCE; token = quoteTokens.get(token)) books++
      return sample.sell.amount !== null && books > MOST_BOOKS ? without('too_deep') : sample
    },
    depth: async (stable, block) => ({
      single: await sampleAt(stable, block, ONE_TOKEN),
      depths: await Promise.all(
        DEPTH_SIZES.map(async (size) => ({ size, ...(await sampleAt(stable, block, BigInt(size) * ONE_TOKEN)) })),
      ),
    }),
  }
}
