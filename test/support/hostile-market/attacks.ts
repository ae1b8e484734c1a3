import { type Address, type Hex, numberToHex, pad, toEventSelector } from 'viem'
import { Addresses } from 'viem/tempo'
import type { Call } from '../../../local/chain/calls.js'
import { call } from '../../../local/chain/calls.js'
import type { Intent } from '../../../local/chain/intent.js'
import type { Random } from '../../../local/chain/random.js'
import { forgeCall, forgeCode } from '../forge.js'
import { act, actors, forged, genuine, MOST, someTrader, TOKEN } from './actors.js'
import { createExecutor, through } from './executor.js'

const { attacker, friend, pool, dealer } = actors
const { path, alpha, beta, theta } = genuine

/** What the attacks need of the chain that they run on. */
export type Scene = {
  random: Random
  /** Which block of its attack this is, from 0. */
  round: number
  /** Open orders of the dealer, by id. */
  dealersOrders: readonly bigint[]
  /** Contracts of the attacker: the router, and one that emits any log of three topics. */
  router: Address
  forger: Address
  /** What the DEX would pay at the block before; null if it refuses. */
  quote: (tokenIn: Address, tokenOut: Address, amount: bigint) => Promise<bigint | null>
}

type Attack = (scene: Scene) => Promise<Omit<Intent, 'label'>[]> | Omit<Intent, 'label'>[]

/** Whole tokens with an odd rest. */
const tokens = (random: Random, min: number, max: number): bigint =>
  BigInt(random.int(min, max)) * TOKEN + BigInt(random.int(0, 999_999))

const by = (from: Intent['from'], ...calls: Call[]): Omit<Intent, 'label'> => ({ from, calls })

/** Names that a spreadsheet, a terminal or a reader takes for something else. */
const NAMES: readonly [name: string, symbol: string][] = [
  ['pathUSD', 'pathUSD'],
  ['Arbor Dollar', 'ABUSD'],
  ['=HYPERLINK("http://evil.example","AlphaUSD")', '=1+1'],
  ['\u202eDSUahplA', 'Alpha\u200bUSD'],
  ['<script>alert(1)</script>', "'; DROP TABLE flows; --"],
  ['\u0000\u0007\n\r\t', '\u{1f4b5}\u{1f4b5}'],
  ['N'.repeat(2_000), 'S'.repeat(500)],
  ['', ''],
]

/** One bid of 100 tokens gives each forged token a price: 1, and the highest of the DEX. */
const BIDS = [act.order(forged(0), 100n * TOKEN, true, 0), act.order(forged(1), 100n * TOKEN, true, 2000)]

/** Everything that the attacks need, in three blocks. */
export const PREPARATIONS: readonly Omit<Intent, 'label'>[][] = [
  [
    ...[friend, pool].map((from) => by(from, ...Object.values(genuine).map((t) => act.approve(t, attacker.address)))),
    ...[attacker, dealer, friend].map((from) => by(from, ...Object.values(genuine).map(call.approveDex))),
    by(attacker, createExecutor as Call),
    by(attacker, { data: deployment(forgeCode(3)) } as Call),
  ],
  [by(attacker, ...act.create(0, 'Forged Dollar', 'FGUSD')), by(attacker, ...act.create(1, 'Giant Dollar', 'GIUSD'))],
  [
    by(attacker, act.mint(forged(0), attacker.address, MOST / 2n), act.mint(forged(1), attacker.address, MOST)),
    by(attacker, act.approve(forged(0), Addresses.stablecoinDex), act.approve(forged(1), Addresses.stablecoinDex)),
    by(attacker, act.transfer(forged(0), friend.address, 10n ** 32n)),
    by(friend, act.approve(forged(0), attacker.address), act.approve(forged(1), attacker.address)),
    by(dealer, ...[0, 1].map((n) => act.pair(forged(n))), ...BIDS),
  ],
]

/** Creation code of a contract with this code of less than 256 bytes. */
function deployment(code: Hex): Hex {
  return `0x60${((code.length - 2) / 2).toString(16).padStart(2, '0')}80600b6000396000f3${code.slice(2)}`
}

/** A transaction in which a user pays a router, which trades on the DEX and passes the result back. */
async function routed({ quote, router, random }: Scene, from: Address, to: Address): Promise<Omit<Intent, 'label'>[]> {
  const amount = tokens(random, 900, 5_000)
  const out = (await quote(from, to, amount)) ?? 0n
  // A block may move the price; the router keeps the rest as its fee.
  const back = (out * 99n) / 100n
  return [
    by(
      attacker,
      act.transfer(from, router, amount),
      through(router, act.approve(from, Addresses.stablecoinDex)),
      through(router, act.swapIn(from, to, amount)),
      through(router, act.transfer(to, attacker.address, back)),
    ),
  ]
}

/** The attacks, each some transactions a block. None of them moves more of a listed stable than its transfers do. */
export const ATTACKS: Record<string, Attack> = {
  /** 10^30 units of an own token for one millionth of a dollar, in one batch. */
  'forged token for one unit': ({ random }) => {
    const amount = 10n ** 30n + BigInt(random.int(0, 1_000_000))
    return [
      by(
        attacker,
        act.transfer(forged(0), friend.address, amount),
        act.transferFrom(path, friend.address, attacker.address, 1n),
      ),
      by(
        attacker,
        act.transferFrom(forged(0), friend.address, attacker.address, amount),
        act.transfer(alpha, friend.address, 1n),
      ),
    ]
  },
  /** The same two accounts, to and fro, in listed stables. */
  'wash trades': ({ random, round }) => {
    const amount = tokens(random, 1_000, 90_000)
    const [give, take] = round % 2 === 0 ? ([alpha, beta] as const) : ([beta, alpha] as const)
    return [
      by(
        attacker,
        act.transfer(give, friend.address, amount),
        act.transferFrom(take, friend.address, attacker.address, amount - 7n),
      ),
      by(
        attacker,
        act.transfer(give, friend.address, amount),
        act.transferFrom(give, friend.address, attacker.address, amount),
      ),
      by(friend, act.swapIn(take, give, tokens(random, 10, 5_000))),
    ]
  },
  /** User, router, pool and back: one trade. */
  'router and pool': ({ random }) => {
    const amount = tokens(random, 500, 1_500)
    const got = amount - BigInt(random.int(0, 5_000))
    return [
      by(
        attacker,
        act.transfer(alpha, friend.address, amount),
        act.transferFrom(alpha, friend.address, pool.address, amount),
        act.transferFrom(beta, pool.address, friend.address, got),
        act.transferFrom(beta, friend.address, attacker.address, got),
      ),
    ]
  },
  'router contract on the exchange': async (scene) => [
    ...(await routed(scene, alpha, beta)),
    ...(await routed(scene, path, theta)),
  ],
  /** One amount over two ways: the exchange and a pool. */
  'split route': ({ random }) => {
    const [one, other] = [tokens(random, 100, 900), tokens(random, 100, 900)]
    return [
      by(
        attacker,
        act.swapIn(alpha, beta, one),
        act.transfer(alpha, pool.address, other),
        act.transferFrom(beta, pool.address, attacker.address, other - 3n),
      ),
      by(
        attacker,
        act.swapIn(theta, path, one),
        act.transfer(path, pool.address, one - one / 50n),
        act.transferFrom(beta, pool.address, attacker.address, one - one / 40n),
      ),
    ]
  },
  /** A pool converts what the signer pays to somebody else; some of it comes back, some is a fee in kind. */
  'payments, rebates and fees in kind': ({ random }) => {
    const [amount, rebate] = [tokens(random, 100, 2_000), BigInt(random.int(1, 1_000))]
    return [
      by(
        attacker,
        act.transfer(alpha, pool.address, amount),
        act.transferFrom(beta, pool.address, friend.address, amount - 9n),
      ),
      by(
        attacker,
        act.transfer(theta, pool.address, amount),
        act.transferFrom(theta, pool.address, attacker.address, rebate),
        act.transferFrom(beta, pool.address, attacker.address, amount),
        act.transfer(beta, friend.address, rebate),
      ),
    ]
  },
  /** The signer takes no part, or has others trade in the same batch: who traded with whom is not known. */
  'trades of others in one batch': ({ random }) => {
    const amount = tokens(random, 100, 2_000)
    return [
      by(
        attacker,
        act.transferFrom(alpha, friend.address, pool.address, amount),
        act.transferFrom(beta, pool.address, friend.address, amount),
      ),
      by(
        attacker,
        act.transferFrom(theta, friend.address, pool.address, amount),
        act.transferFrom(path, pool.address, someTrader.address, amount),
      ),
    ]
  },
  /** A better price for one block, taken back in the next. */
  'orders pulled after one block': ({ random, dealersOrders }) => [
    ...dealersOrders.map((id) => by(dealer, call.cancel(id))),
    by(
      dealer,
      act.order(
        random.pick([alpha, beta, theta]),
        tokens(random, 100, 500),
        random.chance(0.5),
        random.int(-3, 3) * 50,
      ),
    ),
  ],
  'dust bids and dust swaps': ({ random }) => [
    by(dealer, act.order(theta, 100n * TOKEN, true, random.int(-199, -150) * 10)),
    by(attacker, act.swapIn(theta, path, 1n)),
    by(attacker, act.swapIn(alpha, beta, 2n)),
    by(attacker, act.transfer(alpha, friend.address, 1n), act.transferFrom(beta, friend.address, attacker.address, 1n)),
  ],
  /** As much as a token can have; and more dollars of listed stables than 2^63 millionths. */
  'giant amounts': ({ round }) => [
    round % 2 === 0
      ? by(
          attacker,
          act.transfer(forged(1), friend.address, MOST),
          act.transferFrom(path, friend.address, attacker.address, TOKEN),
        )
      : by(
          attacker,
          act.transferFrom(forged(1), friend.address, attacker.address, MOST),
          act.transfer(path, friend.address, TOKEN),
        ),
    by(attacker, act.swapIn(forged(1), path, MOST)),
    by(
      attacker,
      act.transfer(alpha, friend.address, 2n ** 62n),
      act.transferFrom(beta, friend.address, attacker.address, 2n ** 62n),
    ),
    by(
      attacker,
      act.transferFrom(alpha, friend.address, attacker.address, 2n ** 62n),
      act.transfer(beta, friend.address, 2n ** 62n),
    ),
  ],
  'pairs without orders': ({ round }) =>
    [0, 1].map((i) => {
      const n = 100 + round * 2 + i
      return by(attacker, ...act.create(n, `Spam ${n}`, `SP${n}USD`), act.pair(forged(n)))
    }),
  'policies and pauses': ({ round }) => [
    by(attacker, act.blacklist([friend.address])),
    by(attacker, round % 2 === 0 ? act.pause(forged(0)) : act.unpause(forged(0))),
    by(attacker, act.policy(forged(1), round % 2 === 0 ? 0n : 1n)),
  ],
  names: ({ round }) => {
    const [name, symbol] = NAMES[round % NAMES.length] as (typeof NAMES)[number]
    const n = 200 + round
    return [
      by(attacker, ...act.create(n, name, symbol), act.pair(forged(n))),
      by(
        attacker,
        act.mint(forged(n), friend.address, 10n ** 12n),
        act.transferFrom(path, friend.address, attacker.address, TOKEN),
      ),
    ]
  },
  /** A contract of the attacker says that it is a token, and that the exchange filled an order. */
  'forged logs': ({ forger, random }) => {
    const amount = tokens(random, 1, 1_000_000)
    const topics = (event: string, a: Hex, b: Hex): Hex[] => [toEventSelector(event), pad(a), pad(b)]
    const log = (event: string, a: Hex, b: Hex, ...words: bigint[]): Call => ({
      to: forger,
      data: forgeCall(topics(event, a, b), `0x${words.map((word) => pad(numberToHex(word)).slice(2)).join('')}`),
    })
    return [
      by(
        attacker,
        log('Transfer(address,address,uint256)', attacker.address, friend.address, amount),
        log('Transfer(address,address,uint256)', attacker.address, Addresses.stablecoinDex, 2n ** 255n),
        act.transferFrom(beta, friend.address, attacker.address, 5n),
      ),
      by(
        attacker,
        log('Mint(address,uint256)', friend.address, attacker.address, MOST),
        log('OrderFilled(uint128,address,address,uint128,bool)', numberToHex(1n), friend.address, amount, 0n),
      ),
    ]
  },
}
