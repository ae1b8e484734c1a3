import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Receipt } from 'mppx'
import type { Address, LocalAccount } from 'viem'
import { expect, onTestFinished } from 'vitest'
import { payee, users } from '../../../../../local/chain/accounts.js'
import { spawnDevnet } from '../../../../../local/chain/spawn.js'
import {
  blockNumber,
  nodePid,
  plannedQuotes,
  readQuotes,
  rpc,
  until,
} from '../../../../../local/chain/test/integration/chain.js'
import { checkPayments } from '../../../../../tools/verify/invariants/payments.js'
import { balanceOf, PAID_PATHS, payer } from '../../../../support/paying.js'
import { test } from '../../../../support/payments.js'
import { rpcOf } from '../../../../support/rpc.js'

const [alice, bob, carol] = users

test('payments on the local chain run beside its market, and survive a kill of the chain', async ({
  serve,
  database: { clickhouse },
}) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'plumbline-local-chain-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const start = async () => {
    const chain = await spawnDevnet({ dataDir, historyBlocks: 30, live: true })
    onTestFinished(() => chain.stop())
    await chain.historyDone
    // A payment is valid for 25 seconds, by the clock.
    const from = await blockNumber(chain.rpcUrl)
    await until(async () => (await blockNumber(chain.rpcUrl)) > from)
    return chain
  }
  const recipient = payee.toLowerCase() as Address
  const { analysis, history } = PAID_PATHS

  const first = await start()
  const before = await serve({ recipient, rpcUrl: first.rpcUrl })
  const balance = await balanceOf(first.rpcUrl, payee)
  const pay = async (account: LocalAccount, mode: 'pull' | 'push', { path }: { path: string }) => {
    const response = await payer(first.rpcUrl, account, mode).fetch(`${before.url}${path}`)
    expect(response.status).toBe(200)
    return Receipt.fromResponse(response).reference
  }
  // Some in the same block, with the same gas price.
  const hashes = [
    ...(await Promise.all([pay(alice, 'pull', analysis), pay(bob, 'pull', history), pay(carol, 'pull', history)])),
    ...(await Promise.all([pay(alice, 'push', analysis), pay(bob, 'push', history)])),
  ]
  expect((await balanceOf(first.rpcUrl, payee)) - balance).toBe(160_000n)
  const receiptsOf = (rpcUrl: string) =>
    rpc(rpcUrl).batch(hashes.map((hash) => ['eth_getTransactionReceipt', [hash]] as const))
  const receipts = await receiptsOf(first.rpcUrl)
  const paidBy = await blockNumber(first.rpcUrl)
  await until(async () => (await blockNumber(first.rpcUrl)) >= paidBy + 2)
  await before.close()
  process.kill(await nodePid(dataDir), 'SIGKILL')
  await until(() => first.child.exitCode !== null)

  const second = await start()
  expect(await receiptsOf(second.rpcUrl)).toEqual(receipts)
  expect((await balanceOf(second.rpcUrl, payee)) - balance).toBe(160_000n)
  const after = await serve({ recipient, rpcUrl: second.rpcUrl })
  const again = await payer(second.rpcUrl, alice).fetch(`${after.url}${history.path}`)
  expect(again.status).toBe(200)
  await after.close()
  expect(await checkPayments({ clickhouse, rpc: rpcOf(second.rpcUrl), payees: [], fromBlock: 1 })).toMatchObject({
    status: 'match',
    scope: '6 payments to 1 accounts',
  })
  const at = (await blockNumber(second.rpcUrl)) + 1
  await until(async () => (await blockNumber(second.rpcUrl)) >= at)
  expect(await readQuotes(second.rpcUrl, second.plan, at)).toEqual(plannedQuotes(second.plan, at))
})
