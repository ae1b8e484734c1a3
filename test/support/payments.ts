import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { test as base } from 'vitest'
import { buildApp } from '../../api/app.js'
import type { PaymentTerms } from '../../api/callers/payments/terms.js'
import type { ClickHouseEnv } from '../../clickhouse/store/client.js'
import { type BareChain, startBareChain } from '../../local/chain/bare-chain.js'
import { insertPaidData, keepTicking, paymentTerms } from './paying.js'
import { withDatabase } from './services.js'

/** A row of the ledger. */
type Ledgered = { step: string; tx_hash: string; amount_raw: string; payer: string; mode: string; attempt: number }

/** The ledger's steps of a payment that was answered at its first use. */
export const stepsOfAnswered = (
  paid: Pick<Ledgered, 'tx_hash' | 'amount_raw' | 'mode'>,
  { address }: { address: string },
): Ledgered[] =>
  ['accepted', 'settled', 'answered'].map((step) => ({ step, ...paid, payer: address.toLowerCase(), attempt: 0 }))

/** An API that listens. */
export type Served = { url: string; terms: PaymentTerms; close: () => Promise<void> }

type Paying = {
  /** A node that mines transactions at once. All tests of a file share it, with separate recipients. */
  chain: BareChain
  /** A database with the data of paid routes, shared by all tests of a file. */
  database: { env: ClickHouseEnv; clickhouse: ClickHouseClient }
  /**
   * Starts an API that takes payments on that chain, or none without settings. `free` is the number of requests per
   * minute and address, 0 for no limit.
   */
  serve: (terms?: Partial<PaymentTerms> | null, on?: ClickHouseClient, free?: number) => Promise<Served>
  /** The recorded payments to an account, oldest first. */
  ledger: (recipient: string) => Promise<Ledgered[]>
}

/** A test of payments on a real chain, with a real database. */
export const test = base.extend<Paying>({
  chain: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    async ({}, use) => {
      const dir = await mkdtemp(join(tmpdir(), 'plumbline-payments-'))
      const chain = await startBareChain(dir)
      await chain.rpc.call('evm_setAutomine', [true])
      const stopTicking = keepTicking(chain)
      await use(chain)
      await stopTicking()
      await chain.stop()
      await rm(dir, { recursive: true, force: true })
    },
    { scope: 'file' },
  ],
  database: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    async ({}, use) => {
      await withDatabase(async (env, clickhouse) => {
        await insertPaidData(clickhouse)
        await use({ env, clickhouse })
      })
    },
    { scope: 'file' },
  ],
  serve: async ({ chain, database }, use) => {
    const running: Array<() => Promise<void>> = []
    await use(async (changes = {}, clickhouse = database.clickhouse, free = 0) => {
      const terms = paymentTerms(chain.rpcUrl, changes ?? {})
      const logger = pino({ level: 'silent' })
      const payments = changes && terms
      const app = await buildApp({ clickhouse, now: () => new Date(), payments, limits: { free, key: 1 }, logger })
      await app.listen({ host: '127.0.0.1', port: 0 })
      let closed: Promise<void> | undefined
      const close = (): Promise<void> => {
        closed ??= app.close()
        return closed
      }
      running.push(close)
      return { url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, terms, close }
    })
    for (const close of running) await close()
  },
  ledger: async ({ database: { clickhouse } }, use) => {
    await use(async (recipient) => {
      const query = `SELECT * FROM payments WHERE recipient = '${recipient}' ORDER BY recorded_at, step, attempt`
      return (await clickhouse.query({ query, format: 'JSONEachRow' })).json<Ledgered>()
    })
  },
})
