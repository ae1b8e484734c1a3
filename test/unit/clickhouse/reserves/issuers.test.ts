import { expect, test } from 'vitest'
import { z } from 'zod'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { ISSUERS, issuerOf } from '../../../../clickhouse/reserves/issuers.js'
import publicList from '../../../../ingest/token-list/4217.json' with { type: 'json' }
import { curatedFile, holdsFrom } from '../../../../process/curated.js'

const TEMPO = 4217
const NOW = new Date('2026-11-21T00:00:00Z')

test('every address in the registry is its symbol’s address on the chain’s public token list', () => {
  const listed = new Map(publicList.tokens.map(({ symbol, address }) => [symbol, address]))
  for (const { symbol, addresses } of ISSUERS) {
    for (const { chain_id, address } of addresses) {
      expect(chain_id ?? TEMPO, symbol).toBe(TEMPO)
      expect(listed.get(symbol), symbol).toBe(address)
    }
  }
})

test('an address has one entry at a time per chain', () => {
  const keys = ISSUERS.flatMap(({ addresses, holds_from }) =>
    addresses.map(({ chain_id, address }) => `${chain_id} ${address} ${holds_from}`),
  )
  expect(new Set(keys).size).toBe(keys.length)
})

test('the reference stable is the protocol’s own on every chain; other stables are only known on their own chain', () => {
  expect(issuerOf(TEMPO, REFERENCE_STABLE, NOW)).toMatchObject({ symbol: 'pathUSD', reserve_type: 'protocol_native' })
  expect(issuerOf(31_337, REFERENCE_STABLE, NOW)).toMatchObject({ reserve_type: 'protocol_native' })
  const bridged = '0x20c000000000000000000000b9537d11c60e8b50'
  expect(issuerOf(TEMPO, bridged, NOW)).toMatchObject({ reserve_type: 'bridged_fiat' })
  expect(issuerOf(31_337, bridged, NOW)).toBeNull()
})

test('what becomes known later counts from then on, and what counted before stays', () => {
  const [entry] = ISSUERS as [(typeof ISSUERS)[number]]
  const changed = { ...entry, issuer: 'Somebody else', holds_from: '2027-03-01T00:00:00Z' }
  const issuerAt = (at: string) => issuerOf(TEMPO, REFERENCE_STABLE, new Date(at), [...ISSUERS, changed])?.issuer
  expect(issuerAt('2027-02-28T23:59:59Z')).toBe(entry.issuer)
  expect(issuerAt('2027-03-01T00:00:00Z')).toBe('Somebody else')
})

test('a file whose entries are not in the order in which they hold is refused', () => {
  const file = curatedFile(z.object({ holds_from: holdsFrom }))
  const [first, second] = [{ holds_from: '2026-01-01T00:00:00Z' }, { holds_from: '2026-02-01T00:00:00Z' }]
  expect(file.safeParse([first, second, second]).success).toBe(true)
  expect(file.safeParse([second, first]).success).toBe(false)
})
