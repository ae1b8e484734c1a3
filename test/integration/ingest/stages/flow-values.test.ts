import { encodeFunctionData, type Hex, numberToHex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { stillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'

let chain: TestChain

beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 180 })
})
afterAll(async () => {
  await chain?.remove()
})

type StoredFlow = {
  from_token: string
  to_token: string
  amount_in_raw: string
  amount_out_raw: string
  usd_micros: string | null
  block_number: number
}

/**
 * The sell quote of one token at the end of a block in micro-units of pathUSD, read from the node; null if there is
 * none.
 */
async function sellPrice(token: string, block: number): Promise<bigint | null> {
  if (token === Addresses.pathUsd) return 1_000_000n
  const data = encodeFunctionData({
    abi: Abis.stablecoinDex,
    functionName: 'quoteSwapExactAmountIn',
    args: [token as Hex, Addresses.pathUsd, 1_000_000n],
  })
  const response = await fetch(chain.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_call',
      params: [{ to: Addresses.stablecoinDex, data }, numberToHex(block)],
    }),
  })
  const { result } = (await response.json()) as { result?: string }
  return result === undefined ? null : BigInt(result)
}

test('every flow between listed stables has the value of its lesser side at the prices of its block', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const answer = await clickhouse.query({
    query: `SELECT from_token, to_token, toString(amount_in_raw) AS amount_in_raw, toString(amount_out_raw) AS amount_out_raw,
                   toString(usd_micros) AS usd_micros, toUInt32(block_number) AS block_number
            FROM flows WHERE kind = 'swap' ORDER BY block_number, log_index`,
    format: 'JSONEachRow',
  })
  const flows = await answer.json<StoredFlow>()
  const expected: StoredFlow[] = []
  const lesser = { in: 0, out: 0 }
  for (const flow of flows) {
    const worth = async (token: string, raw: string): Promise<bigint | null> => {
      const price = await sellPrice(token, flow.block_number)
      return price === null ? null : (BigInt(raw) * price) / 1_000_000n
    }
    const given = await worth(flow.from_token, flow.amount_in_raw)
    const got = await worth(flow.to_token, flow.amount_out_raw)
    const isGiven = got === null || (given !== null && given < got)
    const value = isGiven ? given : got
    lesser[isGiven ? 'in' : 'out']++
    expected.push({ ...flow, usd_micros: value?.toString() ?? null })
  }
  expect(flows).toEqual(expected)
  // Both rules of it apply: neither side is always the lesser.
  expect(Math.min(lesser.in, lesser.out)).toBeGreaterThan(10)
})
