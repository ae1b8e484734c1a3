import { type Address, encodeFunctionData, type Hex, maxUint256, numberToHex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { accounts, devAccount, users } from '../../../local/chain/accounts.js'
import type { Call } from '../../../local/chain/calls.js'
import { call, policyType, role } from '../../../local/chain/calls.js'
import { GENESIS_STABLES, PATH_USD, tokenAddress } from '../../../local/chain/stables.js'

/** The attacker and the accounts that act for it. `dealer` only places orders, so that all others' swaps are transfers. */
export const actors = { attacker: users[0], friend: users[1], pool: users[2], dealer: devAccount(19) } as const

const [alpha, beta, theta] = GENESIS_STABLES.map(({ address }) => address) as [Address, Address, Address]
export const genuine = { path: PATH_USD.address as Address, alpha, beta, theta } as const

/** The greatest amount of a token. */
export const MOST = 2n ** 128n - 1n
export const TOKEN = 10n ** 6n

const saltOf = (n: number): Hex => numberToHex(0xbad0000 + n, { size: 32 })
/** The address of the attacker's nth token, known before it exists. */
export const forged = (n: number): Address => tokenAddress(actors.attacker.address, saltOf(n))

type Tip20Function = 'approve' | 'transfer' | 'transferFrom' | 'mint' | 'burn' | 'changeTransferPolicyId' | 'pause'
const tip20 = (to: Address, functionName: Tip20Function | 'unpause', args: readonly unknown[] = []): Call => ({
  to,
  data: encodeFunctionData({ abi: Abis.tip20, functionName, args } as never),
})

/** Calls that only attackers make. */
export const act = {
  approve: (token: Address, spender: Address): Call => tip20(token, 'approve', [spender, maxUint256]),
  transferFrom: (token: Address, from: Address, to: Address, amount: bigint): Call =>
    tip20(token, 'transferFrom', [from, to, amount]),
  transfer: (token: Address, to: Address, amount: bigint): Call => tip20(token, 'transfer', [to, amount]),
  mint: (token: Address, to: Address, amount: bigint): Call => tip20(token, 'mint', [to, amount]),
  burn: (token: Address, amount: bigint): Call => tip20(token, 'burn', [amount]),
  policy: (token: Address, id: bigint): Call => tip20(token, 'changeTransferPolicyId', [id]),
  pause: (token: Address): Call => tip20(token, 'pause'),
  unpause: (token: Address): Call => tip20(token, 'unpause'),
  pair: (token: Address): Call => ({
    to: Addresses.stablecoinDex,
    data: encodeFunctionData({ abi: Abis.stablecoinDex, functionName: 'createPair', args: [token] }),
  }),
  swapIn: (tokenIn: Address, tokenOut: Address, amount: bigint): Call => ({
    to: Addresses.stablecoinDex,
    data: encodeFunctionData({
      abi: Abis.stablecoinDex,
      functionName: 'swapExactAmountIn',
      args: [tokenIn, tokenOut, amount, 0n],
    }),
  }),
  order: (token: Address, amount: bigint, isBid: boolean, tick: number): Call =>
    call.place(token, { amount, isBid, tick }),
  /** Creates the attacker's nth token, which it may mint and pause. */
  create: (n: number, name: string, symbol: string, quote: Address = genuine.path): Call[] => [
    call.createToken({ name, symbol, currency: 'USD', quote, admin: actors.attacker.address, salt: saltOf(n) }),
    call.grantRole(forged(n), role.issuer, actors.attacker.address),
    call.grantRole(forged(n), role.pause, actors.attacker.address),
    call.grantRole(forged(n), role.unpause, actors.attacker.address),
  ],
  blacklist: (members: readonly Address[]): Call => ({
    to: Addresses.tip403Registry,
    data: encodeFunctionData({
      abi: Abis.tip403Registry,
      functionName: 'createPolicyWithAccounts',
      args: [actors.attacker.address, policyType.blacklist, members],
    }),
  }),
}

/** A trader of the market, whose own stables the attacker can buy. */
export const someTrader = accounts.traders[0]
