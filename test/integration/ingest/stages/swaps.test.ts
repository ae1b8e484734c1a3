import { createClient, http, numberToHex } from 'viem'
import { afterAll, beforeAll, expect } from 'vitest'
import { type RpcTransaction, type SwapCall, swapCalls } from '../../../../local/chain/swap-calls.js'
import { stillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'

let chain: TestChain

beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 240 })
})
afterAll(async () => {
  await chain?.remove()
})

type StoredFlow = {
  tx_hash: string
  from_token: string
  to_token: string
  amount_in_raw: string
  amount_out_raw: string
  path: string[]
}

/** The swaps of every transaction that succeeded, as its sender signed them, by transaction hash. */
async function signedSwaps(): Promise<Map<string, SwapCall[]>> {
  const node = createClient({ transport: http(chain.rpcUrl) })
  const ask = <Answer>(method: string, params: unknown[]): Promise<Answer> => node.request({ method, params } as never)
  const signed = new Map<string, SwapCall[]>()
  for (let number = 1; number <= chain.head; number++) {
    const [block, receipts] = await Promise.all([
      ask<{ transactions: Array<RpcTransaction & { hash: string }> }>('eth_getBlockByNumber', [
        numberToHex(number),
        true,
      ]),
      ask<Array<{ transactionHash: string; status: string }>>('eth_getBlockReceipts', [numberToHex(number)]),
    ])
    const succeeded = new Set(
      receipts.filter(({ status }) => status === '0x1').map(({ transactionHash }) => transactionHash),
    )
    for (const transaction of block.transactions) {
      const calls = swapCalls(transaction)
      if (calls.length > 0 && succeeded.has(transaction.hash)) signed.set(transaction.hash, calls)
    }
  }
  return signed
}

test('every swap reconstructed from logs is the swap that its sender signed, and none is missing', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const answer = await clickhouse.query({
    query: `SELECT tx_hash, from_token, to_token, toString(amount_in_raw) AS amount_in_raw, toString(amount_out_raw) AS amount_out_raw, path
            FROM flows WHERE kind = 'swap' ORDER BY block_number, log_index`,
    format: 'JSONEachRow',
  })
  const rebuilt = new Map<string, StoredFlow[]>()
  for (const flow of await answer.json<StoredFlow>())
    rebuilt.set(flow.tx_hash, [...(rebuilt.get(flow.tx_hash) ?? []), flow])

  const signed = await signedSwaps()
  const asSigned = [...signed].map(([hash, calls]) => [
    hash,
    calls.map(({ tokenIn, tokenOut, exact, amount }) => ({ tokenIn, tokenOut, [exact]: amount.toString() })),
  ])
  const asRebuilt = [...signed].map(([hash, calls]) => [
    hash,
    (rebuilt.get(hash) ?? []).map((flow, i) => ({
      tokenIn: flow.from_token,
      tokenOut: flow.to_token,
      ...(calls[i]?.exact === 'in' ? { in: flow.amount_in_raw } : { out: flow.amount_out_raw }),
    })),
  ])
  expect(asRebuilt).toEqual(asSigned)
  expect([...rebuilt.keys()].filter((hash) => !signed.has(hash))).toEqual([])

  // The market has every kind: one to three hops, each exact in and exact out, and two swaps in one transaction.
  const kinds = new Set(
    [...signed].flatMap(([hash, calls]) =>
      calls.map(({ exact }, i) => `${(rebuilt.get(hash)?.[i]?.path.length ?? 0) - 1} ${exact}`),
    ),
  )
  expect([...kinds].sort()).toEqual(['1 in', '1 out', '2 in', '2 out', '3 in', '3 out'])
  expect([...signed.values()].some((calls) => calls.length === 2)).toBe(true)
})
