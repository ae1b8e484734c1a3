import { Credential, Receipt } from 'mppx'
import { describe, expect, onTestFinished } from 'vitest'
import type { ClickHouseEnv } from '../../../../../clickhouse/store/client.js'
import { accounts } from '../../../../../local/chain/accounts.js'
import { CHAIN_ID } from '../../../../../local/chain/anvil.js'
import { type ApiProcess, apiProcess } from '../../../../support/api-process.js'
import { balanceOf, challengeAt, credentialFor, PAID_PATHS, paymentTerms, present } from '../../../../support/paying.js'
import { test } from '../../../../support/payments.js'
import { type RelayedNode, relayedNode } from '../../../../support/relayed-node.js'

const [alice, bob] = accounts.traders
const { path, price } = PAID_PATHS.history
const SECRETS_KEY = 'k'.repeat(43)
const isBroadcast = (request: string): boolean => request.includes('eth_sendRawTransactionSync')

const kindOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { type: string }).type.replace('https://paymentauth.org/problems/', '')

/** A relay that ends with the test. */
async function relay(rpcUrl: string, treat: RelayedNode['treat']): Promise<RelayedNode> {
  const node = await relayedNode(rpcUrl, treat)
  onTestFinished(() => node.close())
  return node
}

const start = (env: ClickHouseEnv, recipient: string, rpcUrl: string): Promise<ApiProcess> =>
  apiProcess({ ...env, PAYMENT_RECIPIENT: recipient, PAYMENT_RPC_URL: rpcUrl, SECRETS_KEY })

/** Presents a credential again while it is reported as in use. */
async function untilAnswered(target: string, credential: string): Promise<Response> {
  let response = await present(target, credential)
  await expect
    .poll(
      async () => {
        if (response.status === 409) response = await present(target, credential)
        return response.status
      },
      { timeout: 120_000, interval: 1000 },
    )
    .not.toBe(409)
  return response
}

describe('the API is killed', () => {
  test('after the money moved and before the answer: only the same credential gets the answer', async ({
    chain,
    database: { env },
    ledger,
  }) => {
    const node = await relay(chain.rpcUrl, (request) => (isBroadcast(request) ? 'done only' : 'answered'))
    const { recipient } = paymentTerms(chain.rpcUrl)
    const first = await start(env, recipient, node.url)
    const challenge = await challengeAt(`${first.url}${path}`)
    const credential = await credentialFor(chain.rpcUrl, challenge, alice)
    const lost = present(`${first.url}${path}`, credential).catch(() => 'cut off')
    await node.held
    await first.kill()
    expect(await lost).toBe('cut off')
    expect(await balanceOf(chain.rpcUrl, recipient)).toBe(price)

    const second = await start(env, recipient, chain.rpcUrl)
    const target = `${second.url}${path}`
    const other = await credentialFor(chain.rpcUrl, challenge, bob)
    expect(await kindOf(await present(target, other))).toBe('invalid-challenge')
    const challengeOfOther = { ...Credential.deserialize(credential), challenge: await challengeAt(target) }
    expect(await kindOf(await present(target, Credential.serialize(challengeOfOther)))).toBe('invalid-challenge')
    const answer = await untilAnswered(target, credential)
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ edges: expect.any(Array) })])
    expect(await balanceOf(chain.rpcUrl, recipient)).toBe(price)
    const paid = { tx_hash: Receipt.fromResponse(answer).reference }
    await expect
      .poll(async () => (await ledger(recipient)).map(({ step }) => step), { timeout: 60_000 })
      .toContain('answered')
    expect(await ledger(recipient)).toMatchObject([
      { step: 'accepted', attempt: 0, ...paid },
      { step: 'accepted', attempt: 1, ...paid },
      { step: 'settled', ...paid },
      { step: 'answered', ...paid },
    ])
    expect(await kindOf(await present(target, credential))).toBe('invalid-challenge')

    // Neither the credential nor what it signs is in a log or a row.
    const { signature } = Credential.deserialize(credential).payload as { signature: string }
    const said = `${first.log()}${second.log()}${JSON.stringify(await ledger(recipient))}`
    for (const secret of [credential.slice(8), signature, SECRETS_KEY]) expect(said).not.toContain(secret)
  })

  test('before the money moved: only the same credential can still pay', async ({
    chain,
    database: { env },
    ledger,
  }) => {
    const node = await relay(chain.rpcUrl, (request) => (isBroadcast(request) ? 'kept' : 'answered'))
    const { recipient } = paymentTerms(chain.rpcUrl)
    const first = await start(env, recipient, node.url)
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(`${first.url}${path}`), alice)
    const lost = present(`${first.url}${path}`, credential).catch(() => 'cut off')
    await node.held
    await first.kill()
    expect(await lost).toBe('cut off')
    expect(await balanceOf(chain.rpcUrl, recipient)).toBe(0n)
    expect(await ledger(recipient)).toMatchObject([{ step: 'accepted', attempt: 0 }])

    const second = await start(env, recipient, chain.rpcUrl)
    // Its transaction is valid for 25 seconds, which may be over by now.
    const { status } = await untilAnswered(`${second.url}${path}`, credential)
    expect([200, 402]).toContain(status)
    expect(await balanceOf(chain.rpcUrl, recipient)).toBe(status === 200 ? price : 0n)
  })
})

test.for(['pull', 'push'] as const)(
  'while the node is unreachable (%s) the answer is 503, and nothing is lost',
  async (mode, { chain, serve }) => {
    const node = await relay(chain.rpcUrl, () => 'refused')
    const served = await serve({ rpcUrl: node.url })
    const target = `${served.url}${path}`
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(target), alice, mode)
    const refused = await present(target, credential)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    node.treat = () => 'answered'
    expect((await present(target, credential)).status).toBe(200)
    expect(await balanceOf(chain.rpcUrl, served.terms.recipient)).toBe(price)
  },
)

test('a broadcast without a response is looked up the next time, not paid again', async ({ chain, serve, ledger }) => {
  const node = await relay(chain.rpcUrl, (request) => (isBroadcast(request) ? 'lost' : 'answered'))
  const served = await serve({ rpcUrl: node.url })
  const target = `${served.url}${path}`
  const credential = await credentialFor(chain.rpcUrl, await challengeAt(target), alice)
  expect((await present(target, credential)).status).toBe(503)
  expect(await balanceOf(chain.rpcUrl, served.terms.recipient)).toBe(price)
  expect((await present(target, credential)).status).toBe(200)
  expect(await balanceOf(chain.rpcUrl, served.terms.recipient)).toBe(price)
  await served.close()
  expect((await ledger(served.terms.recipient)).map(({ step, attempt }) => [step, attempt])).toEqual([
    ['accepted', 0],
    ['unanswered', 0],
    ['accepted', 1],
    ['settled', 1],
    ['answered', 1],
  ])
})

test('a node of another chain gets no payment', async ({ chain, serve }) => {
  const node = await relay(chain.rpcUrl, () => 'answered')
  const served = await serve({ rpcUrl: node.url })
  const target = `${served.url}${path}`
  const credential = await credentialFor(chain.rpcUrl, await challengeAt(target), alice)
  await chain.rpc.call('anvil_setChainId', [4217])
  expect((await present(target, credential)).status).toBe(503)
  expect(await balanceOf(chain.rpcUrl, served.terms.recipient)).toBe(0n)
  await chain.rpc.call('anvil_setChainId', [CHAIN_ID])
})
