import { encodeFunctionData, type Hex, numberToHex, toEventSelector } from 'viem'
import { Abis, Addresses, Transaction } from 'viem/tempo'
import { expect } from 'vitest'
import { accounts, devAccount } from '../../../../local/chain/accounts.js'
import { type Call, call } from '../../../../local/chain/calls.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { PATH_USD } from '../../../../local/chain/stables.js'
import { testOn, useStillChain } from '../../../support/chain.js'
import { factRows } from '../../../support/fact-rows.js'
import {
  balanceAt,
  logPositions,
  mine,
  mineRaw,
  nonceOf,
  type Receipt,
  receiptsOf,
} from '../../../support/transactions.js'

const TOKEN = 10n ** 6n
const BLOCKS = 120

const chain = useStillChain({ historyBlocks: BLOCKS })
const test = testOn(chain)

const lower = (address: string): string => address.toLowerCase()
const pathUsd = PATH_USD.address
const feeStable = (): Hex => chain.plan.stables[0]?.address as Hex

/** CHAIN: a gas price is in 1e-18 of a token, fees are paid in whole base units of 1e-6, rounded up. */
const feeOf = ({ gasUsed, effectiveGasPrice }: Receipt): string =>
  ((BigInt(gasUsed) * BigInt(effectiveGasPrice) + 10n ** 12n - 1n) / 10n ** 12n).toString()

/** The position of a fee: the last log of its transaction. */
const feePosition = ({ blockNumber, transactionHash, logs }: Receipt) => ({
  block_number: blockNumber,
  log_index: logs.at(-1)?.logIndex,
  tx_hash: transactionHash,
})

type FeeAmmCall = Parameters<typeof encodeFunctionData<typeof Abis.feeAmm>>[0]
const feeAmm = (request: Omit<FeeAmmCall, 'abi'>): Call => ({
  to: Addresses.feeManager,
  data: encodeFunctionData({ abi: Abis.feeAmm, ...request } as FeeAmmCall),
})
const setValidatorToken = (token: Hex): Call => ({
  to: Addresses.feeManager,
  data: encodeFunctionData({ abi: Abis.feeManager, functionName: 'setValidatorToken', args: [token] }),
})

test('every transaction of the market has one fee, which equals its gas cost and is paid by its sender', async ({
  clickhouse,
  takeIn,
}) => {
  const receipts: Receipt[] = []
  for (let block = 1; block <= BLOCKS; block++) receipts.push(...(await receiptsOf(chain, block)))
  await takeIn()
  const found = (await factRows(clickhouse, 'fees_paid')).filter((row) => (row.block_number as number) <= BLOCKS)
  expect(found.map(({ stable, ...rest }) => rest)).toEqual(
    receipts.map((receipt) => ({ payer: lower(receipt.from), amount_raw: feeOf(receipt), ...feePosition(receipt) })),
  )
  // The market pays in pathUSD, and one of its traders in another stable too.
  expect(new Set(found.map(({ stable }) => stable))).toEqual(new Set([pathUsd, feeStable()]))
})

test('a reverted transaction pays its fee, and the fee of a sponsored one is its sponsor’s', async ({
  clickhouse,
  takeIn,
}) => {
  const [poor, sponsor] = [accounts.traders[1], accounts.bridge]
  const [reverted] = (await mine(chain, [
    { from: poor, calls: [call.transfer(feeStable(), sponsor.address, 10n ** 30n)] },
  ])) as [Receipt]
  expect(reverted.status).toBe('0x0')

  const sponsored = await poor.signTransaction(
    {
      type: 'tempo',
      chainId: chain.chainId,
      nonce: await nonceOf(chain, poor.address),
      gas: 3_000_000n,
      maxFeePerGas: 20_000_000_000n,
      maxPriorityFeePerGas: 20_000_000_000n,
      calls: [call.transfer(pathUsd, sponsor.address, 7n)],
      feePayer: sponsor,
      feeToken: pathUsd,
    } as never,
    { serializer: Transaction.serialize as never },
  )
  const [paid] = (await mineRaw(chain, [sponsored])) as [Receipt]
  expect(paid.status).toBe('0x1')
  await takeIn()

  const before = paid.blockNumber - 1
  const [ofPoor, ofSponsor] = await Promise.all(
    [poor, sponsor].map(
      async ({ address }) =>
        (await balanceAt(chain, pathUsd, address, before + 1)) - (await balanceAt(chain, pathUsd, address, before)),
    ),
  )
  expect(ofPoor).toBe(-7n)
  expect(ofSponsor).toBe(7n - BigInt(feeOf(paid)))
  expect(await factRows(clickhouse, 'fees_paid', [reverted.transactionHash, paid.transactionHash])).toEqual([
    { stable: pathUsd, payer: lower(poor.address), amount_raw: feeOf(reverted), ...feePosition(reverted) },
    { stable: pathUsd, payer: lower(sponsor.address), amount_raw: feeOf(paid), ...feePosition(paid) },
  ])
})

test('choices of fee tokens are those of users and validators', async ({ clickhouse, takeIn }) => {
  const [user, validator] = [accounts.traders[2], accounts.guardian]
  const [first, second] = (await mine(chain, [
    { from: user, calls: [call.setUserToken(feeStable())] },
    { from: validator, calls: [setValidatorToken(feeStable())] },
  ])) as [Receipt, Receipt]
  const [back] = (await mine(chain, [{ from: user, calls: [call.setUserToken(pathUsd)] }])) as [Receipt]
  await takeIn()
  const hashes = [first, second, back].map(({ transactionHash }) => transactionHash)
  const USER = toEventSelector('UserTokenSet(address,address)')
  const VALIDATOR = toEventSelector('ValidatorTokenSet(address,address)')
  expect(await factRows(clickhouse, 'fee_elections', hashes)).toEqual([
    { kind: 'user', account: lower(user.address), stable: feeStable(), ...logPositions(first, USER)[0] },
    {
      kind: 'validator',
      account: lower(validator.address),
      stable: feeStable(),
      ...logPositions(second, VALIDATOR)[0],
    },
    { kind: 'user', account: lower(user.address), stable: pathUsd, ...logPositions(back, USER)[0] },
  ])
  // A choice applies from its own transaction on.
  const paidIn = (await factRows(clickhouse, 'fees_paid', hashes)).map(({ tx_hash, stable }) => [tx_hash, stable])
  expect(paidIn).toEqual([
    [first.transactionHash, feeStable()],
    [second.transactionHash, pathUsd],
    [back.transactionHash, pathUsd],
  ])
})

test('a validator is paid the amount in the row', async ({ clickhouse, takeIn }) => {
  const { validator, issuer } = accounts
  const [receipt] = (await mine(chain, [
    { from: issuer, calls: [call.distributeFees(validator.address, pathUsd)] },
  ])) as [Receipt]
  await takeIn()
  const amount =
    (await balanceAt(chain, pathUsd, validator.address, receipt.blockNumber)) -
    (await balanceAt(chain, pathUsd, validator.address, receipt.blockNumber - 1))
  expect(amount).toBeGreaterThan(0n)
  const [position] = logPositions(receipt, toEventSelector('FeesDistributed(address,address,uint256)'))
  expect(await factRows(clickhouse, 'fee_distributions', [receipt.transactionHash])).toEqual([
    { validator: lower(validator.address), stable: pathUsd, amount_raw: `${amount}`, ...position },
  ])
})

test('fee pools change by liquidity and rebalancing, and their fees are not confused with others', async ({
  clickhouse,
  takeIn,
}) => {
  const { issuer } = accounts
  const to = devAccount(18).address
  const pair = [feeStable(), pathUsd] as const
  const send = async (...calls: Call[]) => ((await mine(chain, [{ from: issuer, calls }])) as [Receipt])[0]
  const ask = async (functionName: 'getPoolId' | 'liquidityBalances', args: readonly unknown[], block: number) => {
    const { data } = feeAmm({ functionName, args } as never)
    return (await createRpc(chain.rpcUrl).call('eth_call', [
      { to: Addresses.feeManager, data },
      numberToHex(block),
    ])) as Hex
  }
  const poolId = await ask('getPoolId', pair, chain.head)
  const liquidity = async (block: number) => BigInt(await ask('liquidityBalances', [poolId, issuer.address], block))
  // An account pays fees in the stable, so that the pool has some of it.
  const payer = accounts.traders[3]
  await mine(chain, [{ from: payer, calls: [call.setUserToken(feeStable())] }])
  await mine(chain, [{ from: payer, calls: [call.transfer(pathUsd, to, 1n)] }])

  const minted = await send(call.addFeeLiquidity(...pair, 5_000n * TOKEN, issuer.address))
  const made = (await liquidity(minted.blockNumber)) - (await liquidity(minted.blockNumber - 1))
  const burned = await send(feeAmm({ functionName: 'burn', args: [...pair, made / 2n, to] }))
  const rebalanced = await send(feeAmm({ functionName: 'rebalanceSwap', args: [...pair, 1_000n, to] }))
  expect([minted, burned, rebalanced].map(({ status }) => status)).toEqual(['0x1', '0x1', '0x1'])
  await takeIn()

  const received = async (token: Hex, { blockNumber }: Receipt) =>
    (await balanceAt(chain, token, to, blockNumber)) - (await balanceAt(chain, token, to, blockNumber - 1))
  // The issuer pays the fee in pathUSD as well.
  const spent =
    (await balanceAt(chain, pathUsd, issuer.address, rebalanced.blockNumber - 1)) -
    (await balanceAt(chain, pathUsd, issuer.address, rebalanced.blockNumber)) -
    BigInt(feeOf(rebalanced))
  expect(await received(feeStable(), rebalanced)).toBe(1_000n)
  expect(made).toBeGreaterThan(0n)

  const MINT = toEventSelector('Mint(address,address,address,address,uint256,uint256)')
  const BURN = toEventSelector('Burn(address,address,address,uint256,uint256,uint256,address)')
  const REBALANCE = toEventSelector('RebalanceSwap(address,address,address,uint256,uint256)')
  const pool = { account: lower(issuer.address), user_token: feeStable(), validator_token: pathUsd }
  const hashes = [minted, burned, rebalanced].map(({ transactionHash }) => transactionHash)
  expect(await factRows(clickhouse, 'fee_pool_events', hashes)).toEqual([
    {
      kind: 'mint',
      ...pool,
      recipient: lower(issuer.address),
      user_amount_raw: '0',
      validator_amount_raw: `${5_000n * TOKEN}`,
      liquidity_raw: `${made}`,
      ...logPositions(minted, MINT)[0],
    },
    {
      kind: 'burn',
      ...pool,
      recipient: lower(to),
      user_amount_raw: `${await received(feeStable(), burned)}`,
      validator_amount_raw: `${await received(pathUsd, burned)}`,
      liquidity_raw: `${made / 2n}`,
      ...logPositions(burned, BURN)[0],
    },
    {
      kind: 'rebalance',
      ...pool,
      recipient: null,
      user_amount_raw: '1000',
      validator_amount_raw: `${spent}`,
      liquidity_raw: '0',
      ...logPositions(rebalanced, REBALANCE)[0],
    },
  ])
  // Two of these sent tokens to the fee manager twice, and paid one fee each.
  expect((await factRows(clickhouse, 'fees_paid', hashes)).map(({ amount_raw }) => amount_raw)).toEqual(
    [minted, burned, rebalanced].map(feeOf),
  )
})
