import type { ClickHouseClient } from '@clickhouse/client'
import { encodeFunctionData, type Hex, numberToHex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { expect } from 'vitest'
import { readQuotes } from '../../../../ingest/sources/quotes.js'
import { accounts } from '../../../../local/chain/accounts.js'
import { call, role } from '../../../../local/chain/calls.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { backfillAll } from '../../../support/backfill.js'
import { useStillChain } from '../../../support/chain.js'
import { countedNode } from '../../../support/counted-node.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll } from '../../../support/ingest.js'
import { blockIdOf, rpcOf } from '../../../support/rpc.js'
import { test, withDatabase } from '../../../support/services.js'
import { mine, newToken } from '../../../support/transactions.js'

const SEED = Number(process.env.FAULT_SEED ?? 1)
/** Blocks of the market, and then blocks in which quotes change in every way that the chain has. */
const [MARKET, RANDOM] = [180, 90]
/** Blocks that make all before them final. */
const FINAL = 64
const { issuer, maker } = accounts
const ORDER_PLACED = '0xc200d837'
const TOKENS = 1_000_000_000n
const PATH_USD = Addresses.pathUsd as Hex

const chain = useStillChain({ historyBlocks: MARKET })

type Row = {
  block_number: number
  stable: string
  status: string
  sell_micros: number | null
  buy_micros: number | null
}

const tip20 = (to: Hex, functionName: string, args: readonly unknown[] = []) => ({
  to,
  data: encodeFunctionData({ abi: Abis.tip20, functionName, args } as never),
})

/** Three stables, each quoted in the one before, the first in pathUSD, of which the issuer may do everything. */
async function createChained(): Promise<Hex[]> {
  const tokens: Hex[] = []
  for (let i = 0; i < 3; i++) {
    const quote = tokens.at(-1) ?? PATH_USD
    const { token } = await newToken(chain, 5_000 + i, { quote })
    tokens.push(token)
    const granted = [role.issuer, role.pause, role.unpause].map((one) => call.grantRole(token, one, issuer.address))
    const receipts = await mine(chain, [
      { from: issuer, calls: [...granted, call.mint(token, maker.address, 100_000n * TOKENS)] },
      { from: maker, calls: [call.approveDex(quote), call.approveDex(token)] },
    ])
    expect(receipts.map(({ status }) => status)).toEqual(['0x1', '0x1'])
  }
  return tokens
}

/** Mines blocks of random transactions, some of which fail, and some blocks of none. */
async function mineRandomly(tokens: readonly Hex[], random: Random): Promise<void> {
  const orders: bigint[] = []
  const [, middle, end] = tokens as [Hex, Hex, Hex]
  for (let i = 0; i < RANDOM; i++) {
    const token = random.pick(tokens)
    const place = () =>
      call.place(token, { amount: TOKENS / 5n, isBid: random.chance(0.5), tick: 10 * random.int(-20, 20) })
    const acts = [
      // The first order of a book makes it, which takes more gas than one call has.
      () => ({ from: maker, calls: [place(), call.transfer(token, issuer.address, 1n)] }),
      () => ({ from: maker, calls: [place(), call.transfer(token, issuer.address, 1n)] }),
      () => ({ from: maker, calls: [call.placeFlip(token, { amount: TOKENS / 5n, isBid: true, tick: -10 }, 10)] }),
      () => ({ from: maker, calls: [call.cancel(random.pick(orders.length > 0 ? orders : [1n]))] }),
      () => ({
        from: maker,
        calls: [call.swap(token, PATH_USD, { tokenIn: token, tokenOut: PATH_USD, exact: 'in', amount: TOKENS / 10n })],
      }),
      () => ({
        from: maker,
        calls: [call.swap(PATH_USD, token, { tokenIn: PATH_USD, tokenOut: token, exact: 'in', amount: TOKENS / 10n })],
      }),
      () => ({ from: maker, calls: [call.transfer(token, issuer.address, 1n)] }),
      () => ({ from: issuer, calls: [call.mint(token, maker.address, 1n)] }),
      () => ({ from: issuer, calls: [call.pause(token)] }),
      () => ({ from: issuer, calls: tokens.map(call.unpause) }),
      () => ({ from: issuer, calls: tokens.map(call.unpause) }),
      () => ({
        from: issuer,
        calls: [
          tip20(end, 'setNextQuoteToken', [random.pick([middle, PATH_USD])]),
          tip20(end, 'completeQuoteTokenUpdate'),
        ],
      }),
    ]
    const receipts = await mine(chain, random.chance(0.7) ? [random.pick(acts)()] : [])
    for (const { topics } of receipts.flatMap(({ logs }) => logs))
      if (topics[0]?.startsWith(ORDER_PLACED)) orders.push(BigInt(topics[1] as string))
  }
}

async function samplesByBlock(clickhouse: ClickHouseClient): Promise<Map<number, Row[]>> {
  const query = `
    SELECT toUInt32(block_number) AS block_number, stable, status, sell_micros, buy_micros
    FROM peg_samples WHERE status NOT IN ('anchor', 'not_usd') ORDER BY block_number, stable`
  const rows = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Row>()
  const byBlock = new Map<number, Row[]>()
  for (const row of rows) byBlock.set(row.block_number, [...(byBlock.get(row.block_number) ?? []), row])
  return byBlock
}

test('every sample is the quote of the node at its own block, though few are read there', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const tokens = await createChained()
  await mineRandomly(tokens, randomFor(SEED, 'book quotes'))
  await createRpc(chain.rpcUrl).call('anvil_mine', [numberToHex(FINAL)])
  chain.head += FINAL
  const node = await countedNode(chain.rpcUrl)
  await ingestAll(clickhouseEnv, clickhouse, node.url, chain.head, { BATCH_BLOCKS: '40' })

  const stored = await samplesByBlock(clickhouse)
  const rpc = rpcOf(chain.rpcUrl)
  const seen = new Set<string>()
  let unread = 0
  for (let number = 1; number <= chain.head; number++) {
    const block = await blockIdOf(chain.rpcUrl, number)
    const rows = stored.get(number) ?? []
    const stables = rows.map(({ stable }) => stable)
    const ofNode = await readQuotes(rpc, stables, block)
    expect(rows, `seed ${SEED}, block ${number}`).toEqual(
      ofNode.map(({ status, sellMicros, buyMicros }, i) => ({
        ...{ block_number: number, stable: stables[i], status, sell_micros: sellMicros, buy_micros: buyMicros },
      })),
    )
    if (node.at(block.hash).calls < 2 * rows.length) unread++
    for (const { stable, status } of rows) if (tokens.includes(stable as Hex)) seen.add(status)
  }
  await node.close()
  expect(unread).toBeGreaterThan(0.75 * chain.head)
  expect([...seen].sort()).toEqual(['no_liquidity', 'no_pair', 'paused', 'quoted'])

  // In other batches, backwards, and from the tip on, the rows are the same.
  await withDatabase(async (env, other) => {
    await ingestAll(env, other, chain.rpcUrl, chain.head, { START_BLOCK: 'head' })
    await backfillAll(env, chain.rpcUrl, ['--newest-first'], { BATCH_BLOCKS: '13' })
    expect(await fingerprint(other)).toEqual(await fingerprint(clickhouse))
  })
})
