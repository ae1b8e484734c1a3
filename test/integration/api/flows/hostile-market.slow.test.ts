import type { ClickHouseClient } from '@clickhouse/client'
import pLimit from 'p-limit'
import { pino } from 'pino'
import { Addresses } from 'viem/tempo'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { randomFor } from '../../../../local/chain/random.js'
import { GENESIS_STABLES, planStables } from '../../../../local/chain/stables.js'
import { KIND_COUNT } from '../../../../tools/verify/answers/compare-answers.js'
import { SUBSCRIPTION_KEY } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { actors, genuine } from '../../../support/hostile-market/actors.js'
import { ATTACKS } from '../../../support/hostile-market/attacks.js'
import { type Compared, compareFlows, comparePeg, dollars } from '../../../support/hostile-market/comparisons.js'
import { counted } from '../../../support/hostile-market/costs.js'
import { balancesOf, type Ledger, readLedger } from '../../../support/hostile-market/ledger.js'
import {
  CALM_BLOCKS,
  type HostileMarket,
  PREPARING,
  PREPARING_BLOCKS,
  startHostileMarket,
} from '../../../support/hostile-market/market.js'
import { transfersOf, trulyMoved } from '../../../support/hostile-market/trades.js'
import { ingestAll } from '../../../support/ingest.js'
import { addApiKey } from '../../../support/keys.js'
import { runJobs } from '../../../support/ran-slots.js'
import { test, withDatabase } from '../../../support/services.js'
import { mismatches, runVerify } from '../../../support/verify.js'

const SEED = Number(process.env.FAULT_SEED ?? 1)
/** Blocks of each attack. */
const ROUNDS = depth('HOSTILE_BLOCKS', 5, 40)
const INSTANTS = depth('HOSTILE_INSTANTS', 40, 2_000)
/** Instants that are asked about at once. */
const AT_ONCE = 6
const NAMES = Object.keys(ATTACKS)
const LISTED = [Addresses.pathUsd, ...GENESIS_STABLES.map((s) => s.address), ...planStables(10).map((s) => s.address)]

type App = Awaited<ReturnType<typeof buildApp>>
type Cost = { attack: string; statements: number; rows: number; bytes: number; apiStatements: number; apiBytes: number }
type Row = {
  tx_hash: string
  from_address: string
  to_address: string
  amount_in: string
  amount_out: string
  usd_value: string | null
  block_number: string
}

let market: HostileMarket
let ledger: Ledger
let app: App
let database: { env: ClickHouseEnv; clickhouse: ClickHouseClient }
let end: () => void
let ended: Promise<void>
const costs: Cost[] = []

const headers = { authorization: `Bearer ${SUBSCRIPTION_KEY}` }
/** Repeated while the database is too busy to answer in time. */
const get = async <Body>(path: string): Promise<Body> => {
  let response = await app.inject({ url: `/api/v1/${path}`, headers })
  for (let attempt = 1; response.statusCode === 503 && attempt < 10; attempt++)
    response = await app.inject({ url: `/api/v1/${path}`, headers })
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${response.body.slice(0, 500)}`)
  return response.json()
}

/** Everything that was published about single flows. */
const exported = async (): Promise<Row[]> =>
  (await get<{ data: Row[] }>(`stablecoins/flows/export?from=${ledger.times[0]}&to=${(ledger.times.at(-1) ?? 0) + 1}`))
    .data

async function measure(
  env: Parameters<typeof ingestAll>[0],
  clickhouse: ClickHouseClient,
  attack: string,
  head: number,
) {
  const ingest = counted(clickhouse)
  await ingestAll(env, ingest.clickhouse, market.rpcUrl, head)
  const asked = counted(clickhouse)
  const fresh = await appOn(asked.clickhouse, Math.floor(Date.now() / 1000))
  const already = asked.sent.statements
  let apiBytes = 0
  for (const path of [
    'stablecoins',
    'stablecoins/flows',
    `stablecoins/${genuine.alpha}`,
    `stablecoins/${genuine.alpha}/peg`,
  ]) {
    const response = await fresh.inject({ url: `/api/v1/${path}`, headers })
    expect(response.statusCode, `${attack}: ${path}`).toBe(200)
    apiBytes += response.rawPayload.length
  }
  const apiStatements = asked.sent.statements - already
  await fresh.close()
  costs.push({
    attack,
    ...ingest.sent,
    apiStatements,
    apiBytes,
  })
}

const appOn = (clickhouse: ClickHouseClient, now: number): Promise<App> =>
  buildApp({ clickhouse, now: () => new Date(now * 1000), logger: pino({ level: 'silent' }) })

beforeAll(async () => {
  console.log(`hostile market: FAULT_SEED=${SEED}, ${ROUNDS} blocks of each attack`)
  market = await startHostileMarket(SEED, CALM_BLOCKS + PREPARING_BLOCKS + (NAMES.length + 1) * ROUNDS)
  const ready = new Promise<void>((settle, fail) => {
    ended = withDatabase(async (env, clickhouse) => {
      await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY })
      await market.mine(CALM_BLOCKS)
      await ingestAll(env, clickhouse, market.rpcUrl, await market.mine(PREPARING_BLOCKS, PREPARING))
      await measure(env, clickhouse, 'none', await market.mine(ROUNDS))
      for (const attack of NAMES) await measure(env, clickhouse, attack, await market.mine(ROUNDS, attack))
      const head = CALM_BLOCKS + PREPARING_BLOCKS + (NAMES.length + 1) * ROUNDS
      ledger = await readLedger(market.rpcUrl, head, LISTED)
      app = await appOn(clickhouse, (ledger.times.at(-1) ?? 0) + 30)
      database = { env, clickhouse }
      const over = new Promise<void>((stop) => {
        end = stop
      })
      settle()
      await over
      await app.close()
    })
    ended.catch(fail)
  })
  await ready
}, 1_200_000)
afterAll(async () => {
  end?.()
  await ended
  await market?.stop()
})

describe('a hostile market', () => {
  test('has a ledger whose transfers add up to the balances of the node', async () => {
    for (const { address } of [actors.attacker, actors.friend, actors.pool]) {
      const account = address.toLowerCase()
      for (const token of [genuine.alpha, genuine.beta, genuine.theta]) {
        const balances = await balancesOf(market.rpcUrl, ledger.head, token, account)
        for (let block = 1; block <= ledger.head; block++) {
          let net = 0n
          for (const move of (ledger.receipts[block] ?? []).flatMap(transfersOf)) {
            if (move.token !== token) continue
            if (move.to === account) net += move.amount
            if (move.from === account) net -= move.amount
          }
          expect((balances[block] ?? 0n) - (balances[block - 1] ?? 0n), `block ${block}`).toBe(net)
        }
      }
    }
  })

  test('every single published flow of a listed stable is one of the ledger, to the base unit', async () => {
    const isListed = (a: string, b: string) => LISTED.includes(a as never) || LISTED.includes(b as never)
    const attack = (tx: string) => market.attackOf.get(tx) ?? 'market'
    const published = (await exported())
      .filter((row) => isListed(row.from_address, row.to_address))
      .map(
        (r) =>
          `${attack(r.tx_hash)} ${r.tx_hash} ${r.from_address} ${r.to_address} ${r.amount_in} ${r.amount_out} ${r.usd_value}`,
      )
    const expected = ledger.flows
      .filter(({ gave, got }) => isListed(gave.token, got.token))
      .map(
        (f) =>
          `${attack(f.tx)} ${f.tx} ${f.gave.token} ${f.got.token} ${f.gave.amount} ${f.got.amount} ${dollars(f.usd_micros)}`,
      )
    expect(published.sort()).toEqual(expected.sort())
  })

  test('no attack has an effect beyond what it truly moved', async () => {
    const receipts = new Map(ledger.receipts.flat().map((receipt) => [receipt.transactionHash, receipt]))
    for (const row of await exported()) {
      const receipt = receipts.get(row.tx_hash)
      if (!receipt || row.usd_value === null) continue
      const moved = trulyMoved(receipt)
      for (const token of [row.from_address, row.to_address]) {
        const price = ledger.prices.get(token)?.[Number(row.block_number)]
        if (price == null) continue
        const most = ((moved.get(token) ?? 0n) * BigInt(price)) / 1_000_000n
        expect(
          BigInt(row.usd_value.replace('.', '')) <= most,
          `${market.attackOf.get(row.tx_hash)}: ${JSON.stringify(row)}`,
        ).toBe(true)
      }
    }
  })

  test(`flows, pegs and supplies are those of the ledger at ${INSTANTS} random instants`, async () => {
    const random = randomFor(SEED, 'instants')
    const [first, last] = [ledger.times[CALM_BLOCKS] as number, ledger.times.at(-1) as number]
    const limit = pLimit(AT_ONCE)
    const compared: Compared = { get, ledger, listed: LISTED }
    const instants = Array.from({ length: INSTANTS }, () => {
      const at = random.int(first, last)
      return { at, stable: random.pick(LISTED), from: random.int(first, at) }
    })
    await Promise.all(
      instants.map(({ at, stable, from }) =>
        limit(async () => {
          const block = ledger.times.findLastIndex((time) => time <= at)
          await comparePeg(compared, stable, at, block)
          const { supply } = await get<{ supply: { current: string } }>(`stablecoins/${stable}?as_of=${at}`)
          expect(supply.current, `supply of ${stable} at ${at}`).toBe(`${ledger.supplies.get(stable)?.[block]}`)
          await compareFlows(compared, `flows/history?from=${from}&to=${at + 1}`, from, at + 1)
        }),
      ),
    )
    // The live answer covers the 24 hours that end with the newest block.
    await compareFlows(compared, 'flows?hours=24', last - 86_400 + 1, last + 1)
  }, 1_200_000)

  test(`the definitions of every answer, ${INSTANTS} times at a random instant, find no difference`, async () => {
    const { env, clickhouse } = database
    await runJobs(clickhouse, ['peg-events', 'peg-tracks', 'risk', 'reserves', 'flow-anomalies'])
    const published = await appOn(clickhouse, (ledger.times.at(-1) ?? 0) + 30)
    const url = await published.listen({ port: 0, host: '127.0.0.1' })
    const flags = ['--sample', `${INSTANTS}`, '--seed', `${SEED}`, '--api', url]
    const { code, output } = await runVerify({ ...env, VERIFY_API_KEY: SUBSCRIPTION_KEY }, market.rpcUrl, ...flags)
    await published.close()
    expect(mismatches(output), output).toEqual([])
    expect(code, output).toBe(0)
    expect(output.match(/^match +.*: answers recomputed from the node: \d+ answers/gm), output).toHaveLength(KIND_COUNT)
  }, 1_200_000)

  test('costs no more statements than a calm market', () => {
    console.table(costs)
    const [calm, ...others] = costs as [Cost, ...Cost[]]
    for (const { attack, statements, apiStatements } of others) {
      expect(statements, `ingest, ${attack}`).toBeLessThanOrEqual(calm.statements * 3)
      expect(apiStatements, `API, ${attack}`).toBeLessThanOrEqual(calm.apiStatements + 2)
    }
  })
})
