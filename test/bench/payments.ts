// What a payment adds to a request, pull and push, against the same request with a key; and challenges per second.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Challenge, Credential } from 'mppx'
import { accounts } from '../../local/chain/accounts.js'
import { startBareChain } from '../../local/chain/bare-chain.js'
import { insertPaidData, keepTicking, PAID_PATHS, payer, paymentTerms, present } from '../support/paying.js'
import { median, percentile, timed } from './measure.js'
import { startProgram } from './programs.js'
import { startStack } from './stack.js'

const ROUNDS = 20
const SECONDS = 3
const CONNECTIONS = 32
const KEY = 'ak_the-admin-key-of-this-bench-and-of-nothing-else'

const dir = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
const chain = await startBareChain(dir)
const stack = await startStack()
let stopTicking = async (): Promise<void> => {}
try {
  await chain.rpc.call('evm_setAutomine', [true])
  stopTicking = keepTicking(chain)
  const { env, clickhouse } = await stack.database('payments')
  await insertPaidData(clickhouse)
  const { recipient } = paymentTerms(chain.rpcUrl)
  const payments = { PAYMENT_RECIPIENT: recipient, PAYMENT_RPC_URL: chain.rpcUrl, SECRETS_KEY: 'k'.repeat(43) }
  const api = await startProgram(
    'api/server.js',
    { ...env, ...payments, ADMIN_API_KEY: KEY, FREE_REQUESTS_PER_MINUTE: '0', PORT: '0', LOG_LEVEL: 'warn' },
    'api ready at ',
  )
  const base = new URL(api.line.slice('api ready at '.length)).origin
  const url = `${base}${PAID_PATHS.history.path}`
  const ask = async (authorization: string): Promise<void> => {
    const response = await present(url, authorization)
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    await response.arrayBuffer()
  }
  const times = {
    key: [] as number[],
    pull: [] as number[],
    push: [] as number[],
    wholePull: [] as number[],
    wholePush: [] as number[],
  }
  for (let round = 0; round < ROUNDS; round++) {
    times.key.push(await timed(() => ask(`Bearer ${KEY}`)))
    for (const mode of ['pull', 'push'] as const) {
      const client = payer(chain.rpcUrl, accounts.traders[round % 6] as (typeof accounts.traders)[0], mode)
      const whole = await timed(async () => {
        const credential = await client.createCredential(await present(url))
        times[mode].push(await timed(() => ask(credential)))
      })
      times[mode === 'pull' ? 'wholePull' : 'wholePush'].push(whole)
    }
  }
  const key = median(times.key)
  console.log(`with a key: p50 ${key.toFixed(1)} ms`)
  for (const mode of ['pull', 'push'] as const) {
    const whole = times[mode === 'pull' ? 'wholePull' : 'wholePush']
    console.log(
      `paid, ${mode}: p50 ${median(times[mode]).toFixed(1)} ms, p99 ${percentile(times[mode], 0.99).toFixed(1)} ms; added p50 ${(median(times[mode]) - key).toFixed(1)} ms, ratio ${(median(times[mode]) / key).toFixed(1)}; with the 402 and the client's signing: p50 ${median(whole).toFixed(1)} ms`,
    )
  }

  /** Requests per second on some connections at once. */
  const perSecond = async (path: string, status: number): Promise<number> => {
    let done = 0
    const end = performance.now() + SECONDS * 1000
    const worker = async (): Promise<void> => {
      while (performance.now() < end) {
        const response = await fetch(`${base}${path}`)
        await response.arrayBuffer()
        if (response.status !== status) throw new Error(`${path}: ${response.status}`)
        done++
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, worker))
    return done / SECONDS
  }
  const free = await perSecond('/health/live', 200)
  const challenges = await perSecond(PAID_PATHS.analysis.path, 402)
  console.log(
    `402 with a challenge: ${challenges.toFixed(0)}/s; /health/live ${free.toFixed(0)}/s; ratio ${(challenges / free).toFixed(2)}`,
  )
  const example = Credential.serialize({ challenge: Challenge.fromResponse(await present(url)), payload: {} })
  const garbage = await timed(() => present(url, example))
  console.log(`a credential that pays nothing: refused in ${garbage.toFixed(1)} ms`)
  await api.stop()
} finally {
  await stack.close()
  await stopTicking()
  await chain.stop()
  await rm(dir, { recursive: true, force: true })
}
