import { describe, expect, test } from 'vitest'
import { RECEIVE_POLICY_GUARD } from '../../../../clickhouse/holders/transfers.js'
import { FEE_MANAGER, STABLECOIN_DEX } from '../../../../ingest/chain/addresses.js'
import type { Swap } from '../../../../ingest/stages/swaps.js'
import { accountOf, type Transfer, tokens, tradesIn, transaction } from '../../../support/dealings.js'

const [A, B, C, D] = tokens as [string, string, string, string]
const [ALICE, BOB, CAROL, DAVE] = ['a1', 'b2', 'c3', 'd4'].map(accountOf) as [string, string, string, string]
const [ROUTER, POOL, OTHER_POOL] = ['71', '72', '73'].map(accountOf) as [string, string, string]
const VIRTUAL = `0x58e21090${'fd'.repeat(10)}010203040506`

/** A swap of A for B in which `maker` bought A. */
const swapOf = (account: string, amountIn: bigint, amountOut: bigint, changes: Partial<Swap> = {}): Swap => ({
  account,
  path: [A, B],
  amountIn,
  amountOut,
  fills: [{ maker: DAVE, tokenIn: A, tokenOut: B, amountIn, amountOut }],
  logIndex: 90,
  txHash: '0xt1',
  ...changes,
})
/** The other way, B for A. */
const backOf = (account: string, amountIn: bigint, amountOut: bigint, changes: Partial<Swap> = {}): Swap =>
  swapOf(account, amountIn, amountOut, {
    path: [B, A],
    fills: [{ maker: DAVE, tokenIn: B, tokenOut: A, amountIn, amountOut }],
    ...changes,
  })

type Shown = [account: string, from: string, to: string, amountIn: bigint, amountOut: bigint]
const shown = (transfers: Transfer[], signer: string | null, swaps: Swap[] = []): Shown[] =>
  tradesIn(transaction(transfers), signer, swaps).map(({ account, from_token, to_token, amountIn, amountOut }) => [
    account,
    from_token,
    to_token,
    amountIn,
    amountOut,
  ])
const direct: Transfer[] = [
  [A, ALICE, BOB, 1_000n],
  [B, BOB, ALICE, 999n],
]

describe('who set out is the trader', () => {
  test('with all that a flow says', () => {
    expect(tradesIn(transaction(direct), ALICE)).toEqual([
      {
        kind: 'transfer',
        account: ALICE,
        from_token: A,
        to_token: B,
        path: [A, B],
        remote_chain: null,
        amountIn: 1_000n,
        amountOut: 999n,
        isClear: true,
        logIndex: 1,
        txHash: '0xt1',
      },
    ])
  })

  test('whoever gives first', () => {
    const expected: Shown[] = [[ALICE, A, B, 1_000n, 999n]]
    expect([shown(direct, ALICE), shown(direct.toReversed(), ALICE)]).toEqual([expected, expected])
    expect(shown(direct, BOB)).toEqual([[BOB, B, A, 999n, 1_000n]])
  })

  test('or who paid the fee for a signer that took no part', () => {
    const logs = transaction(direct, { payer: BOB })
    expect(tradesIn(logs, CAROL).map(({ account, isClear }) => [account, isClear])).toEqual([[BOB, true]])
    expect(tradesIn(logs, ALICE).map(({ account, isClear }) => [account, isClear])).toEqual([[ALICE, true]])
  })

  test('and is not known if a stranger signed and paid: the flow is not clear, and stands for who gave first', () => {
    expect(tradesIn(transaction(direct), CAROL).map(({ account, isClear }) => [account, isClear])).toEqual([
      [ALICE, false],
    ])
  })
})

describe('one trade is one flow', () => {
  const routed: Transfer[] = [
    [A, ALICE, ROUTER, 1_000n],
    [A, ROUTER, POOL, 1_000n],
    [B, POOL, ROUTER, 999n],
    [B, ROUTER, ALICE, 999n],
  ]
  const trade: Shown[] = [[ALICE, A, B, 1_000n, 999n]]

  test('user, router, pool', () => {
    expect(shown(routed, ALICE)).toEqual(trade)
  })

  test('through two pools, with the route through the token between', () => {
    const transfers: Transfer[] = [
      [A, ALICE, POOL, 1_000n],
      [C, POOL, OTHER_POOL, 998n],
      [B, OTHER_POOL, ALICE, 999n],
    ]
    expect(shown(transfers, ALICE)).toEqual(trade)
    expect(tradesIn(transaction(transfers), ALICE)[0]?.path).toEqual([A, C, B])
  })

  test('split over a pool and the exchange', () => {
    const transfers: Transfer[] = [
      [A, ALICE, ROUTER, 1_000n],
      [A, ROUTER, POOL, 400n],
      [B, POOL, ROUTER, 399n],
      [B, ROUTER, ALICE, 999n],
    ]
    expect(shown(transfers, ALICE, [swapOf(ROUTER, 600n, 600n)])).toEqual(trade)
    // The account may split by itself as well.
    const byItself: Transfer[] = [
      [A, ALICE, POOL, 400n],
      [B, POOL, ALICE, 399n],
    ]
    expect(shown(byItself, ALICE, [swapOf(ALICE, 600n, 600n)])).toEqual(trade)
  })

  test('less the fee that a router keeps in either token, and with what is given back', () => {
    const feeBefore = routed.with(1, [A, ROUTER, POOL, 990n])
    const feeAfter = routed.with(3, [B, ROUTER, ALICE, 989n])
    expect(shown(feeBefore, ALICE)).toEqual(trade)
    expect(shown(feeAfter, ALICE)).toEqual([[ALICE, A, B, 1_000n, 989n]])
    expect(shown([...routed, [A, ROUTER, ALICE, 50n], [B, POOL, ALICE, 2n]], ALICE)).toEqual([
      [ALICE, A, B, 950n, 1_001n],
    ])
  })

  test('of hops that the account made one by one', () => {
    const onwards = swapOf(ALICE, 990n, 980n, {
      path: [B, C],
      fills: [{ maker: DAVE, tokenIn: B, tokenOut: C, amountIn: 990n, amountOut: 980n }],
      logIndex: 91,
    })
    const [flow] = tradesIn(transaction(direct), ALICE, [swapOf(ALICE, 1n, 1n), { ...onwards, amountIn: 1_000n }])
    expect([flow?.from_token, flow?.to_token, flow?.amountIn, flow?.amountOut]).toEqual([A, C, 1_001n, 980n])
    expect(flow?.path).toEqual([A, B, C])
  })

  test('paid out to somebody else, by one who only pays', () => {
    const toDave: Transfer[] = routed.with(3, [B, ROUTER, DAVE, 999n])
    expect(shown(toDave, ALICE)).toEqual(trade)
    // A merchant who collects: the payer gives, the merchant gets.
    expect(shown(toDave, DAVE)).toEqual([[DAVE, A, B, 1_000n, 999n]])
  })

  test('of a contract that swaps for itself, whoever calls it', () => {
    expect(
      tradesIn(transaction([]), CAROL, [swapOf(BOB, 5n, 4n)]).map(({ account, isClear }) => [account, isClear]),
    ).toEqual([[BOB, true]])
  })

  test('of a user whose router signed', () => {
    const transfers: Transfer[] = [
      [A, ALICE, ROUTER, 1_000n],
      [B, ROUTER, ALICE, 989n],
    ]
    expect(shown(transfers, ROUTER, [swapOf(ROUTER, 990n, 990n)])).toEqual([[ALICE, A, B, 1_000n, 989n]])
  })

  test('through a virtual address, which only forwards', () => {
    const transfers: Transfer[] = [
      [A, ALICE, VIRTUAL, 1_000n],
      [A, VIRTUAL, BOB, 1_000n],
      [B, BOB, ALICE, 999n],
    ]
    expect(shown(transfers, ALICE)).toEqual(trade)
  })
})

describe('trades that have nothing to do with each other stay apart', () => {
  const other: Transfer[] = [
    [C, ALICE, CAROL, 500n],
    [D, CAROL, ALICE, 501n],
  ]

  test('of one account in one batch', () => {
    expect(shown([...direct, ...other], ALICE)).toEqual([
      [ALICE, A, B, 1_000n, 999n],
      [ALICE, C, D, 500n, 501n],
    ])
  })

  test('even if both meet the same maker on the exchange', () => {
    const swaps = [
      swapOf(ALICE, 10n, 9n),
      swapOf(ALICE, 20n, 19n, {
        path: [C, D],
        fills: [{ maker: DAVE, tokenIn: C, tokenOut: D, amountIn: 20n, amountOut: 19n }],
        logIndex: 91,
      }),
    ]
    expect(shown([], ALICE, swaps)).toEqual([
      [ALICE, A, B, 10n, 9n],
      [ALICE, C, D, 20n, 19n],
    ])
  })

  test('a payment in the same batch does not change what was traded', () => {
    expect(shown([...direct, [B, ALICE, DAVE, 700n], [A, ALICE, DAVE, 5n]], ALICE)).toEqual([
      [ALICE, A, B, 1_000n, 999n],
    ])
  })

  test('in each transaction of a block', () => {
    const logs = [...transaction(direct), ...transaction(direct, { first: 3, hash: '0xt2' })]
    expect(tradesIn(logs, ALICE).map(({ txHash, logIndex }) => [txHash, logIndex])).toEqual([
      ['0xt1', 1],
      ['0xt2', 4],
    ])
  })
})

describe('several tokens', () => {
  test('got for one are one flow each, and the one is divided in proportion', () => {
    const transfers: Transfer[] = [
      [A, ALICE, BOB, 1_000n],
      [B, BOB, ALICE, 600n],
      [C, BOB, ALICE, 300n],
    ]
    expect(shown(transfers, ALICE).sort()).toEqual([
      [ALICE, A, B, 666n, 600n],
      [ALICE, A, C, 334n, 300n],
    ])
    const positions = tradesIn(transaction(transfers), ALICE).map(({ logIndex }) => logIndex)
    expect(new Set(positions).size).toBe(2)
  })

  test('by the thousand are one flow each, which add up to what was given', () => {
    const many = Array.from(
      { length: 1_000 },
      (_, i) => `0x20c0${'0'.repeat(20)}${(i + 256).toString(16).padStart(16, '0')}`,
    )
    const transfers: Transfer[] = [[A, ALICE, POOL, 1_000n], ...many.map((token): Transfer => [token, POOL, ALICE, 7n])]
    const flows = tradesIn(transaction(transfers), ALICE)
    expect(flows).toHaveLength(1_000)
    expect(flows.reduce((sum, { amountIn }) => sum + amountIn, 0n)).toBe(1_000n)
  })

  test('for several are left out: nobody knows which was for which', () => {
    const transfers: Transfer[] = [...direct, [C, ALICE, BOB, 5n], [D, BOB, ALICE, 5n]]
    expect(shown(transfers, ALICE)).toEqual([])
  })
})

describe('what moved in a circle is nothing', () => {
  test('one’s own order, filled by oneself', () => {
    const own = swapOf(ALICE, 10n, 10n, {
      fills: [{ maker: ALICE, tokenIn: A, tokenOut: B, amountIn: 10n, amountOut: 10n }],
    })
    expect(shown([], ALICE, [own])).toEqual([])
  })

  test('a round trip over the exchange', () => {
    expect(shown([], ALICE, [swapOf(ALICE, 10n, 10n), backOf(ALICE, 10n, 10n, { logIndex: 91 })])).toEqual([])
  })

  test('a swap with a friend’s order that is given back, whoever signs', () => {
    const back: Transfer[] = [
      [A, DAVE, BOB, 10n],
      [B, BOB, DAVE, 10n],
    ]
    for (const signer of [BOB, DAVE, CAROL, null]) expect(shown(back, signer, [swapOf(BOB, 10n, 10n)])).toEqual([])
    // By way of a third account.
    const detour: Transfer[] = [
      [A, DAVE, CAROL, 10n],
      [A, CAROL, BOB, 10n],
      [B, BOB, CAROL, 10n],
      [B, CAROL, DAVE, 10n],
    ]
    for (const signer of [BOB, DAVE, CAROL, null]) expect(shown(detour, signer, [swapOf(BOB, 10n, 10n)])).toEqual([])
  })
})

describe('a trade is not', () => {
  const cases: Array<[string, Transfer[]]> = [
    [
      'two stables one way',
      [
        [A, ALICE, BOB, 1n],
        [B, ALICE, BOB, 1n],
      ],
    ],
    [
      'one stable both ways',
      [
        [A, ALICE, BOB, 5n],
        [A, BOB, ALICE, 4n],
      ],
    ],
    [
      'a payment made and another one received',
      [
        [A, ALICE, BOB, 1n],
        [B, CAROL, ALICE, 1n],
      ],
    ],
    [
      'an account with itself',
      [
        [A, ALICE, ALICE, 1n],
        [B, ALICE, ALICE, 1n],
      ],
    ],
    [
      'with the DEX alone',
      [
        [A, ALICE, STABLECOIN_DEX, 1n],
        [B, STABLECOIN_DEX, ALICE, 1n],
      ],
    ],
    [
      'with the pools of the fee manager',
      [
        [A, ALICE, FEE_MANAGER, 1n],
        [B, FEE_MANAGER, ALICE, 1n],
      ],
    ],
    [
      'a mint for a burn',
      [
        [A, ALICE, accountOf('00'), 1n],
        [B, accountOf('00'), ALICE, 1n],
      ],
    ],
    [
      'what the receiver’s policy holds back',
      [
        [A, ALICE, RECEIVE_POLICY_GUARD, 1n],
        [B, RECEIVE_POLICY_GUARD, ALICE, 1n],
      ],
    ],
    [
      'a reward',
      [
        [A, ALICE, A, 1n],
        [B, B, ALICE, 1n],
      ],
    ],
    [
      'a virtual forward',
      [
        [A, ALICE, VIRTUAL, 1n],
        [A, VIRTUAL, BOB, 1n],
      ],
    ],
    [
      'nothing for nothing',
      [
        [A, ALICE, BOB, 0n],
        [B, BOB, ALICE, 0n],
      ],
    ],
  ]
  test.each(cases)('%s', (_, transfers) => {
    expect(shown(transfers, ALICE)).toEqual([])
  })

  test('two transfers in two transactions', () => {
    const [one, other] = direct as [Transfer, Transfer]
    const alone: Transfer = [C, CAROL, DAVE, 1n]
    const logs = [...transaction([one, alone]), ...transaction([other, alone], { first: 3, hash: '0xt2' })]
    expect(tradesIn(logs, ALICE)).toEqual([])
  })

  test('made of the logs of a contract that only resembles a token', () => {
    const forged = `0x20c0${'1'.repeat(36)}`
    expect(shown(direct.with(1, [forged, BOB, ALICE, 999n]), ALICE)).toEqual([])
  })

  test('made of amounts that no balance can hold', () => {
    const most = 2n ** 128n - 1n
    expect(
      shown(
        [
          [A, ALICE, BOB, most],
          [B, BOB, ALICE, 1n],
        ],
        ALICE,
      ),
    ).toHaveLength(1)
    // Minted again in between.
    expect(
      shown(
        [
          [A, ALICE, BOB, most],
          [A, ALICE, BOB, most],
          [B, BOB, ALICE, 1n],
        ],
        ALICE,
      ),
    ).toEqual([])
  })
})
