import { numberToHex } from 'viem'
import { expect } from 'vitest'
import { questionsOf } from '../../../../clickhouse/exchange/stable-quotes.js'
import { FIRST_TRADING_BLOCK } from '../../../../local/chain/clock.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { test } from '../../../support/app.js'
import { useStillChain } from '../../../support/chain.js'
import { askedOfNode } from '../../../support/exchange-replay.js'
import { ingestAll } from '../../../support/ingest.js'

/** Seconds between blocks. */
const SPACING = 20
const chain = useStillChain({ historyBlocks: 120, blockSeconds: SPACING })
/** None of them is sampled, and some are more than any book holds. */
const SIZES = [1, 7, 333, 25_000, 87_654, 2_500_000, 999_999_999_999_999]

test('the price of any size at any past block is what the node quotes there, to the base unit', async ({
  app,
  clock,
  clickhouse,
  clickhouseEnv,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const rpc = createRpc(chain.rpcUrl)
  const query = 'SELECT toString(stable) AS stable FROM stablecoins ORDER BY block_number, log_index LIMIT 12'
  const rows = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ stable: string }>()
  const stables = rows.map(({ stable }) => stable).slice(1)
  const seen = new Set<string>()
  for (let number = FIRST_TRADING_BLOCK; number <= chain.head; number += 17) {
    const { timestamp } = (await rpc.call('eth_getBlockByNumber', [numberToHex(number), false])) as {
      timestamp: string
    }
    const at = Number(timestamp)
    clock.now = new Date((at + SPACING) * 1000)
    for (const stable of stables) {
      const questions = SIZES.flatMap((size) => {
        const { sell, buy } = questionsOf(stable, BigInt(size) * 1_000_000n)
        return [sell, buy]
      })
      const ofNode = await askedOfNode(rpc, number, questions)
      const answer = (
        await app.inject(`/api/v1/stablecoins/${stable}/depth?as_of=${at}&sizes=${SIZES}&size=25000`)
      ).json()
      const expected = SIZES.map((size_tokens, i) => {
        const priceOf = (quote: bigint | string | undefined, sign: 1 | -1) => {
          if (typeof quote !== 'bigint') return { price: null, cost_bps: null, reason: quote }
          const price = Number(quote) / (size_tokens * 1e6)
          return { price, cost_bps: expect.closeTo(sign * (price - 1) * 10_000, 6), reason: null }
        }
        const [sell, buy] = [priceOf(ofNode[2 * i], -1), priceOf(ofNode[2 * i + 1], 1)]
        for (const { reason } of [sell, buy]) seen.add(`${reason}`)
        return { size_tokens, sell, buy }
      })
      expect([number, stable, answer.at_sizes]).toEqual([number, stable, expected])
      expect(answer.at_size).toEqual(expected[3])
      const { exit_cost } = (await app.inject(`/api/v1/stablecoins/${stable}/liquidity?as_of=${at}&size=25000`)).json()
      const { cost_bps, reason } = (expected[3] as (typeof expected)[number]).sell
      expect(exit_cost).toEqual({ size_tokens: 25_000, exit_cost_bps: cost_bps, reason })
    }
  }
  expect([...seen]).toEqual(expect.arrayContaining(['null', 'no_liquidity']))
})

test('more sizes than an answer has, and sizes that are none, are refused', async ({ app }) => {
  const url = '/api/v1/stablecoins/0x20c0000000000000000000000000000000000001/depth?sizes='
  for (const sizes of ['', '0', '1,', '-5', '1,2.5', Array.from({ length: 21 }, (_, i) => i + 1).join()])
    expect([sizes, (await app.inject(`${url}${sizes}`)).statusCode]).toEqual([sizes, 400])
})
