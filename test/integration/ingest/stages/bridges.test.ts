import { encodeAbiParameters, encodeFunctionData, type Hex, numberToHex, pad, toEventSelector } from 'viem'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { flowEdges } from '../../../../clickhouse/flows/flows.js'
import { accounts } from '../../../../local/chain/accounts.js'
import { call, role } from '../../../../local/chain/calls.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { backfillAll } from '../../../support/backfill.js'
import { stillChain } from '../../../support/chain.js'
import { factRows } from '../../../support/fact-rows.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll } from '../../../support/ingest.js'
import { OFT_CODE, oftCall } from '../../../support/oft.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test, withDatabase } from '../../../support/services.js'
import { mine, newToken, type Receipt } from '../../../support/transactions.js'

let chain: TestChain
beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 30 })
})
afterAll(async () => {
  await chain?.remove()
})

/** The local node treats a block as final when this many blocks are on top of it. */
const FINAL_AFTER = 64
const OFT: Hex = `0x${'0f7'.repeat(13)}1`
const FAKE: Hex = `0x${'fa4'.repeat(13)}1`
const GUID: Hex = `0x${'9d'.repeat(32)}`
const SENT = toEventSelector('OFTSent(bytes32,uint32,address,uint256,uint256)')
const RECEIVED = toEventSelector('OFTReceived(bytes32,uint32,address,uint256)')

test('an OFT’s mints come from another chain and its burns go to it, and neither is an edge', async ({
  clickhouseEnv,
  clickhouse,
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
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)

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
