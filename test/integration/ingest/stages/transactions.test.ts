import {
  type AbiEvent,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  numberToHex,
  pad,
  toEventSelector,
  zeroAddress,
} from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { expect } from 'vitest'
import { factTables } from '../../../../clickhouse/facts/facts.js'
import { flowEdges } from '../../../../clickhouse/flows/flows.js'
import { READ_EVENTS } from '../../../../ingest/chain/events.js'
import { accounts, devAccount } from '../../../../local/chain/accounts.js'
import { type Call, call, role } from '../../../../local/chain/calls.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { PATH_USD } from '../../../../local/chain/stables.js'
import { backfillAll } from '../../../support/backfill.js'
import { testOn, useStillChain } from '../../../support/chain.js'
import { factRows } from '../../../support/fact-rows.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { encoded, forgeCall, forgeCode, largestOf } from '../../../support/forge.js'
import { ingestAll } from '../../../support/ingest.js'
import { OFT_CODE, oftCall } from '../../../support/oft.js'
import { withDatabase } from '../../../support/services.js'
import { balanceAt, logPositions, mine, newToken, type Receipt } from '../../../support/transactions.js'

const chain = useStillChain({ historyBlocks: 30 })
const test = testOn(chain)

const TOKEN = 10n ** 6n
const TRANSFER = toEventSelector('Transfer(address,address,uint256)')

const lower = (address: string): string => address.toLowerCase()

// The first, as it reads the whole chain again, block by block.
/** The local node treats a block as final when this many blocks are on top of it. */
const FINAL_AFTER = 64
const OFT: Hex = `0x${'0f7'.repeat(13)}1`
const FAKE: Hex = `0x${'fa4'.repeat(13)}1`
const GUID: Hex = `0x${'9d'.repeat(32)}`
const SENT = toEventSelector('OFTSent(bytes32,uint32,address,uint256,uint256)')
const RECEIVED = toEventSelector('OFTReceived(bytes32,uint32,address,uint256)')

// The first test, since it reads the whole chain again, block by block.
test('an OFT’s mints come from another chain and its burns go to it, and neither is an edge', async ({
  clickhouse,
  takeIn,
}) => {
  for (const contract of [OFT, FAKE]) await createRpc(chain.rpcUrl).call('anvil_setCode', [contract, OFT_CODE])
  const { issuer } = accounts
  const [user] = accounts.traders
  if (!user) throw new Error('the market has traders')
  const { token } = await newToken(chain, 88)
  const tip20 = (functionName: 'mint' | 'burn', args: readonly unknown[]): Hex =>
    encodeFunctionData({ abi: Abis.tip20, functionName, args } as never)
  const receive = oftCall(
    token,
    [RECEIVED, GUID, pad(user.address)],
    encodeAbiParameters([{ type: 'uint32' }, { type: 'uint256' }], [30_101, 5_000_000n]),
    tip20('mint', [user.address, 5_000_000n]),
  )
  const send = oftCall(
    token,
    [SENT, GUID, pad(user.address)],
    encodeAbiParameters(
      [{ type: 'uint32' }, { type: 'uint256' }, { type: 'uint256' }],
      [30_184, 2_000_000n, 1_990_000n],
    ),
    tip20('burn', [1_990_000n]),
  )
  // It emits the same event, and its calls are harmless.
  const pretend = oftCall(
    token,
    [RECEIVED, GUID, pad(user.address)],
    encodeAbiParameters([{ type: 'uint32' }, { type: 'uint256' }], [30_101, 5_000_000n]),
    encodeFunctionData({ abi: Abis.tip20, functionName: 'totalSupply' }),
  )
  await mine(chain, [{ from: issuer, calls: [call.grantRole(token, role.issuer, OFT)] }])
  const [came, left, pretended] = (await mine(chain, [
    { from: user, calls: [{ to: OFT, data: receive }] },
    { from: user, calls: [call.transfer(token, OFT, 2_000_000n), { to: OFT, data: send }] },
    { from: user, calls: [{ to: FAKE, data: pretend }] },
  ])) as [Receipt, Receipt, Receipt]
  expect([came, left, pretended].map(({ status }) => status)).toEqual(['0x1', '0x1', '0x1'])
  await createRpc(chain.rpcUrl).call('anvil_mine', [numberToHex(FINAL_AFTER)])
  chain.head += FINAL_AFTER
  await takeIn()

  const at = (receipt: Receipt, topic: string) => ({
    block_number: receipt.blockNumber,
    log_index: receipt.logs.find(({ topics }) => topics[0] === topic)?.logIndex,
    tx_hash: receipt.transactionHash,
  })
  expect(at(pretended, RECEIVED).log_index).toBeDefined()
  const bridge = { kind: 'bridge', account: user.address.toLowerCase(), path: [token] }
  const hashes = [came, left, pretended].map(({ transactionHash }) => transactionHash)
  const flows = await factRows(clickhouse, 'flows', hashes)
  // The token has no order book yet, so no price.
  expect(
    flows.map((flow) => ({
      ...flow,
      amount_in_raw: String(flow.amount_in_raw),
      amount_out_raw: String(flow.amount_out_raw),
    })),
  ).toEqual([
    {
      ...bridge,
      ...{ from_token: '', to_token: token, amount_in_raw: '5000000', amount_out_raw: '5000000' },
      ...{ usd_micros: null, remote_chain: 'eid:30101', ...at(came, RECEIVED) },
    },
    {
      ...bridge,
      ...{ from_token: token, to_token: '', amount_in_raw: '2000000', amount_out_raw: '1990000' },
      ...{ usd_micros: null, remote_chain: 'eid:30184', ...at(left, SENT) },
    },
  ])
  const edges = await flowEdges(clickhouse, { from: new Date(0), to: new Date(Math.ceil(Date.now() / 1000) * 1000) })
  expect(edges.length).toBeGreaterThan(0)
  expect(edges.filter(({ from_address, to_address }) => !from_address || !to_address)).toEqual([])

  // Issuers are known even if blocks are read in another order.
  await withDatabase(async (env, other) => {
    await ingestAll(env, other, chain.rpcUrl, chain.head, { START_BLOCK: 'head' })
    await backfillAll(env, chain.rpcUrl, ['--newest-first'], { BATCH_BLOCKS: '1' })
    expect(await factRows(other, 'flows', hashes)).toEqual(flows)
    expect(await fingerprint(other)).toEqual(await fingerprint(clickhouse))
  })
})

test('rewards are distributed, redirected, claimed and forfeited as in the transactions', async ({
  clickhouse,
  takeIn,
}) => {
  const { issuer } = accounts
  const [holder, other] = accounts.traders
  const { token } = await newToken(chain, 1001)
  const send = async (from: typeof issuer, ...calls: Parameters<typeof mine>[1][number]['calls'][number][]) =>
    ((await mine(chain, [{ from, calls }])) as [Receipt])[0]
  const receipts = [
    await send(
      issuer,
      call.grantRole(token, role.issuer, issuer.address),
      call.mint(token, issuer.address, 1_000n * TOKEN),
      call.mint(token, holder.address, 300n * TOKEN),
      call.mint(token, other.address, 100n * TOKEN),
    ),
    await send(holder, call.setRewardRecipient(token, holder.address)),
    await send(other, call.setRewardRecipient(token, holder.address)),
    await send(issuer, call.distributeReward(token, 40n * TOKEN)),
    // The settlement of the other holder's share, which goes to this holder by choice.
    await send(other, call.setRewardRecipient(token, zeroAddress)),
    await send(holder, call.claimRewards(token)),
    // Nothing is left to be paid.
    await send(other, call.claimRewards(token)),
  ] as const
  expect(receipts.map(({ status }) => status)).toEqual(Array(7).fill('0x1'))
  const [, chosen, redirected, distributed, ended, claimed] = receipts
  await takeIn()

  const hashes = receipts.map(({ transactionHash }) => transactionHash)
  const RECIPIENT = toEventSelector('RewardRecipientSet(address,address)')
  expect(await factRows(clickhouse, 'reward_recipients', hashes)).toEqual([
    {
      stable: token,
      holder: lower(holder.address),
      recipient: lower(holder.address),
      ...logPositions(chosen, RECIPIENT)[0],
    },
    {
      stable: token,
      holder: lower(other.address),
      recipient: lower(holder.address),
      ...logPositions(redirected, RECIPIENT)[0],
    },
    { stable: token, holder: lower(other.address), recipient: zeroAddress, ...logPositions(ended, RECIPIENT)[0] },
  ])
  const [given] = logPositions(distributed, toEventSelector('RewardDistributed(address,uint256)'))
  expect(await factRows(clickhouse, 'reward_distributions', hashes)).toEqual([
    { stable: token, funder: lower(issuer.address), amount_raw: `${40n * TOKEN}`, ...given },
  ])
  const gained =
    (await balanceAt(chain, token, holder.address, claimed.blockNumber)) -
    (await balanceAt(chain, token, holder.address, claimed.blockNumber - 1))
  expect(gained).toBe(40n * TOKEN)
  // The first transfer of the claim; the second is the fee.
  expect(await factRows(clickhouse, 'reward_claims', hashes)).toEqual([
    { stable: token, account: lower(holder.address), amount_raw: `${gained}`, ...logPositions(claimed, TRANSFER)[0] },
  ])
})

const tip20 = (to: Hex, functionName: 'approve' | 'transferFrom', args: readonly unknown[]): Call => ({
  to,
  data: encodeFunctionData({ abi: Abis.tip20, functionName, args } as never),
})

test('a trade of two accounts within a transaction is a flow with the value of its lesser side; in two transactions it is not', async ({
  clickhouse,
  takeIn,
}) => {
  const [buyer, seller] = accounts.traders
  if (!buyer || !seller) throw new Error('the market has two traders')
  const stable = chain.plan.stables[0]?.address as Hex
  const path = PATH_USD.address as Hex
  const take = (amount: bigint) => tip20(stable, 'transferFrom', [seller.address, buyer.address, amount])
  await mine(chain, [{ from: seller, calls: [tip20(stable, 'approve', [buyer.address, 10_000_000n])] }])
  const before = chain.head
  const [trade] = (await mine(chain, [
    { from: buyer, calls: [call.transfer(path, seller.address, 1_234_567n), take(1_234_000n)] },
  ])) as [Receipt]
  const [paid, taken] = (await mine(chain, [
    { from: buyer, calls: [call.transfer(path, seller.address, 500_000n)] },
    { from: buyer, calls: [take(500_000n)] },
  ])) as [Receipt, Receipt]
  expect([trade, paid, taken].map(({ status }) => status)).toEqual(['0x1', '0x1', '0x1'])
  // The seller pays no fee here, so its balances show the trade alone.
  const change = async (token: Hex) =>
    (await balanceAt(chain, token, seller.address, before + 1)) -
    (await balanceAt(chain, token, seller.address, before))
  const [got, gave] = [await change(path), -(await change(stable))]
  await takeIn()

  const hashes = [trade, paid, taken].map(({ transactionHash }) => transactionHash)
  const flows = await factRows(clickhouse, 'flows', hashes)
  const sold = `SELECT sell_micros FROM peg_samples WHERE stable = '${stable}' AND block_number = ${trade.blockNumber}`
  const [sample] = await (await clickhouse.query({ query: sold, format: 'JSONEachRow' })).json<{
    sell_micros: number
  }>()
  const worth = (gave * BigInt(sample?.sell_micros ?? 0)) / 1_000_000n
  // The reference stable is worth one dollar.
  const value = worth < got ? worth : got
  expect(flows.map((flow) => JSON.parse(JSON.stringify(flow)))).toEqual([
    {
      kind: 'transfer',
      from_token: path,
      to_token: stable,
      account: buyer.address.toLowerCase(),
      amount_in_raw: got.toString(),
      amount_out_raw: gave.toString(),
      usd_micros: `${value}`,
      path: [path, stable],
      remote_chain: null,
      block_number: trade.blockNumber,
      log_index: trade.logs[1]?.logIndex,
      tx_hash: trade.transactionHash,
    },
  ])
})

// A registration requires 32 bits of work. This salt, from the tests of ox (VirtualMaster), is valid for account 0.
const SALT = numberToHex(0xabf52baf, { size: 32 })
const VIRTUAL = '0x58e21090fdfdfdfdfdfdfdfdfdfd010203040506'

test('a transfer to a virtual address is labelled once, with both ends', async ({ clickhouse, takeIn }) => {
  const master = devAccount(0)
  const [sender] = accounts.traders
  const data = encodeFunctionData({ abi: Abis.addressRegistry, functionName: 'registerVirtualMaster', args: [SALT] })
  const stable = chain.plan.stables[0]?.address as Hex
  await mine(chain, [{ from: master, calls: [{ to: Addresses.addressRegistry, data }] }])
  const [forwarded, noted, direct] = (await mine(chain, [
    { from: sender, calls: [call.transfer(stable, VIRTUAL, 1_234_567n), call.transfer(PATH_USD.address, VIRTUAL, 5n)] },
    { from: sender, calls: [call.transferWithMemo(stable, VIRTUAL, 89n, 7)] },
    { from: sender, calls: [call.transfer(stable, master.address, 1_000n)] },
  ])) as [Receipt, Receipt, Receipt]
  expect([forwarded, noted, direct].map(({ status }) => status)).toEqual(['0x1', '0x1', '0x1'])
  await takeIn()

  const [, first, , second] = logPositions(forwarded, TRANSFER)
  const [, third] = logPositions(noted, TRANSFER)
  const ends = {
    sender: sender.address.toLowerCase(),
    virtual_address: VIRTUAL,
    recipient: master.address.toLowerCase(),
  }
  expect(await factRows(clickhouse, 'virtual_forwards')).toEqual([
    { stable, ...ends, amount_raw: '1234567', ...first },
    { stable: PATH_USD.address, ...ends, amount_raw: '5', ...second },
    { stable, ...ends, amount_raw: '89', ...third },
  ])
})

/**
 * Addresses that contracts may have: any, and ones that begin like those of tokens, of the exchange, the fee manager or
 * a zone. Two or four given bytes take some thousand or billion tries.
 */
const PREFIXES = [
  '0xabcd',
  '0x20c0',
  '0x20c00000',
  '0x20fc0000',
  '0xdec00000',
  '0xfeec0000',
  '0x403c0000',
  '0x5ad00000',
]
const contractOf = (prefix: string, topics: number): Hex => `0x${prefix.slice(2).padEnd(39, '1')}${topics}`

/** The largest values that the types of an event allow, in an event as the chain has it. */
function forgery(event: AbiEvent, victim: Hex): { topics: Hex[]; data: Hex } {
  const inputs = event.inputs.map((input) => ({ ...input, value: largestOf(input.type, victim) }))
  const plain = inputs.filter(({ indexed }) => !indexed)
  return {
    topics: [
      toEventSelector(event),
      ...inputs.filter(({ indexed }) => indexed).map(({ type, value }) => encoded(type, value)),
    ],
    data: encodeAbiParameters(
      plain,
      plain.map(({ value }) => value),
    ),
  }
}

test('a contract that emits the chain’s own events changes no fact, and does not stop ingest', async ({
  clickhouse,
  takeIn,
}) => {
  const rpc = createRpc(chain.rpcUrl)
  const victim = chain.plan.stables[0]?.address as Hex
  const [forger] = accounts.traders
  if (!forger) throw new Error('the market has traders')
  for (const prefix of PREFIXES) {
    for (const topics of [1, 2, 3, 4]) await rpc.call('anvil_setCode', [contractOf(prefix, topics), forgeCode(topics)])
  }
  const forged = READ_EVENTS.map((event) => forgery(event, victim))
  expect(forged.length).toBeGreaterThan(40)
  const hashes: string[] = []
  for (const prefix of PREFIXES) {
    // Valid data, and none: what is no event at all must not stop ingest either.
    const calls = forged.flatMap(({ topics, data }) =>
      [data, '0x' as const].map((bytes) => ({ to: contractOf(prefix, topics.length), data: forgeCall(topics, bytes) })),
    )
    const [receipt] = await mine(chain, [{ from: forger, calls }])
    expect(receipt).toMatchObject({ status: '0x1' })
    // The fee is the last log, and the only one that is not forged.
    expect(receipt?.logs).toHaveLength(calls.length + 1)
    hashes.push(receipt?.transactionHash as string)
  }
  await rpc.call('anvil_mine', [numberToHex(64)])
  chain.head += 64
  await takeIn()

  const withHash = factTables.filter(
    (table) => !['blocks', 'state_reads', 'peg_samples', 'depth_samples', 'role_probes'].includes(table),
  )
  const counts = await Promise.all(
    withHash.map(async (table) => {
      // These are kept without their transaction; a transfer is that of the fee.
      const isForged =
        table === 'transfers' || table === 'exchange_events'
          ? 'block_number IN (SELECT block_number FROM fees_paid WHERE tx_hash IN {hashes: Array(String)})'
          : 'tx_hash IN {hashes: Array(String)}'
      const query = `SELECT count() AS rows FROM ${table} WHERE ${isForged}`
      const answer = await clickhouse.query({ query, query_params: { hashes }, format: 'JSONEachRow' })
      return [table, Number((await answer.json<{ rows: string }>())[0]?.rows)]
    }),
  )
  const own = PREFIXES.length
  expect(Object.fromEntries(counts.filter(([, rows]) => rows !== 0))).toEqual({ fees_paid: own, transfers: own })
})
