import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Challenge } from 'mppx'
import { validate } from 'mppx/discovery'
import { tempoModerato } from 'viem/tempo/chains'
import { describe, expect } from 'vitest'
import { REFERENCE_STABLE } from '../../../../../clickhouse/peg/price.js'
import { accounts } from '../../../../../local/chain/accounts.js'
import { balanceOf, insertPaidData, keyOf, PAID_PATHS, present } from '../../../../support/paying.js'
import { test } from '../../../../support/payments.js'
import { withDatabase } from '../../../../support/services.js'

type Operation = {
  'x-payment-info'?: { offers: Array<Record<string, unknown>> }
  responses: Record<string, { content?: Record<string, unknown> }>
}
type Document = { paths: Record<string, Record<string, Operation>> }

const documentOf = async (url: string): Promise<{ response: Response; document: Document }> => {
  const response = await fetch(`${url}/openapi.json`)
  return { response, document: (await response.clone().json()) as Document }
}

/** Runs mppx's own command line tool with the keys of an account that has money on the local chain. */
async function cli(rpcUrl: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const bin = join(dirname(createRequire(import.meta.url).resolve('mppx')), 'bin.js')
  // Colours, which CI systems request, are not part of the output.
  const env = { ...process.env, NO_COLOR: '1', MPPX_PRIVATE_KEY: keyOf(accounts.traders[0]), MPPX_RPC_URL: rpcUrl }
  return promisify(execFile)(process.execPath, [bin, ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
  )
}

describe('what a client can know before it makes a request', () => {
  test('the OpenAPI document has the price of every paid operation, as in its challenge', async ({ serve }) => {
    const { url } = await serve()
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
      const { request, method, intent } = Challenge.fromResponse(await present(`${url}${path}`))
      const template = path.split('?', 1)[0]?.replace(/0x[0-9a-f]{40}/, '{address}')
      const operation = priced.find((one) => one.path === template)?.operation
      expect(operation?.['x-payment-info']?.offers).toEqual([
        { method, intent, amount: request.amount, currency: REFERENCE_STABLE, description: expect.any(String) },
      ])
      expect(request.amount).toBe(`${price}`)
      expect(operation?.responses['402']?.content).toHaveProperty('application/problem+json')
    }
    const unpriced = JSON.stringify(document).match(/x-payment-info/g)
    expect(unpriced).toHaveLength(priced.length)
  })
})

test('the mppx command line tool pays for an answer, and reports no fault of the service', async ({ chain, serve }) => {
  // The tool only accepts Tempo's own chains.
  await chain.rpc.call('anvil_setChainId', [tempoModerato.id])
  await withDatabase(async (_, clickhouse) => {
    await insertPaidData(clickhouse, tempoModerato.id)
    const { url, terms, close } = await serve({}, clickhouse)
    const { path, price } = PAID_PATHS.history
    const paid = await cli(chain.rpcUrl, `${url}${path}`)
    expect([paid.code, paid.output]).toEqual([0, expect.stringContaining('tx_count')])
    expect(await balanceOf(chain.rpcUrl, terms.recipient)).toBe(price)
    const { output } = await cli(chain.rpcUrl, 'validate', url, '--endpoint', `GET:${PAID_PATHS.analysis.path}`)
    const marks = (mark: string) => output.split('\n').filter((line) => line.trim().startsWith(mark))
    expect(marks('✓').length).toBeGreaterThanOrEqual(13)
    // There is no faucet on the local chain.
    expect(marks('✗')).toEqual([expect.stringContaining('auto-provision wallet')])
    await close()
  })
})
