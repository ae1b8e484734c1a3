import { expect } from 'vitest'
import { insertPaymentStep, type Payee, type Payment } from '../../../../clickhouse/payments/ledger.js'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { accounts } from '../../../../local/chain/accounts.js'
import { checkPayments, memoPrefix } from '../../../../tools/verify/invariants/payments.js'
import { challengeAt, credentialFor, PAID_PATHS, payer } from '../../../support/paying.js'
import { test } from '../../../support/payments.js'
import { rpcOf } from '../../../support/rpc.js'

const [alice, bob] = accounts.traders

test('the ledger of payments is compared with the chain, and an entry in only one of them is a difference', async ({
  chain,
  serve,
  database: { clickhouse },
}) => {
  const rpc = rpcOf(chain.rpcUrl)
  const check = (...payees: Payee[]) => checkPayments({ clickhouse, rpc, payees, fromBlock: 1 })
  expect(await check()).toMatchObject({ status: 'match', differences: [] })
  // Sent before any payment, so only the configured recipient identifies it.
  const unused = await serve()
  const { recipient, realm } = unused.terms
  await credentialFor(chain.rpcUrl, await challengeAt(`${unused.url}${PAID_PATHS.analysis.path}`), alice, 'push')
  await unused.close()
  const payee = { recipient, currency: REFERENCE_STABLE, realm }
  expect(await check(payee)).toMatchObject({ status: 'match', scope: '0 payments to 1 accounts' })

  const { url, close } = await serve()
  const other = await serve()
  for (const mode of ['pull', 'push'] as const) {
    for (const { path } of Object.values(PAID_PATHS))
      expect((await payer(chain.rpcUrl, alice, mode).fetch(`${url}${path}`)).status).toBe(200)
  }
  expect((await payer(chain.rpcUrl, bob).fetch(`${other.url}${PAID_PATHS.analysis.path}`)).status).toBe(200)
  await close()
  await other.close()
  const scope = '7 payments to 2 accounts'
  expect(await check()).toMatchObject({ status: 'match', scope })

  // Sent but not presented: this is not a difference while it may still be presented.
  const again = await serve()
  await credentialFor(chain.rpcUrl, await challengeAt(`${again.url}${PAID_PATHS.history.path}`), bob, 'push')
  const paid = await payer(chain.rpcUrl, alice).fetch(`${again.url}${PAID_PATHS.history.path}`)
  expect(paid.status).toBe(200)
  await again.close()
  expect(await check()).toMatchObject({ status: 'match', scope: '8 payments to 3 accounts' })
  await chain.rpc.call('evm_increaseTime', [601])
  await chain.mine()
  expect(await check()).toMatchObject({
    status: 'mismatch',
    differences: [expect.stringMatching(/^transfer of 20000 in 0x[0-9a-f]{64}: no request has presented it$/)],
  })
  expect(await check({ ...payee, realm: 'example.com' })).toMatchObject({ scope: '8 payments to 4 accounts, 1 differ' })
  expect(await check(payee)).toMatchObject({
    scope: '8 payments to 4 accounts, 2 differ',
    differences: expect.arrayContaining([expect.stringMatching(/^transfer of 50000 in 0x[0-9a-f]{64}: no request/)]),
  })

  // Recorded as settled, but not on the chain. Its name sorts it after the real one.
  const [row] = await (
    await clickhouse.query({ query: `SELECT * FROM payments WHERE step = 'settled' LIMIT 1`, format: 'JSONEachRow' })
  ).json<Payment & { recorded_at: string }>()
  const { recorded_at: _, ...settled } = row as NonNullable<typeof row>
  const made = { ...settled, challenge_id: '~made up' }
  await insertPaymentStep(clickhouse, made, { attempt: 0, claim: '' }, 'settled')
  expect((await check()).differences).toContainEqual(
    `payment ~made up: ${settled.tx_hash} has no transfer of ${settled.amount_raw} for it`,
  )
})

test('a realm has its own memos', () => {
  expect(memoPrefix('localhost')).toMatch(/^0xef1ed71201[0-9a-f]{20}$/)
  expect(memoPrefix('localhost')).not.toBe(memoPrefix('example.com'))
})
