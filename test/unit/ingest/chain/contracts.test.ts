import { type AbiEvent, toEventSelector } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { expect, test } from 'vitest'
import { chainContract } from '../../../../ingest/chain/contracts.js'

const TOKEN = `0x20c0${'0'.repeat(20)}${'0a'.repeat(8)}`
const topicsOf = (abi: readonly { type: string }[]): string[] =>
  abi.filter(({ type }) => type === 'event').map((event) => toEventSelector(event as AbiEvent))

/** The contracts of the chain and their ABIs, as viem/tempo has them. */
const CONTRACTS: ReadonlyArray<[string, string, readonly { type: string }[]]> = [
  ['a token', TOKEN, Abis.tip20],
  ['the factory', Addresses.tip20Factory, Abis.tip20Factory],
  ['the exchange', Addresses.stablecoinDex, Abis.stablecoinDex],
  ['the registry of policies', Addresses.tip403Registry, Abis.tip403Registry],
  ['the fee manager', Addresses.feeManager, [...Abis.feeManager, ...Abis.feeAmm]],
  ['the receive guard', Addresses.receivePolicyGuard, Abis.receivePolicyGuard],
  ['the channel reserve', Addresses.tip20ChannelReserve, Abis.tip20ChannelReserve],
  ['the keychain', Addresses.accountKeychain, Abis.accountKeychain],
  ['the nonces', Addresses.nonceManager, Abis.nonce],
  ['the registry of addresses', Addresses.addressRegistry, Abis.addressRegistry],
  ['the factory of zones', Addresses.zoneFactory, Abis.zoneFactory],
  ['the portal of a zone', Addresses.zonePortal(7), [...Abis.zonePortal, ...Abis.zonePortalPreT13Retired]],
]

test.each(CONTRACTS)(
  'the events of %s are those of its ABI: no other is understood, and none is missing',
  (_, address, abi) => {
    expect([...(chainContract(address.toLowerCase())?.topics ?? [])].sort()).toEqual([...new Set(topicsOf(abi))].sort())
  },
)

test('a contract of anybody is none of the chain’s, whatever its address begins with', () => {
  for (const address of [`0x20c0${'1'.repeat(36)}`, `0x${'77'.repeat(20)}`])
    expect(chainContract(address)).toBeUndefined()
})
