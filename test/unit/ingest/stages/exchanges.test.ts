import { describe, expect, test } from 'vitest'
import { FEE_MANAGER, RECEIVE_POLICY_GUARD, STABLECOIN_DEX } from '../../../../ingest/chain/addresses.js'
import type { RawLog } from '../../../../ingest/chain/rpc-answers.js'
import { exchangesOf } from '../../../../ingest/stages/exchanges.js'
import { movementsOf } from '../../../../ingest/stages/flows.js'
import type { Swap } from '../../../../ingest/stages/swaps.js'
import { encodedLog } from '../../../support/logs.js'

const [A, B, C] = ['0a', '0b', '0c'].map((end) => `0x20c0${'0'.repeat(34)}${end}`) as [string, string, string]
const [ALICE, BOB, CAROL] = ['a1', 'b2', 'c3'].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string]
const VIRTUAL = `0x58e21090${'fd'.repeat(10)}010203040506`

type Transfer = [token: string, from: string, to: string, amount: bigint]
/** A transaction of these transfers, with the fee at its end. */
const transaction = (transfers: Transfer[], first = 0, transactionHash = '0xt1'): RawLog[] =>
  [...transfers, [A, ALICE, FEE_MANAGER, 7n] satisfies Transfer].map(([token, from, to, amount], i) =>
    encodedLog('tip20', 'Transfer', token, { from, to, amount }, { logIndex: first + i, transactionHash }),
  )
const trade: Transfer[] = [
  [A, ALICE, BOB, 1_000n],
  [B, BOB, ALICE, 999n],
]
const exchange = {
  account: ALICE,
  counterparty: BOB,
  tokenIn: A,
  tokenOut: B,
  amountIn: 1_000n,
  amountOut: 999n,
  logIndex: 1,
  txHash: '0xt1',
}

describe('two accounts trade by transfers', () => {
  test('one stable for another; the first to give is the sender', () => {
    expect(exchangesOf(transaction(trade))).toEqual([exchange])
    expect(exchangesOf(transaction(trade.toReversed()))).toEqual([
      { ...exchange, account: BOB, counterparty: ALICE, tokenIn: B, tokenOut: A, amountIn: 999n, amountOut: 1_000n },
    ])
  })

  test('in several transfers, less what was returned', () => {
    const transfers: Transfer[] = [
      [A, ALICE, BOB, 600n],
      [A, ALICE, BOB, 500n],
      [B, BOB, ALICE, 999n],
      [A, BOB, ALICE, 100n],
    ]
    expect(exchangesOf(transaction(transfers))).toEqual([{ ...exchange, logIndex: 2 }])
  })

  test('each pair of accounts separately, in each transaction of a block', () => {
    const both: Transfer[] = [[C, CAROL, BOB, 5n], ...trade, [A, BOB, CAROL, 4n]]
    const found = exchangesOf([...transaction(both), ...transaction(trade, 5, '0xt2')])
    expect(
      found.map(({ account, tokenIn, tokenOut, logIndex, txHash }) => [account, tokenIn, tokenOut, logIndex, txHash]),
    ).toEqual([
      [ALICE, A, B, 2, '0xt1'],
      [CAROL, C, A, 3, '0xt1'],
      [ALICE, A, B, 6, '0xt2'],
    ])
  })

  test('through a virtual address, which only forwards', () => {
    const transfers: Transfer[] = [
      [A, ALICE, VIRTUAL, 1_000n],
      [A, VIRTUAL, BOB, 1_000n],
      [B, BOB, ALICE, 999n],
    ]
    expect(exchangesOf(transaction(transfers))).toEqual([{ ...exchange, logIndex: 2 }])
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
      'a circle of three',
      [
        [A, ALICE, BOB, 1n],
        [B, BOB, CAROL, 1n],
        [C, CAROL, ALICE, 1n],
      ],
    ],
    [
      'two for one, of which nobody knows which was for which',
      [
        [A, ALICE, BOB, 1n],
        [C, ALICE, BOB, 1n],
        [B, BOB, ALICE, 2n],
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
      'with the DEX',
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
        [A, ALICE, `0x${'0'.repeat(40)}`, 1n],
        [B, `0x${'0'.repeat(40)}`, ALICE, 1n],
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
    expect(exchangesOf(transaction(transfers))).toEqual([])
  })

  test('two transfers in two transactions', () => {
    const [one, other] = trade as [Transfer, Transfer]
    const alone: Transfer = [C, CAROL, BOB, 1n]
    expect(exchangesOf([...transaction([one, alone]), ...transaction([other, alone], 3, '0xt2')])).toEqual([])
  })
})

describe('a swap’s own transfer', () => {
  const swap: Swap = { account: BOB, path: [A, C, B], amountIn: 1_000n, amountOut: 999n, logIndex: 0, txHash: '0xt1' }

  test('is counted once if a router forwards it', () => {
    expect(movementsOf([swap], [exchange], []).map(({ kind }) => kind)).toEqual(['swap'])
  })

  test('does not hide another trade', () => {
    const others = [{ account: CAROL }, { txHash: '0xt2' }, { path: [B, A] }, { path: [A, C] }]
    for (const changes of others) {
      expect(movementsOf([{ ...swap, ...changes }], [exchange], []).map(({ kind }) => kind)).toEqual([
        'swap',
        'transfer',
      ])
    }
  })
})
