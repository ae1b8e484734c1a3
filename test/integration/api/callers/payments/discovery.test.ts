import { validate } from 'mppx/discovery'
import { describe, expect } from 'vitest'
import { REFERENCE_STABLE } from '../../../../../clickhouse/peg/price.js'
import { CHAIN_ID } from '../../../../../local/chain/anvil.js'
import { ALPHA_USD, balanceOf, challengesAt, mppx, PAID_PATHS } from '../../../../support/paying.js'
import { test } from '../../../../support/payments.js'
import { addFacts, stablecoin, stateRead } from '../../../../support/rows.js'

type Operation = {
  'x-payment-info'?: { offers: Array<Record<string, unknown>> }
  responses: Record<string, { content?: Record<string, unknown> }>
}
type Document = { paths: Record<string, Record<string, Operation>> }

const documentOf = async (url: string): Promise<{ response: Response; document: Document }> => {
  const response = await fetch(`${url}/openapi.json`)
  return { response, document: (await response.clone().json()) as Document }
}

test('llms.txt names the chain and the stables that prices are paid in, preferred first', async ({ serve }) => {
  const { url } = await serve({ currencies: [ALPHA_USD, REFERENCE_STABLE] })
  const text = await (await fetch(`${url}/llms.txt`)).text()
  expect(text).toContain(`on chain ${CHAIN_ID}`)
  expect(text).toContain(`\`${ALPHA_USD}\`, \`${REFERENCE_STABLE}\``)
})

describe('what a client can know before it makes a request', () => {
  test('the OpenAPI document has the price of every paid operation, as in its challenges', async ({ serve }) => {
    const { url } = await serve({ currencies: [ALPHA_USD, REFERENCE_STABLE] })
    const { response, document } = await documentOf(url)
    expect(validate(document)).toEqual([])
    expect(response.headers.get('cache-control')).toMatch(/max-age=\d+/)
    const priced = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) =>
        '402' in operation.responses ? [{ path, method, operation }] : [],
      ),
    )
    expect(priced.map(({ path, method }) => `${method} ${path}`).sort()).toEqual([
      'get /api/v1/stablecoins/flows/export',
      'get /api/v1/stablecoins/flows/history',
      'get /api/v1/stablecoins/{address}/analysis',
    ])
    for (const { path, price } of Object.values(PAID_PATHS)) {
      const challenges = await challengesAt(`${url}${path}`)
      const template = path.split('?', 1)[0]?.replace(/0x[0-9a-f]{40}/, '{address}')
      const operation = priced.find((one) => one.path === template)?.operation
      expect(operation?.['x-payment-info']?.offers).toEqual(
        challenges.map(({ method, intent, request: { currency, amount } }) => {
          return { method, intent, amount, currency, description: expect.any(String) }
        }),
      )
      expect(challenges.map(({ request }) => [request.currency, request.amount])).toEqual([
        [ALPHA_USD, `${price}`],
        [REFERENCE_STABLE, `${price}`],
      ])
      expect(operation?.responses['402']?.content).toHaveProperty('application/problem+json')
    }
    const unpriced = JSON.stringify(document).match(/x-payment-info/g)
    expect(unpriced).toHaveLength(priced.length)
  })
})

test('the mppx command line tool pays for each priced route, and reports no fault of the service', async ({
  chain,
  serve,
}) => {
  const { url, terms } = await serve()
  for (const [name, contains] of [
    ['analysis', 'risk_basis'],
    ['history', 'tx_count'],
    ['export', 'from_address'],
  ] as const) {
    const { path, price } = PAID_PATHS[name]
    const before = await balanceOf(chain.rpcUrl, terms.recipient)
    const paid = await mppx(chain.rpcUrl, `${url}${path}`)
    expect([name, paid.code, paid.output]).toEqual([name, 0, expect.stringContaining(contains)])
    expect((await balanceOf(chain.rpcUrl, terms.recipient)) - before, name).toBe(price)
  }
})

test('the mppx command line tool finds all priced routes by the OpenAPI document alone, and no fault in them', async ({
  chain,
  database,
  serve,
}) => {
  const { url } = await serve()
  // Every chain has it: it is the example of an address.
  await addFacts(database.clickhouse, {
    stablecoins: [stablecoin(9, { stable: REFERENCE_STABLE })],
    states: [stateRead(REFERENCE_STABLE)],
  })
  const { output } = await mppx(chain.rpcUrl, 'validate', url)
  const marks = (mark: string) => output.split('\n').filter((line) => line.trim().startsWith(mark))
  expect(marks('✓ Paid endpoints found')).toEqual([expect.stringContaining('3 endpoint(s)')])
  expect(marks('✓ Returns 402 without credentials'), output).toHaveLength(3)
  // There is no faucet on the local chain.
  expect(marks('✗').filter((line) => !line.includes('auto-provision wallet'))).toEqual([])
})
