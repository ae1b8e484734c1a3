import { expect } from 'vitest'
import { SUBSCRIPTION_KEY, test } from '../../../support/app.js'
import { useStillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import { newToken } from '../../../support/transactions.js'

const chain = useStillChain({ historyBlocks: 30 })

const CONTROL = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('')

/** Possible names of tokens. */
const TEXTS = {
  '10 kB': 'N'.repeat(10_240),
  'control characters': `${CONTROL}\u007f\u0085\u2028\u2029`,
  SQL: `'); DROP TABLE stablecoins; -- \\' {stable: String} \`"`,
  JSON: `"}],"stablecoins":[{"address":"\\u0000`,
  HTML: '<script>alert(1)</script>&amp;',
  emoji: '💵👩‍👩‍👧‍👦🏴\u{e0067}\u{e0062}\u{e007f}',
  'right to left': '\u202eDSU\u202c\ufeff',
  'an address in mixed case': `0x${'AbCd'.repeat(10)}`,
  'a byte order mark first': '\ufeffUSD',
  nothing: '',
  blanks: ' \t ',
  'the symbol of another': 'pathUSD',
  'the name of a column': 'NULL',
}

test('any name of a token is returned unchanged, or its first 256 characters, and a symbol’s first 64', async ({
  app,
  clock,
  clickhouseEnv,
  clickhouse,
}) => {
  // The blocks of these tokens are newer than the clock of the tests.
  clock.now = new Date(Date.now() + 3_600_000)
  const called = new Map<string, { name: string; symbol: string; currency: string; truncated: string[] }>()
  for (const [i, text] of Object.values(TEXTS).entries()) {
    const { token } = await newToken(chain, 2_000 + i, { name: text, symbol: text, currency: 'USD' })
    const truncated = text.length > 256 ? ['symbol', 'name'] : []
    called.set(token, { name: text.slice(0, 256), symbol: text.slice(0, 64), currency: 'USD', truncated })
  }
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)

  const { stablecoins } = (await app.inject('/api/v1/stablecoins')).json<{
    stablecoins: Array<{ address: string; name: string; symbol: string; currency: string; truncated: string[] }>
  }>()
  const found = stablecoins.filter(({ address }) => called.has(address))
  expect(
    new Map(
      found.map(({ address, name, symbol, currency, truncated }) => [address, { name, symbol, currency, truncated }]),
    ),
  ).toEqual(called)
  // The market's own ten and the genesis tokens are still there.
  expect(stablecoins).toHaveLength(called.size + 14)
  for (const [address, texts] of called) {
    const response = await app.inject(`/api/v1/stablecoins/${address}`)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toMatchObject({ address, ...texts })
  }

  // A briefing is read as prose, so it must not contain the token's own text.
  const headers = { authorization: `Bearer ${SUBSCRIPTION_KEY}` }
  for (const { address, symbol } of stablecoins) {
    const url = `/api/v1/stablecoins/${address}/analysis`
    const analysis = (await app.inject({ url, headers })).json()
    expect(analysis).toMatchObject({ address, symbol, briefing: { origin_kind: 'measured' } })
    const said = Object.values({ ...analysis.briefing, ...analysis.briefing.risk_basis }).filter(
      (value) => typeof value === 'string',
    )
    if (symbol.trim() !== '') expect(said.join('\n')).not.toContain(symbol)
  }
})
