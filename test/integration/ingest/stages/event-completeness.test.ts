import { numberToHex, pad, parseEventLogs } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import type { FactTable } from '../../../../clickhouse/facts/facts.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { stillChain } from '../../../support/chain.js'
import { factRows } from '../../../support/fact-rows.js'
import { ingestAll } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'

const BLOCKS = 200

let chain: TestChain
beforeAll(async () => {
  chain = await stillChain({ historyBlocks: BLOCKS })
})
afterAll(async () => {
  await chain?.remove()
})

/** The table of rows for each event of each contract. */
const KEPT: ReadonlyArray<[FactTable, readonly unknown[], (address: string) => boolean, string[]]> = [
  ['supply_events', Abis.tip20, isToken, ['Mint', 'Burn', 'BurnBlocked', 'SupplyCapUpdate']],
  ['transfers', Abis.tip20, isToken, ['Transfer']],
  ['role_events', Abis.tip20, isToken, ['RoleMembershipUpdated', 'RoleAdminUpdated']],
  ['pause_events', Abis.tip20, isToken, ['PauseStateUpdate']],
  ['policy_events', Abis.tip20, isToken, ['TransferPolicyUpdate']],
  [
    'policy_events',
    Abis.tip403Registry,
    is(Addresses.tip403Registry),
    ['PolicyCreated', 'PolicyAdminUpdated', 'WhitelistUpdated', 'BlacklistUpdated', 'CompoundPolicyCreated'],
  ],
  ['reward_distributions', Abis.tip20, isToken, ['RewardDistributed']],
  ['reward_recipients', Abis.tip20, isToken, ['RewardRecipientSet']],
  ['fee_elections', Abis.feeManager, is(Addresses.feeManager), ['UserTokenSet', 'ValidatorTokenSet']],
  ['fee_distributions', Abis.feeManager, is(Addresses.feeManager), ['FeesDistributed']],
  ['fee_pool_events', Abis.feeAmm, is(Addresses.feeManager), ['Mint', 'Burn', 'RebalanceSwap']],
]

function is(contract: string) {
  return (address: string): boolean => address === contract.toLowerCase()
}
function isToken(address: string): boolean {
  return address.startsWith('0x20c0')
}

type Log = { address: string; topics: string[]; blockNumber: string; logIndex: string }

test('in a market with every kind of event, each of these logs is exactly one row', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const range = { fromBlock: numberToHex(1), toBlock: numberToHex(chain.head) }
  const logs = (await createRpc(chain.rpcUrl).call('eth_getLogs', [range])) as Log[]
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)

  const place = (log: Log): string => `${Number(log.blockNumber)} ${Number(log.logIndex)}`
  const expected = new Map<FactTable, Set<string>>()
  for (const [table, abi, emits, names] of KEPT) {
    const own = logs.filter(({ address }) => emits(address))
    const found = parseEventLogs({ abi: abi as never, eventName: names as never, logs: own as never }) as Log[]
    expected.set(table, new Set([...(expected.get(table) ?? []), ...found.map(place)]))
  }
  const claims = logs.filter(({ address, topics }) => isToken(address) && topics[1] === pad(address as `0x${string}`))
  expected.set('reward_claims', new Set(claims.map(place)))

  for (const [table, places] of expected) {
    const rows = await factRows(clickhouse, table)
    expect([table, rows.map((row) => `${row.block_number} ${row.log_index}`).sort()]).toEqual([
      table,
      [...places].sort(),
    ])
    // A market without one of the kinds would prove nothing about it.
    expect([table, places.size > 0]).toEqual([table, true])
  }
})
