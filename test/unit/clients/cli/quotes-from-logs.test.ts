import { encodeAbiParameters, encodeEventTopics, type Hex, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { quotesFromLogs } from '../../../../clients/cli/src/verify/logs.js'
import type { Block, ChainNode, RawLog } from '../../../../clients/cli/src/verify/node.js'

const ABI = parseAbi([
  'event TokenCreated(address indexed token, string name, string symbol, string currency, address quoteToken, address admin, bytes32 salt)',
  'event PairCreated(bytes32 indexed key, address indexed base, address indexed quote)',
  'event OrderPlaced(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, bool isFlipOrder, int16 flipTick)',
  'event OrderFilled(uint128 indexed orderId, address indexed maker, address indexed taker, uint128 amountFilled, bool partialFill)',
])
const EXCHANGE: Hex = '0xdec0000000000000000000000000000000000000'
const [STABLE, REFERENCE] = ['1', '0'].map((end) => `0x20c0${end.padStart(36, '0')}`) as [Hex, Hex]
const MAKER: Hex = `0x${'4'.repeat(40)}`
const blockAt = (number: number): Block => ({ number, hash: '0x1', time: 1000 + number })

const place = (block: number, logIndex: number, address = EXCHANGE) => ({ address, blockNumber: block, logIndex })
const created = (at: ReturnType<typeof place>, currency: string): RawLog => ({
  ...at,
  topics: encodeEventTopics({ abi: ABI, eventName: 'TokenCreated', args: { token: STABLE } }) as Hex[],
  data: encodeAbiParameters(
    ['string', 'string', 'string', 'address', 'address', 'bytes32'].map((type) => ({ type })),
    ['A', 'A', currency, REFERENCE, MAKER, `0x${'0'.repeat(64)}`],
  ),
})
const opened = (at: ReturnType<typeof place>): RawLog => ({
  ...at,
  topics: encodeEventTopics({
    abi: ABI,
    eventName: 'PairCreated',
    args: { key: `0x${'0'.repeat(64)}`, base: STABLE, quote: REFERENCE },
  }) as Hex[],
  data: '0x',
})
const placed = (
  at: ReturnType<typeof place>,
  orderId: bigint,
  amount: bigint,
  isBid: boolean,
  tick: number,
): RawLog => ({
  ...at,
  topics: encodeEventTopics({
    abi: ABI,
    eventName: 'OrderPlaced',
    args: { orderId, maker: MAKER, token: STABLE },
  }) as Hex[],
  data: encodeAbiParameters(
    ['uint128', 'bool', 'int16', 'bool', 'int16'].map((type) => ({ type })),
    [amount, isBid, tick, false, 0],
  ),
})
const filled = (at: ReturnType<typeof place>, orderId: bigint, amount: bigint): RawLog => ({
  ...at,
  topics: encodeEventTopics({
    abi: ABI,
    eventName: 'OrderFilled',
    args: { orderId, maker: MAKER, taker: MAKER },
  }) as Hex[],
  data: encodeAbiParameters([{ type: 'uint128' }, { type: 'bool' }], [amount, true]),
})

test('quotes are those of the orders that stood at a block, whichever is asked for first', async () => {
  const logs = [
    opened(place(2, 0)),
    placed(place(2, 1), 1n, 5_000_000_000n, true, -10),
    placed(place(2, 2), 2n, 400_000n, false, 30),
    // Anybody may emit the same event.
    placed(place(2, 3, `0x${'9'.repeat(40)}`), 3n, 5_000_000_000n, true, 90),
    filled(place(4, 0), 1n, 4_999_500_000n),
  ]
  const node = { logs: async () => logs } as unknown as ChainNode
  const quotes = quotesFromLogs(node, 1337, blockAt(5))
  const none = { status: 'no_liquidity', amount: null }
  expect(await quotes.sample(STABLE, blockAt(4))).toEqual({ sell: none, buy: none })
  expect(await quotes.sample(STABLE, blockAt(3))).toEqual({ sell: { status: 'quoted', amount: 999_900n }, buy: none })
  expect((await quotes.sample(STABLE, blockAt(1))).sell.status).toBe('no_pair')
  const { single, depths } = await quotes.depth(STABLE, blockAt(3))
  expect(single.sell.amount).toBe(999_900n)
  expect(depths.map(({ size, sell }) => [size, sell.amount])).toEqual([
    [1_000, 999_900_000n],
    [10_000, null],
    [100_000, null],
    [1_000_000, null],
  ])
  expect((await quotes.sample(REFERENCE, blockAt(3))).sell.status).toBe('anchor')
})

test('a token has the currency of its creation', async () => {
  const factory: Hex = '0x20fc000000000000000000000000000000000000'
  for (const [currency, status] of [
    ['USD', 'quoted'],
    ['EUR', 'not_usd'],
  ] as const) {
    const logs = [
      created(place(1, 0, factory), currency),
      opened(place(2, 0)),
      placed(place(2, 1), 1n, 5_000_000n, true, 0),
    ]
    const quotes = quotesFromLogs({ logs: async () => logs } as unknown as ChainNode, 1337, blockAt(2))
    expect((await quotes.sample(STABLE, blockAt(2))).sell.status).toBe(status)
  }
})
