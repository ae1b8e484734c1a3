/** A token as tokenlist.tempo.xyz serves it. */
export const listEntry = {
  name: 'pathUSD',
  symbol: 'pathUSD',
  decimals: 6,
  chainId: 4217,
  address: '0x20C0000000000000000000000000000000000000',
  logoURI: 'https://example.com/icon.svg',
  extensions: { chain: 'tempo', label: 'pathUSD' },
}

/** A list as tokenlist.tempo.xyz serves it, with tokens of two chains. */
export const publicList = {
  name: 'Tempo',
  logoURI: 'https://example.com/logo.svg',
  timestamp: '2026-02-03T10:00:00.000Z',
  version: { major: 1, minor: 0, patch: 0 },
  tokens: [
    listEntry,
    { ...listEntry, chainId: 42431 },
    { ...listEntry, chainId: 42431, address: `0x${'aB'.repeat(20)}` },
  ],
}
