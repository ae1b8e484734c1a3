import { decodeFunctionResult, encodeFunctionData, type Hex, numberToHex } from 'viem'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { createRpc, type Rpc } from '../../../../local/chain/rpc.js'
import { stillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'

const BLOCKS = 240

let chain: TestChain
let node: Rpc

beforeAll(async () => {
  chain = await stillChain({ historyBlocks: BLOCKS })
  node = createRpc(chain.rpcUrl)
})
afterAll(async () => {
  await chain?.remove()
})

type Read = {
  stable: string
  block_number: number
  supply_raw: string
  cap_raw: string
  paused: boolean
  policy_id: string
  opted_in_raw: string
  reward_per_token_raw: string
}

/** The columns of a read, in order, with the token's function for each. */
const COLUMNS = {
  supply_raw: 'totalSupply',
  cap_raw: 'supplyCap',
  paused: 'paused',
  policy_id: 'transferPolicyId',
  opted_in_raw: 'optedInSupply',
  reward_per_token_raw: 'globalRewardPerToken',
} as const

/** The tokens' values at the blocks of the reads, requested one by one. */
async function askedAgain(reads: readonly Read[]): Promise<Read[]> {
  const columns = Object.entries(COLUMNS)
  const again: Read[] = []
  for (const { stable, block_number } of reads) {
    const answers = await node.batch(
      columns.map(([, functionName]) => {
        const data = encodeFunctionData({ abi: Abis.tip20, functionName })
        return ['eth_call', [{ to: stable, data }, numberToHex(block_number)]] as const
      }),
    )
    const values = columns.map(([column, functionName], i) => {
      const value = decodeFunctionResult({ abi: Abis.tip20, functionName, data: answers[i] as Hex })
      return [column, typeof value === 'boolean' ? value : value.toString()]
    })
    again.push({ stable, block_number, ...Object.fromEntries(values) } as Read)
  }
  return again
}

test('states are read at each five-minute mark and where events change them, rewards included', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const answer = await clickhouse.query({
    query: `SELECT stable, toUInt32(block_number) AS block_number, toString(supply_raw) AS supply_raw, toString(cap_raw) AS cap_raw,
                   paused, toString(policy_id) AS policy_id, toString(opted_in_raw) AS opted_in_raw,
                   toString(reward_per_token_raw) AS reward_per_token_raw
            FROM state_reads ORDER BY block_number, stable`,
    format: 'JSONEachRow',
  })
  const reads = await answer.json<Read>()
  expect(reads).toEqual(await askedAgain(reads))

  const times = await Promise.all(
    Array.from({ length: BLOCKS + 1 }, async (_, number) => {
      const block = await node.call('eth_getBlockByNumber', [numberToHex(number), false])
      return Number((block as { timestamp: string }).timestamp)
    }),
  )
  const marks = Array.from({ length: BLOCKS }, (_, i) => (Math.ceil((times[0] as number) / 300) + i) * 300)
  const due = new Set(marks.map((mark) => times.findIndex((time) => time >= mark)).filter((number) => number > 0))
  expect(due.size).toBeGreaterThan(BLOCKS / 5 - 2)
  const all = ['pathUSD', ...chain.plan.tokens.map(({ symbol }) => symbol)].length
  for (const number of due)
    expect([number, reads.filter((read) => read.block_number === number).length]).toEqual([number, all])

  // It is never issued, so no event of its own triggers a read, and the policies that the setup creates are not its own.
  const quiet = chain.plan.tokens.find(({ symbol }) => symbol === 'AlphaUSD')?.address as string
  expect(
    reads.flatMap(({ stable, block_number }) => (stable === quiet && block_number > 1 ? [block_number] : [])),
  ).toEqual([...due].filter((number) => number > 1).sort((a, b) => a - b))

  const rewarded = reads.filter(({ stable }) => stable === chain.plan.stable('BWUSD').address)
  const paid = rewarded.map(({ reward_per_token_raw }) => BigInt(reward_per_token_raw))
  expect(paid).toEqual(paid.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
  expect(new Set(paid).size).toBeGreaterThan(1)
  // It changes with transfers of opted-in holders, which emit no event about it.
  const silent = rewarded.filter((read, i) => {
    const before = rewarded[i - 1]
    return before && read.supply_raw === before.supply_raw && read.opted_in_raw !== before.opted_in_raw
  })
  expect(silent.length).toBeGreaterThan(0)
})
