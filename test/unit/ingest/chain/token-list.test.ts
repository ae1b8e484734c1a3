import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { listedTokens, tokenListFile } from '../../../../ingest/chain/token-list.js'
import { PATH_USD, planStables } from '../../../../local/chain/stables.js'
import { marketTokenList } from '../../../../local/chain/token-list.js'
import { ConfigError, parseEnv } from '../../../../process/environment.js'

const folder = mkdtempSync(join(tmpdir(), 'plumbline-list-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function read(content: string | object) {
  const path = join(folder, 'list.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return parseEnv(z.object({ TOKEN_LIST: tokenListFile.optional() }), { TOKEN_LIST: path }).TOKEN_LIST
}

/** As tokenlist.tempo.xyz serves it. */
const entry = {
  name: 'pathUSD',
  symbol: 'pathUSD',
  decimals: 6,
  chainId: 4217,
  address: '0x20C0000000000000000000000000000000000000',
  logoURI: 'https://example.com/icon.svg',
  extensions: { chain: 'tempo', label: 'pathUSD' },
}
const list = {
  name: 'Tempo',
  logoURI: 'https://example.com/logo.svg',
  timestamp: '2026-02-03T10:00:00.000Z',
  version: { major: 1, minor: 0, patch: 0 },
  tokens: [entry, { ...entry, chainId: 42431 }, { ...entry, chainId: 42431, address: `0x${'aB'.repeat(20)}` }],
}

test('the listed stables are the tokens of a list that are on this chain, in lower case', () => {
  expect(listedTokens(4217, read(list))).toEqual({ addresses: new Set([PATH_USD.address]), source: 'Tempo 1.0.0' })
  expect(listedTokens(42431, read(list)).addresses).toEqual(new Set([PATH_USD.address, `0x${'ab'.repeat(20)}`]))
})

test('without a list, they are those of the chain’s public list, of which a local chain has none', () => {
  expect(listedTokens(4217, undefined).addresses).toContain(PATH_USD.address)
  expect(listedTokens(31_337, undefined).addresses).toEqual(new Set())
})

test('a list without a token of the chain is refused, as it is another chain’s', () => {
  expect(() => listedTokens(31_337, read(list))).toThrow(ConfigError)
})

test('everything that is wrong in a list is named at once', () => {
  const tokens = [
    { ...entry, address: '0x20c0' },
    { ...entry, decimals: -1 },
    { ...entry, chainId: 'tempo' },
    { ...entry, symbol: '' },
    { ...entry, address: entry.address.toLowerCase() },
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
  ]) {
    expect(() => read(broken), place).toThrow(new RegExp(`^  TOKEN_LIST: the list.${place}: `, 'm'))
  }
  expect(() => read({ ...list, tokens: [entry, tokens[4]] })).toThrow(/TOKEN_LIST: the list.tokens.1: .* tokens.0/)
  expect(() => read({ ...list, tokens: [] })).toThrow(/TOKEN_LIST: the list.tokens: must not be empty/)
})

test('a file that is missing or is not JSON is refused', () => {
  expect(() => read('{')).toThrow(/^ {2}TOKEN_LIST: cannot be read: /m)
  const missing = { TOKEN_LIST: join(folder, 'none.json') }
  expect(() => parseEnv(z.object({ TOKEN_LIST: tokenListFile }), missing)).toThrow(/TOKEN_LIST: cannot be read: ENOENT/)
})

test('the list of a local chain has every stable of its market, and is in that format', () => {
  const stables = planStables(12)
  const { addresses: listed } = listedTokens(31_337, read(marketTokenList(stables, 31_337, 1_760_000_000)))
  expect(listed.size).toBe(16)
  for (const { address } of [PATH_USD, ...stables]) expect(listed).toContain(address)
})
