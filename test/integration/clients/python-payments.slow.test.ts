import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { expect } from 'vitest'
import { REFERENCE_STABLE } from '../../../clickhouse/peg/price.js'
import { PAYER_KEY } from '../../../local/chain/accounts.js'
import { codeBlocks } from '../../support/markdown.js'
import { ALPHA_USD, balanceOf } from '../../support/paying.js'
import { test as base, stepsOfAnswered } from '../../support/payments.js'
import { PYTHON_CLIENT, runIn, withPythonFolder } from '../../support/python.js'

const test = base.extend<{ folder: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  folder: ({}, use) => withPythonFolder(use),
})

const PAYER = { address: privateKeyToAddress(PAYER_KEY) }

/** After the program of the README: a second payment by the same wallet, and an account that has nothing. */
const MORE = (emptyKey: string): string => `
print(len(list(paying.export_flows(from_="2h", to="5m", page_size=10))), "flows")

from plumbline_client import InsufficientFundsError

wallet = charge(account=TempoAccount.from_key("${emptyKey}"), rpc_url=RPC_URL)
try:
    paying.analysis(address)
except InsufficientFundsError as error:
    print(type(error).__name__, error.status)
`

test('its README pays on a chain with pympp: each answer costs its price once, and an empty account nothing', async ({
  chain,
  folder,
  ledger,
  serve,
}) => {
  // Its wallet has pathUSD, which this service takes, but does not prefer.
  const { url, terms } = await serve({ currencies: [ALPHA_USD, REFERENCE_STABLE] })
  const run = runIn(folder, { PAYER_KEY })
  await run('python3', '-m', 'venv', '.venv')
  await run('.venv/bin/pip', 'install', '--quiet', PYTHON_CLIENT, 'mypy==2.4.1')
  const blocks = codeBlocks('clients/python/README.md').filter(({ heading }) => heading === 'Pay with pympp')
  const [install = '', code = '', onLocalChain = ''] = blocks.map(({ code }) => code)
  await run('bash', '-euc', install)
  await run('.venv/bin/python', '-m', 'mypy', '--strict', '-c', code)

  const program = `${onLocalChain}${code}${MORE(generatePrivateKey())}`
    .replaceAll('http://127.0.0.1:3000', url)
    .replaceAll('RPC_URL', `"${chain.rpcUrl}"`)
    .replaceAll('http://127.0.0.1:8545', chain.rpcUrl)
  const lines = (await run('.venv/bin/python', '-c', program)).trim().split('\n')
  expect(lines).toEqual([expect.stringMatching(/^\{'peg_risk': '\w+', /), '1 flows', 'InsufficientFundsError 402'])
  expect(await balanceOf(chain.rpcUrl, terms.recipient)).toBe(70_000n)
  const steps = await ledger(terms.recipient)
  const hashes = [...new Set(steps.map(({ tx_hash }) => tx_hash))]
  expect(hashes).toHaveLength(2)
  for (const [i, amount_raw] of ['50000', '20000'].entries()) {
    const tx_hash = hashes[i] as string
    const own = steps.filter((step) => step.tx_hash === tx_hash)
    expect(own).toMatchObject(stepsOfAnswered({ tx_hash, amount_raw, mode: 'pull' }, PAYER))
  }
})
