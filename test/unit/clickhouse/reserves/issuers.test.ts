import { tokens } from 'viem/tokens'
import { expect, test } from 'vitest'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { ISSUERS, issuerOf } from '../../../../clickhouse/reserves/issuers.js'

const TEMPO = 4217

test('every address in the registry is its symbol’s address on the chain’s public token list', () => {
  const listed = new Map<string, Record<number, string | undefined>>(
    tokens.all.map(({ symbol, addresses }) => [symbol, addresses as Record<number, string | undefined>]),
  )
  for (const { symbol, addresses } of ISSUERS) {
    for (const { chain_id, address } of addresses)
      expect(listed.get(symbol)?.[chain_id ?? TEMPO]?.toLowerCase(), symbol).toBe(address)
  }
})

test('an address has one entry per chain', () => {
  const keys = ISSUERS.flatMap(({ addresses }) => addresses.map(({ chain_id, address }) => `${chain_id} ${address}`))
  expect(new Set(keys).size).toBe(keys.length)
})

test('the reference stable is the protocol’s own on every chain; other stables are only known on their own chain', () => {
  expect(issuerOf(TEMPO, REFERENCE_STABLE)).toMatchObject({ symbol: 'pathUSD', reserve_type: 'protocol_native' })
  expect(issuerOf(31_337, REFERENCE_STABLE)).toMatchObject({ reserve_type: 'protocol_native' })
  const bridged = '0x20c000000000000000000000b9537d11c60e8b50'
  expect(issuerOf(TEMPO, bridged)).toMatchObject({ reserve_type: 'bridged_fiat' })
  expect(issuerOf(31_337, bridged)).toBeNull()
})
