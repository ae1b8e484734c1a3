import { encodeFunctionData, type Hex, numberToHex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { expect } from 'vitest'
import { accounts } from '../../../../local/chain/accounts.js'
import { call, role } from '../../../../local/chain/calls.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { backfillAll } from '../../../support/backfill.js'
import { useStillChain } from '../../../support/chain.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll } from '../../../support/ingest.js'
import { test, withDatabase } from '../../../support/services.js'
import { mine, newToken } from '../../../support/transactions.js'

const chain = useStillChain({ historyBlocks: 30 })

const DEPTH = 10
const TOKENS = 1_000_000_000n
const BEST = 2_000

const tip20 = (to: Hex, functionName: 'setNextQuoteToken' | 'completeQuoteTokenUpdate', args: readonly unknown[]) => ({
  to,
  data: encodeFunctionData({ abi: Abis.tip20, functionName, args } as never),
})

test('stables quoted in each other are priced up to eight books deep, at whatever block they are read', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const { issuer, maker } = accounts
  const tokens: Hex[] = []
  // Each has a bid at the best price that the exchange allows, in the one before.
  for (let i = 0; i < DEPTH; i++) {
    const quote = tokens.at(-1) ?? (Addresses.pathUsd as Hex)
    const { token } = await newToken(chain, 3_000 + i, { quote })
    tokens.push(token)
    const bid = [call.approveDex(quote), call.place(token, { amount: TOKENS, isBid: true, tick: BEST })]
    const receipts = await mine(chain, [
      {
        from: issuer,
        calls: [call.grantRole(token, role.issuer, issuer.address), call.mint(token, maker.address, 100n * TOKENS)],
      },
      { from: maker, calls: bid },
    ])
    expect(receipts.map(({ status }) => status)).toEqual(['0x1', '0x1'])
  }
  const deepest = chain.head
  const moved = tokens[DEPTH - 1] as Hex
  // The last one moves next to the reference stable, where nobody bids for it yet.
  const [nearer] = await mine(chain, [
    {
      from: issuer,
      calls: [tip20(moved, 'setNextQuoteToken', [Addresses.pathUsd]), tip20(moved, 'completeQuoteTokenUpdate', [])],
    },
  ])
  expect(nearer?.status).toBe('0x1')
  await createRpc(chain.rpcUrl).call('anvil_mine', [numberToHex(64)])
  chain.head += 64
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)

  const samplesAt = async (block: number) => {
    const query = `SELECT stable, status, sell_micros FROM peg_samples WHERE block_number = {block: UInt64} AND stable IN {tokens: Array(String)}`
    const answer = await clickhouse.query({ query, query_params: { block, tokens }, format: 'JSONEachRow' })
    const rows = await answer.json<{ stable: Hex; status: string; sell_micros: number | null }>()
    return tokens
      .map((token) => rows.find(({ stable }) => stable === token))
      .map((row) => [row?.status, row?.sell_micros])
  }
  // Each book pays 1.02, and rounds down.
  const prices = Array.from({ length: 8 }, (_, hops) => {
    let amount = 1_000_000n
    for (let i = 0; i <= hops; i++) amount = (amount * 102n) / 100n
    return ['quoted', Number(amount)]
  })
  expect(await samplesAt(deepest)).toEqual([...prices, ['too_deep', null], ['too_deep', null]])
  expect(await samplesAt(deepest + 1)).toEqual([...prices, ['too_deep', null], ['no_pair', null]])

  await withDatabase(async (env, other) => {
    await ingestAll(env, other, chain.rpcUrl, chain.head, { START_BLOCK: 'head' })
    await backfillAll(env, chain.rpcUrl, ['--newest-first'], { BATCH_BLOCKS: '7' })
    expect(await fingerprint(other)).toEqual(await fingerprint(clickhouse))
  })
})
