import { createClient, http, numberToHex, parseEventLogs } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { stillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'

let chain: TestChain

beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 120 })
})
afterAll(async () => {
  await chain?.remove()
})

/** Every log of the DEX on the chain, as viem reads it. */
async function logsOfDex() {
  const node = createClient({ transport: http(chain.rpcUrl) })
  const filter = { address: Addresses.stablecoinDex, fromBlock: numberToHex(1), toBlock: numberToHex(chain.head) }
  const logs = await node.request({ method: 'eth_getLogs', params: [filter] } as never)
  return parseEventLogs({ abi: Abis.stablecoinDex, logs: logs as never })
}

const lower = <Value>(value: Value): Value => (typeof value === 'string' ? value.toLowerCase() : value) as Value

test('fills, cancellations and pairs are those of the chain, with the terms of their orders', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const rows = async (query: string) => (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
  const logs = await logsOfDex()
  const placed = new Map(
    logs.flatMap((log) => (log.eventName === 'OrderPlaced' ? [[log.args.orderId, log.args] as const] : [])),
  )

  const filled = logs.flatMap(({ eventName, args, transactionHash }) => {
    if (eventName !== 'OrderFilled') return []
    const { token, isBid, tick } = placed.get(args.orderId) ?? { token: '', isBid: null, tick: null }
    return {
      order_id: `${args.orderId}`,
      maker: lower(args.maker),
      taker: lower(args.taker),
      base: lower(token),
      is_bid: isBid,
      tick,
      base_raw: `${args.amountFilled}`,
      is_partial: args.partialFill,
      tx_hash: transactionHash,
    }
  })
  expect(filled.length).toBeGreaterThan(100)
  expect(
    await rows(`SELECT toString(order_id) AS order_id, maker, taker, base, is_bid, tick, toString(base_raw) AS base_raw, is_partial, tx_hash
                FROM dex_fills ORDER BY block_number, log_index`),
  ).toEqual(filled)

  const cancelled = logs.flatMap(({ eventName, args }) => (eventName === 'OrderCancelled' ? [`${args.orderId}`] : []))
  expect(cancelled.length).toBeGreaterThan(3)
  expect(
    await rows(
      `SELECT toString(order_id) AS order_id FROM dex_order_ends WHERE kind = 'cancelled' ORDER BY block_number, log_index`,
    ),
  ).toEqual(cancelled.map((order_id) => ({ order_id })))

  const pairs = logs.flatMap(({ eventName, args }) =>
    eventName === 'PairCreated' ? [{ base: lower(args.base), quote: lower(args.quote), pair_key: args.key }] : [],
  )
  expect(pairs.length).toBeGreaterThan(5)
  expect(await rows('SELECT base, quote, pair_key FROM dex_pairs ORDER BY block_number, log_index')).toEqual(pairs)

  // A trade over one book gives and gets what its fills do on balance: a batch may sell and buy some of it back.
  const odd = await rows(`
    WITH if(is_bid, base, quote) AS sold, toInt256(if(is_bid, base_raw, quote_raw)) AS paid, toInt256(if(is_bid, quote_raw, base_raw)) AS got
    SELECT tx_hash
    FROM flows
    INNER JOIN dex_fills USING tx_hash
    WHERE length(path) = 2 AND tx_hash IN (SELECT tx_hash FROM flows GROUP BY tx_hash HAVING count() = 1)
    GROUP BY tx_hash, from_token, amount_in_raw, amount_out_raw
    HAVING amount_in_raw != sum(if(sold = from_token, paid, -got)) OR amount_out_raw != sum(if(sold = from_token, got, -paid))`)
  expect(odd).toEqual([])
})
