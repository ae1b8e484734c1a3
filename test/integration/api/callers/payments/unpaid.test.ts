import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Challenge, Credential } from 'mppx'
import { pino } from 'pino'
import { type Hex, keccak256 } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished } from 'vitest'
import { createRequestCounter } from '../../../../../api/callers/limits/request-counter.js'
import type { Gateway } from '../../../../../api/callers/payments/gateway.js'
import { readProof } from '../../../../../api/callers/payments/proof.js'
import { createScreen, MOST_PER_ADDRESS } from '../../../../../api/callers/payments/screen.js'
import { REFERENCE_STABLE } from '../../../../../clickhouse/peg/price.js'
import { accounts } from '../../../../../local/chain/accounts.js'
import { CHAIN_ID } from '../../../../../local/chain/anvil.js'
import { depth } from '../../../../support/depth.js'
import {
  ALPHA_USD,
  challengeAt,
  challengesAt,
  credentialFor,
  PAID_PATHS,
  present,
  resigned,
} from '../../../../support/paying.js'
import { type Served, test } from '../../../../support/payments.js'
import { startRedis } from '../../../../support/redis.js'
import { type RelayedNode, relayedNode } from '../../../../support/relayed-node.js'

const [alice, bob] = accounts.traders
const { path } = PAID_PATHS.history
/** Made-up payments at once, and seconds for which eight connections send them one after another. */
const FLOOD = depth('PAYMENT_FLOOD', 120, 800)
const FLOOD_SECONDS = depth('PAYMENT_FLOOD_SECONDS', 1, 15)
const randomHash = (): string => `0x${randomBytes(32).toString('hex')}`
const pushed = (challenge: Challenge.Challenge, hash = randomHash()): string =>
  Credential.serialize({ challenge, payload: { type: 'hash', hash } })

/** What a large run shows. */
const show = (line: string): void => {
  if (FLOOD > 120 || FLOOD_SECONDS > 1) console.log(line)
}

/** A node whose requests are counted. */
async function countedNode(rpcUrl: string): Promise<RelayedNode & { requests: () => number }> {
  let requests = 0
  const node = await relayedNode(rpcUrl, () => {
    requests += 1
    return 'answered'
  })
  onTestFinished(() => node.close())
  return Object.assign(node, { requests: () => requests })
}

/** How many queries of the ledger of payments a process has made. */
async function ledgerQueries({ url }: Served): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/query_duration_seconds_count\{query="payment_steps",outcome="ok"\} (\d+)/.exec(text)?.[1] ?? 0)
}

const statusesOf = (responses: readonly Response[]): number[] => [
  ...new Set(responses.map(({ status }) => status).sort()),
]

test('made-up hashes cost next to nothing, and a payer at the same address still pays, pull and push, each in another currency', async ({
  chain,
  serve,
}) => {
  const node = await countedNode(chain.rpcUrl)
  const served = await serve({ rpcUrl: node.url, currencies: [REFERENCE_STABLE, ALPHA_USD] })
  const target = `${served.url}${path}`
  const challenges: Challenge.Challenge[] = []
  while (challenges.length < 2 * FLOOD)
    challenges.push(...(await Promise.all(Array.from({ length: 20 }, () => challengeAt(target)))))
  const flood = async (): Promise<Response[]> =>
    Promise.all(challenges.splice(0, FLOOD).map((challenge) => present(target, pushed(challenge))))
  const first = await flood()
  expect(statusesOf(first)).toEqual([402, 429])
  expect(first.filter(({ status }) => status === 402)).toHaveLength(MOST_PER_ADDRESS)
  const limited = first.find(({ status }) => status === 429) as Response
  expect([await limited.json(), limited.headers.get('retry-after')]).toEqual([
    expect.objectContaining({ type: 'urn:plumbline:problem:too-many-payments' }),
    '5',
  ])
  expect(await ledgerQueries(served)).toBe(MOST_PER_ADDRESS)
  show(`${FLOOD} at once: ${countsOf(first)}; ${await ledgerQueries(served)} queries, ${node.requests()} requests`)

  const requests = node.requests()
  const [second, ...paid] = await Promise.all([
    flood(),
    ...(['pull', 'push'] as const).map(async (mode, i) => {
      const challenge = (await challengesAt(target))[i] as Challenge.Challenge
      return present(target, await credentialFor(chain.rpcUrl, challenge, alice, mode))
    }),
  ])
  show(
    `${FLOOD} more beside two payers: ${countsOf(second)}; the payers: ${countsOf(paid)}; ${await ledgerQueries(served)} queries, ${node.requests() - requests} more requests`,
  )
  // A minute may have ended, and the limit begun again.
  const refused = second.filter(({ status }) => status === 402).length
  expect(refused).toBeLessThanOrEqual(MOST_PER_ADDRESS)
  expect(second.filter(({ status }) => status === 429)).toHaveLength(FLOOD - refused)
  expect(paid.map(({ status }) => status)).toEqual([200, 200])
  // The made-up ones were compared with one list of transfers.
  expect(node.requests() - requests).toBeLessThan(FLOOD / 3)
  const text = await (await fetch(`${served.url}/metrics`)).text()
  expect(text).toContain(`outcome="limited"} ${2 * FLOOD - MOST_PER_ADDRESS - refused}`)
}, 300_000)

/** How many answers there are of each status, as `402: 20, 429: 780`. */
function countsOf(responses: readonly Response[]): string {
  const counts = new Map<number, number>()
  for (const { status } of responses) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts.entries()].map(([status, count]) => `${status}: ${count}`).join(', ')
}

test('a payer who retries beside eight connections of made-up hashes is served', async ({ chain, serve }) => {
  const node = await countedNode(chain.rpcUrl)
  const served = await serve({ rpcUrl: node.url })
  const target = `${served.url}${path}`
  const responses: Response[] = []
  const end = performance.now() + FLOOD_SECONDS * 1000
  let isPaid = false
  const flood = async () => {
    const challenge = await challengeAt(target)
    while (performance.now() < end || !isPaid) responses.push(await present(target, pushed(challenge)))
  }
  const pay = async () => {
    const challenge = await challengeAt(target)
    const own = await credentialFor(chain.rpcUrl, challenge, bob)
    const { signature } = Credential.deserialize<{ signature: Hex }>(own).payload
    const credential = pushed(challenge, keccak256(signature))
    const statuses = [(await present(target, credential)).status]
    await chain.rpc.call('eth_sendRawTransaction', [signature])
    while (statuses.at(-1) !== 200) {
      await sleep(500)
      statuses.push((await present(target, credential)).status)
    }
    isPaid = true
    return statuses
  }
  const [statuses] = await Promise.all([pay(), ...Array.from({ length: 8 }, flood)])
  show(
    `eight connections: ${countsOf(responses)}; ${await ledgerQueries(served)} queries of the ledger, ${node.requests()} requests to the node; the payer: ${statuses.join(', ')}`,
  )
  expect(statuses.at(-1)).toBe(200)
  expect(statusesOf(responses)).toEqual([402, 429])
  // A minute may end meanwhile, and the limit begins again.
  expect(responses.filter(({ status }) => status === 402).length).toBeLessThanOrEqual(2 * MOST_PER_ADDRESS)
  expect(await ledgerQueries(served)).toBeLessThanOrEqual(2 * MOST_PER_ADDRESS + statuses.length)
}, 120_000)

test('signatures without money cost next to nothing, and a payer at the same address still pays', async ({
  chain,
  serve,
}) => {
  const node = await countedNode(chain.rpcUrl)
  const served = await serve({ rpcUrl: node.url })
  const target = `${served.url}${path}`
  const challenge = await challengeAt(target)
  const own = await credentialFor(chain.rpcUrl, challenge, alice)
  const statuses: number[] = []
  for (let i = 0; i < 8; i++) {
    const credential = await resigned(own, privateKeyToAccount(generatePrivateKey()))
    statuses.push((await present(target, credential)).status)
  }
  expect(statuses).toEqual([402, 402, 402, 402, 402, 429, 429, 429])
  expect(await ledgerQueries(served)).toBe(5)
  expect((await present(target, await credentialFor(chain.rpcUrl, challenge, alice))).status).toBe(200)
}, 60_000)

test('a payer who waits for a block may ask as often as they like, and is answered once it is there', async ({
  chain,
  serve,
}) => {
  const node = await countedNode(chain.rpcUrl)
  const served = await serve({ rpcUrl: node.url })
  const target = `${served.url}${path}`
  const challenge = await challengeAt(target)
  const { signature } = Credential.deserialize<{ signature: Hex }>(
    await credentialFor(chain.rpcUrl, challenge, bob),
  ).payload
  const credential = pushed(challenge, keccak256(signature))
  for (let i = 0; i < 2; i++) {
    const response = await present(target, credential)
    expect([response.status, response.headers.get('retry-after')]).toEqual([402, '1'])
  }
  // The first one waits for the list of transfers, as above; the credential is in use meanwhile.
  const waiting = await Promise.all(Array.from({ length: 30 }, async () => present(target, credential)))
  expect(statusesOf(waiting).filter((status) => ![402, 409].includes(status))).toEqual([])
  expect(await ledgerQueries(served)).toBe(1)
  await chain.rpc.call('eth_sendRawTransaction', [signature])
  await expect.poll(async () => (await present(target, credential)).status, { timeout: 20_000 }).toBe(200)
}, 60_000)

test('a payment that can never succeed is refused from memory', async ({ chain, serve }) => {
  const node = await countedNode(chain.rpcUrl)
  const served = await serve({ rpcUrl: node.url })
  const target = `${served.url}${path}`
  const request = { request: { amount: '19999' } }
  const wrong = await credentialFor(chain.rpcUrl, await challengeAt(target), alice, 'push', request)
  const first = await (await present(target, wrong)).json()
  const asked = [node.requests(), await ledgerQueries(served)]
  expect(await (await present(target, wrong)).json()).toMatchObject({
    status: 402,
    type: (first as { type: string }).type,
    detail: (first as { detail: string }).detail,
  })
  expect([node.requests(), await ledgerQueries(served)]).toEqual(asked)
})

test('a challenge that was answered with several wrong payments can still be paid', async ({ chain, serve }) => {
  const served = await serve()
  const target = `${served.url}${path}`
  const challenge = await challengeAt(target)
  const statuses = []
  for (let i = 0; i < 6; i++) statuses.push((await present(target, pushed(challenge))).status)
  expect(statuses).toEqual([402, 402, 402, 402, 402, 429])
  const credential = await credentialFor(chain.rpcUrl, challenge, alice, 'push')
  expect((await present(target, credential)).status).toBe(200)
})

test('processes with one Redis share what they know of failed payments, and do without it', async ({ serve }) => {
  const { url, terms } = await serve()
  const redis = await startRedis()
  onTestFinished(() => redis.remove())
  const client = new Redis(redis.url, { maxRetriesPerRequest: 1, commandTimeout: 2000, retryStrategy: () => 50 })
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  await client.ping()
  const log = pino({ level: 'silent' })
  const process = () =>
    createScreen({ counter: createRequestCounter(client, 'here', log), redis: client, prefix: 'plumbline:here' })
  const proof = await readProof(pushed(await challengeAt(`${url}${path}`)), terms.challengeSecret, CHAIN_ID)
  const gateway = { funds: { has: async () => false } } as unknown as Gateway
  const offer = { price: '0.02', scope: proof.scope, description: '' }
  const admitted = async (screen: ReturnType<typeof process>) =>
    (await screen.begin('192.0.2.1')).admit(gateway, proof, offer).then(
      () => 'admitted',
      (error: Error) => error.message,
    )
  const [one, other] = [process(), process()]
  expect(await admitted(one)).toBe('admitted')
  ;(await one.begin('192.0.2.1')).refused(proof, { kind: 'x', detail: 'failed before', isFinal: true })
  await expect.poll(() => admitted(other)).toBe('failed before')
  expect(await client.ttl((await client.keys('plumbline:here:failed-payment:*'))[0] as string)).toBeGreaterThan(86_000)
  redis.freeze()
  expect(await admitted(process())).toBe('admitted')
  expect(await admitted(other)).toBe('failed before')
  redis.thaw()
})
