import { type AbiEvent, encodeAbiParameters, type Hex, numberToHex, toEventSelector } from 'viem'
import { afterAll, beforeAll, expect } from 'vitest'
import { factTables } from '../../../../clickhouse/facts/facts.js'
import { READ_EVENTS } from '../../../../ingest/chain/events.js'
import { accounts } from '../../../../local/chain/accounts.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { stillChain } from '../../../support/chain.js'
import { encoded, forgeCall, forgeCode, largestOf } from '../../../support/forge.js'
import { ingestAll } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'
import { mine } from '../../../support/transactions.js'

let chain: TestChain
beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 30 })
})
afterAll(async () => {
  await chain?.remove()
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

/** The same event as the chain's own, with the largest values that its types allow. */
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
  clickhouseEnv,
  clickhouse,
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
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)

  const withHash = factTables.filter(
    (table) => !['blocks', 'state_reads', 'peg_samples', 'depth_samples', 'role_probes'].includes(table),
  )
  const counts = await Promise.all(
    withHash.map(async (table) => {
      // A transfer, as that of the fee, is kept without its transaction.
      const isForged =
        table === 'transfers'
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
