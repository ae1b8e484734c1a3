import type { AbiEvent, AbiFunction } from 'viem'
import { Abis } from 'viem/tempo'
import { expect, test } from 'vitest'
import * as own from '../../../../ingest/chain/abis.js'

type Item = AbiEvent | AbiFunction
const CONTRACTS: ReadonlyArray<[string, readonly Item[], readonly { type: string }[]]> = [
  ['a token', [...own.TIP20, ...own.TIP20_EVENTS, ...own.TIP20_UNREAD_EVENTS], Abis.tip20],
  ['the factory of tokens', own.TIP20_FACTORY_EVENTS, Abis.tip20Factory],
  ['the exchange', own.STABLECOIN_DEX_EVENTS, Abis.stablecoinDex],
  ['the registry of policies', [...own.TIP403, ...own.TIP403_EVENTS], Abis.tip403Registry],
  ['the fee manager', own.FEE_MANAGER_EVENTS, Abis.feeManager],
  ['the pools of the fee manager', own.FEE_AMM_EVENTS, Abis.feeAmm],
  ['the guard of receive policies', own.RECEIVE_POLICY_GUARD_EVENTS, Abis.receivePolicyGuard],
  ['a portal of a zone', own.ZONE_PORTAL_EVENTS, Abis.zonePortal],
]

/** An event or function with all that encoding and decoding depend on; the names of results do not matter. */
const shapeOf = (item: Item) => {
  const inputs: readonly { name?: string | undefined; type: string; indexed?: boolean | undefined }[] = item.inputs
  const results = item.type === 'function' ? item.outputs.map(({ type }) => type) : []
  return [item.type, item.name, inputs.map(({ name, type, indexed }) => [name, type, indexed ?? false]), results]
}

test.each(CONTRACTS)('the ABI of %s is part of the one that viem/tempo has', (_, items, contract) => {
  const known = contract
    .filter(({ type }) => type === 'event' || type === 'function')
    .map((item) => shapeOf(item as Item))
  for (const item of items) expect(known).toContainEqual(shapeOf(item))
})

test('every event of a token is either read or known not to be', () => {
  const names = Abis.tip20.flatMap((item) => (item.type === 'event' ? [item.name] : []))
  const ours = [...own.TIP20_EVENTS, ...own.TIP20_UNREAD_EVENTS].map((event) => event.name)
  expect([...ours].sort()).toEqual([...names].sort())
})
