import { type Address, encodeFunctionData, type Hex, keccak256, maxUint256, numberToHex, toHex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import type { Swap } from './actions.js'
import type { Level } from './ladder.js'

/** A contract call within a transaction. */
export type Call = { to: Address; data: Hex }

export const role = {
  issuer: keccak256(toHex('ISSUER_ROLE')),
  pause: keccak256(toHex('PAUSE_ROLE')),
  unpause: keccak256(toHex('UNPAUSE_ROLE')),
  burnBlocked: keccak256(toHex('BURN_BLOCKED_ROLE')),
} as const

/** Types of a TIP-403 policy as the registry numbers them. */
export const policyType = { whitelist: 0, blacklist: 1 } as const
/** Custom policies get ids from 2 on, in the order in which the setup creates them. */
export const POLICY_ID = { sanctions: 2n, members: 3n, mintTargets: 4n, compound: 5n } as const
/** TIP-403: the policy that allows everybody. Every new token starts with it. */
export const ALLOW_ALL = 1n

const dex = Addresses.stablecoinDex
const registry = Addresses.tip403Registry

/** The calls that the market makes, encoded. Amounts are micro-units. */
export const call = {
  createToken: (t: {
    name: string
    symbol: string
    currency: string
    quote: Address
    admin: Address
    salt: Hex
  }): Call => ({
    to: Addresses.tip20Factory,
    data: encodeFunctionData({
      abi: Abis.tip20Factory,
      functionName: 'createToken',
      args: [t.name, t.symbol, t.currency, t.quote, t.admin, t.salt],
    }),
  }),
  grantRole: (token: Address, granted: Hex, account: Address): Call =>
    tip20(token, { functionName: 'grantRole', args: [granted, account] }),
  revokeRole: (token: Address, revoked: Hex, account: Address): Call =>
    tip20(token, { functionName: 'revokeRole', args: [revoked, account] }),
  setSupplyCap: (token: Address, cap: bigint): Call => tip20(token, { functionName: 'setSupplyCap', args: [cap] }),
  changePolicy: (token: Address, policyId: bigint): Call =>
    tip20(token, { functionName: 'changeTransferPolicyId', args: [policyId] }),
  mint: (token: Address, to: Address, amount: bigint): Call =>
    tip20(token, { functionName: 'mint', args: [to, amount] }),
  burn: (token: Address, amount: bigint): Call => tip20(token, { functionName: 'burn', args: [amount] }),
  pause: (token: Address): Call => tip20(token, { functionName: 'pause' }),
  unpause: (token: Address): Call => tip20(token, { functionName: 'unpause' }),
  transfer: (token: Address, to: Address, amount: bigint): Call =>
    tip20(token, { functionName: 'transfer', args: [to, amount] }),
  transferWithMemo: (token: Address, to: Address, amount: bigint, memo: number): Call =>
    tip20(token, { functionName: 'transferWithMemo', args: [to, amount, numberToHex(memo, { size: 32 })] }),
  setRewardRecipient: (token: Address, recipient: Address): Call =>
    tip20(token, { functionName: 'setRewardRecipient', args: [recipient] }),
  distributeReward: (token: Address, amount: bigint): Call =>
    tip20(token, { functionName: 'distributeReward', args: [amount] }),
  claimRewards: (token: Address): Call => tip20(token, { functionName: 'claimRewards' }),
  setUserToken: (token: Address): Call => ({
    to: Addresses.feeManager,
    data: encodeFunctionData({ abi: Abis.feeManager, functionName: 'setUserToken', args: [token] }),
  }),
  distributeFees: (validator: Address, token: Address): Call => ({
    to: Addresses.feeManager,
    data: encodeFunctionData({ abi: Abis.feeManager, functionName: 'distributeFees', args: [validator, token] }),
  }),
  /** `amount` is micro-units of the validator's token. */
  addFeeLiquidity: (userToken: Address, validatorToken: Address, amount: bigint, to: Address): Call => ({
    to: Addresses.feeManager,
    data: encodeFunctionData({ abi: Abis.feeAmm, functionName: 'mint', args: [userToken, validatorToken, amount, to] }),
  }),
  restrict: (policyId: bigint, account: Address, restricted: boolean): Call => ({
    to: registry,
    data: encodeFunctionData({
      abi: Abis.tip403Registry,
      functionName: 'modifyPolicyBlacklist',
      args: [policyId, account, restricted],
    }),
  }),
  approveDex: (token: Address): Call => tip20(token, { functionName: 'approve', args: [dex, maxUint256] }),
  createPolicy: (admin: Address, type: keyof typeof policyType, members: readonly Address[]): Call => ({
    to: registry,
    data: encodeFunctionData({
      abi: Abis.tip403Registry,
      functionName: 'createPolicyWithAccounts',
      args: [admin, policyType[type], members],
    }),
  }),
  createCompoundPolicy: (sender: bigint, recipient: bigint, mintRecipient: bigint): Call => ({
    to: registry,
    data: encodeFunctionData({
      abi: Abis.tip403Registry,
      functionName: 'createCompoundPolicy',
      args: [sender, recipient, mintRecipient],
    }),
  }),
  place: (token: Address, { amount, isBid, tick }: Level): Call => ({
    to: dex,
    data: encodeFunctionData({ abi: Abis.stablecoinDex, functionName: 'place', args: [token, amount, isBid, tick] }),
  }),
  placeFlip: (token: Address, { amount, isBid, tick }: Level, flipTick: number): Call => ({
    to: dex,
    data: encodeFunctionData({
      abi: Abis.stablecoinDex,
      functionName: 'placeFlip',
      args: [token, amount, isBid, tick, flipTick],
    }),
  }),
  cancel: (orderId: bigint): Call => ({
    to: dex,
    data: encodeFunctionData({ abi: Abis.stablecoinDex, functionName: 'cancel', args: [orderId] }),
  }),
  /** The limit on the other amount allows for 6 %: three hops at the DEX's furthest prices cannot deviate more. */
  swap: (tokenIn: Address, tokenOut: Address, { exact, amount }: Swap): Call => ({
    to: dex,
    data:
      exact === 'in'
        ? encodeFunctionData({
            abi: Abis.stablecoinDex,
            functionName: 'swapExactAmountIn',
            args: [tokenIn, tokenOut, amount, (amount * 94n) / 100n],
          })
        : encodeFunctionData({
            abi: Abis.stablecoinDex,
            functionName: 'swapExactAmountOut',
            args: [tokenIn, tokenOut, amount, (amount * 107n) / 100n],
          }),
  }),
}

type Tip20Call =
  | { functionName: 'grantRole' | 'revokeRole'; args: readonly [Hex, Address] }
  | { functionName: 'setSupplyCap' | 'burn' | 'distributeReward'; args: readonly [bigint] }
  | { functionName: 'changeTransferPolicyId'; args: readonly [bigint] }
  | { functionName: 'mint' | 'transfer' | 'approve'; args: readonly [Address, bigint] }
  | { functionName: 'transferWithMemo'; args: readonly [Address, bigint, Hex] }
  | { functionName: 'setRewardRecipient'; args: readonly [Address] }
  | { functionName: 'pause' | 'unpause' | 'claimRewards' }

function tip20(token: Address, parameters: Tip20Call): Call {
  return { to: token, data: encodeFunctionData({ abi: Abis.tip20, ...parameters }) }
}
