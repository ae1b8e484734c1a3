import { expect, test } from 'vitest'
import { parseTokenList, tokensOfChain } from '../../../../ingest/token-list/format.js'
import { shippedTokens } from '../../../../ingest/token-list/shipped.js'
import { PATH_USD, planStables } from '../../../../local/chain/stables.js'
import { marketTokenList } from '../../../../local/chain/token-list.js'
import { ConfigError } from '../../../../process/environment.js'
import { listEntry as entry, publicList as list } from '../../../support/token-list.js'

const read = (content: object, chainId = 4217) => tokensOfChain(chainId, parseTokenList(JSON.stringify(content)))

test('the listed stables are the tokens of a list that are on this chain, in lower case', () => {
  const made_at = new Date(list.timestamp)
  expect(read(list)).toEqual({ addresses: new Set([PATH_USD.address]), source: 'Tempo 1.0.0', made_at })
  expect(read(list, 42431).addresses).toEqual(new Set([PATH_USD.address, `0x${'ab'.repeat(20)}`]))
})

test('the list that comes with this version has OUSD and every other public token of the chain', () => {
  const { addresses } = shippedTokens(4217) ?? { addresses: new Set() }
  expect(addresses.size).toBe(35)
  expect(addresses).toContain(PATH_USD.address)
  expect(addresses).toContain('0x20c0000000000000000000006a37da5c996874be')
  expect(shippedTokens(42431)?.addresses).toContain(PATH_USD.address)
  expect(shippedTokens(31_337)).toBeNull()
})

test('a list without a token of the chain is refused, as it is another chain’s', () => {
  expect(() => read(list, 31_337)).toThrow(/TOKEN_LIST: the list has no token of chain 31337/)
})

test('everything that is wrong in a list is named at once', () => {
  const tokens = [
    { ...entry, address: '0x20c0' },
    { ...entry, decimals: -1 },
    { ...entry, chainId: 'tempo' },
    { ...entry, symbol: '' },
    { ...entry, symbol: 'US\u001b[2JD' },
    { ...entry, name: 'Dollar\u202e' },
  ]
  const broken = { ...list, timestamp: 'yesterday', version: { major: 1 }, tokens }
  for (const place of [
    'timestamp',
    'version.minor',
    'version.patch',
    'tokens.0.address',
    'tokens.1.decimals',
    'tokens.2.chainId',
    'tokens.3.symbol',
    'tokens.4.symbol',
    'tokens.5.name',
  ])
    expect(() => read(broken), place).toThrow(new RegExp(`^  TOKEN_LIST: the list.${place}: `, 'm'))
})

test('a token that a list has twice, however it is written, is refused', () => {
  const again = { ...entry, address: entry.address.toLowerCase() }
  expect(() => read({ ...list, tokens: [entry, again] })).toThrow(/TOKEN_LIST: the list.tokens.1: .* tokens.0/)
})

test('a list without tokens, or with more than anybody needs, is refused', () => {
  expect(() => read({ ...list, tokens: [] })).toThrow(/TOKEN_LIST: the list.tokens: must not be empty/)
  const many = Array.from({ length: 10_001 }, (_, i) => ({ ...entry, address: `0x${String(i).padStart(40, '0')}` }))
  expect(() => read({ ...list, tokens: many })).toThrow(/must not have more than 10,000 tokens/)
})

test('the message about a list in which everything is wrong stays short, and has nothing of its contents', () => {
  const tokens = Array.from({ length: 5000 }, () => ({ ...entry, address: 'hunter2', symbol: '\u0007' }))
  try {
    read({ ...list, tokens })
    expect.unreachable()
  } catch (error) {
    const { message } = error as ConfigError
    expect(error).toBeInstanceOf(ConfigError)
    expect(message.split('\n').length).toBeLessThan(110)
    expect(message).toContain('more problems')
    expect(message).not.toContain('hunter2')
  }
})

test.for(['{', '<html>\u001b[31m</html>', '"text"', '[]', 'null'])('%j is not a list', (text) => {
  expect(() => parseTokenList(text)).toThrow(/^ {2}TOKEN_LIST: the list(: Invalid input| is not JSON)/m)
})

test('an empty answer is not a list', () => {
  expect(() => parseTokenList(' \n')).toThrow(/TOKEN_LIST: the list is empty/)
})

test('the list of a local chain has every stable of its market, and is in that format', () => {
  const stables = planStables(12)
  const { addresses: listed } = read(marketTokenList(stables, 31_337, 1_760_000_000), 31_337)
  expect(listed.size).toBe(16)
  for (const { address } of [PATH_USD, ...stables]) expect(listed).toContain(address)
})
