import type { ClickHouseClient } from '@clickhouse/client'
import { decodeFunctionData, decodeFunctionResult, encodeFunctionResult, type Hex, multicall3Abi } from 'viem'
import { expect } from 'vitest'
import { readQuotes } from '../../../../ingest/sources/quotes.js'
import { isoSeconds } from '../../../../process/instants.js'
import { test } from '../../../support/app.js'
import { useStillChain } from '../../../support/chain.js'
import { type Change, changedNode } from '../../../support/changed-node.js'
import { ingestAll } from '../../../support/ingest.js'
import { blockIdOf, rpcOf } from '../../../support/rpc.js'

const BLOCKS = 120
/** The blocks of a batch, and those in which the node has another rule. */
const [BATCH, FROM, TO] = [20, 55, 69]
const chain = useStillChain({ historyBlocks: BLOCKS })

/** The exchange's quoteSwapExactAmountIn. */
const SELLS = '0xe7c98f1a'

/** The end of the data of a quote of one token. */
const ONE_TOKEN = (1_000_000).toString(16).padStart(64, '0')

/** Makes the node answer one unit less for what one `stable` sells for in these blocks. */
function otherRule(stable: string, hashes: ReadonlySet<string>): Change {
  return (answer, { method, params }) => {
    const [call, at] = params as unknown as [{ data: Hex }, { blockHash: string }]
    if (method !== 'eth_call' || !hashes.has(at.blockHash)) return
    const [calls] = decodeFunctionData({ abi: multicall3Abi, data: call.data }).args as unknown as [{ callData: Hex }[]]
    const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer.result as Hex })
    const changed = results.map((result, i) => {
      const { callData } = calls[i] as { callData: Hex }
      const isSale = callData.startsWith(SELLS) && callData.includes(stable.slice(2)) && callData.endsWith(ONE_TOKEN)
      if (!result.success || !isSale) return result
      return { ...result, returnData: `0x${(BigInt(result.returnData) - 1n).toString(16).padStart(64, '0')}` as Hex }
    })
    answer.result = encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: changed })
  }
}

type Sample = { block_number: number; at: string; sell_micros: number | null }
async function samplesOf(clickhouse: ClickHouseClient, stable: string): Promise<Sample[]> {
  const query = `
    SELECT toUInt32(block_number) AS block_number, toString(toUnixTimestamp(block_time)) AS at, sell_micros
    FROM peg_samples WHERE stable = {stable: String} ORDER BY block_number`
  return (await clickhouse.query({ query, query_params: { stable }, format: 'JSONEachRow' })).json<Sample>()
}

test('where the node quotes by another rule its quotes are stored, and everybody is told', async ({
  app,
  clickhouse,
  clickhouseEnv,
}) => {
  const options = { BATCH_BLOCKS: `${BATCH}`, QUOTES_COMPARED: '0' }
  const stable = '0x20c0000000000000000000000000000000000001'
  const hashes = new Set<string>()
  for (let number = FROM; number <= TO; number++) hashes.add((await blockIdOf(chain.rpcUrl, number)).hash)
  const node = await changedNode(chain.rpcUrl, otherRule(stable, hashes))
  await ingestAll(clickhouseEnv, clickhouse, node.url, chain.head, options)
  node.close()

  // Batch 40 to 59 ends in the changed rule, batch 60 to 79 after it: only the first is noticed.
  const samples = await samplesOf(clickhouse, stable)
  const rpc = rpcOf(chain.rpcUrl)
  for (const { block_number, sell_micros } of samples.filter((sample) => sample.block_number < 80)) {
    const [own] = await readQuotes(rpc, [stable], await blockIdOf(chain.rpcUrl, block_number))
    const isLowered = block_number >= FROM && block_number < 60 && own?.status === 'quoted'
    expect([block_number, sell_micros]).toEqual([
      block_number,
      isLowered ? (own.sellMicros as number) - 1 : own?.sellMicros,
    ])
  }
  expect(samples.filter(({ block_number, sell_micros }) => block_number === 59 && sell_micros !== null)).toHaveLength(1)

  const { agreement } = (await app.inject('/api/v1/status')).json()
  const [first, last] = [40, 59].map((number) => samples.find(({ block_number }) => block_number === number)?.at)
  const range = [first, last].map((at) => isoSeconds(new Date(Number(at) * 1000)))
  expect(agreement.disagreed).toEqual([
    { from_block: 40, to_block: 59, from: range[0], to: range[1], stables: [stable] },
  ])
  expect(agreement.differences).toBe(1)
  expect(agreement.blocks).toBeGreaterThanOrEqual(Math.floor(BLOCKS / BATCH))
  expect((await app.inject('/metrics')).payload).toContain('plumbline_quotes_disagreed_total 1\n')

  const url = `/api/v1/stablecoins/${stable}/peg?as_of=${range[1]}`
  const { coverage } = (await app.inject(url)).json()
  expect(coverage.status).toBe('partial')
  expect(coverage.missing.filter(({ reason }: { reason: string }) => reason === 'disagrees')).toEqual([
    expect.objectContaining({ from: range[0], to: range[1], from_block: 40, to_block: 59 }),
  ])
})
