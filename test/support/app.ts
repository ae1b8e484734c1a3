import { pino } from 'pino'
import type { WebhookTerms } from '../../api/admin/webhooks/terms.js'
import { buildApp } from '../../api/app.js'
import { addApiKey } from './keys.js'
import { test as base } from './services.js'
import { SECRETS_KEY } from './webhook-subscriptions.js'

/** Opens paid routes. */
export const SUBSCRIPTION_KEY = 'pk_a-subscription-key-of-the-tests-only'
/** Opens the admin routes. */
export const ADMIN_KEY = 'ak_the-admin-key-of-the-tests-and-of-nothing-else'

/** The settings of webhooks: only public addresses, as by default. */
export const WEBHOOK_TERMS: WebhookTerms = {
  secretsKey: SECRETS_KEY,
  targets: { networks: [], ports: [80, 443] },
  mostSubscriptions: 1000,
}

type Api = {
  /** The API's current time. Changing it moves the clock. */
  clock: { now: Date }
  app: Awaited<ReturnType<typeof buildApp>>
}

/** A test with the API on its own database. */
export const test = base.extend<Api>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  clock: async ({}, use) => {
    // Recent, because rows may expire, and not at the boundary of a second, minute, mark or hour.
    const minutes = Math.floor(Date.now() / 300_000) * 5 - 7
    await use({ now: new Date(minutes * 60_000 + 37_123) })
  },
  app: async ({ clickhouse, clock }, use) => {
    await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY })
    const app = await buildApp({
      clickhouse,
      now: () => clock.now,
      adminKey: ADMIN_KEY,
      webhooks: WEBHOOK_TERMS,
      logger: pino({ level: 'silent' }),
    })
    await use(app)
    await app.close()
  },
})
