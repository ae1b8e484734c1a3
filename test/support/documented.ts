import { pino } from 'pino'
import { test as base } from 'vitest'
import { type AppDeps, buildApp } from '../../api/app.js'
import type { ApiDocument } from '../../api/http/openapi/document.js'
import { connect } from '../../clickhouse/store/client.js'

type App = Awaited<ReturnType<typeof buildApp>>

/** The API without ClickHouse: every route that needs it gives 503. */
export async function appWithoutClickhouse(
  given: Pick<AppDeps, 'adminKey' | 'limits' | 'keepAliveSeconds'> = {},
): Promise<App> {
  const nowhere = {
    CLICKHOUSE_URL: 'http://127.0.0.1:9',
    CLICKHOUSE_USER: '',
    CLICKHOUSE_PASSWORD: '',
    CLICKHOUSE_DATABASE: 'd',
  }
  const clickhouse = connect(nowhere, { application: 'test' })
  const logger = pino({ level: 'silent' })
  const app = await buildApp({ clickhouse, now: () => new Date(), logger, ...given })
  app.addHook('onClose', () => clickhouse.close())
  return app
}

/** A test of the API's own descriptions, which need no ClickHouse. */
export const test = base.extend<{ app: App; document: ApiDocument }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  app: async ({}, use) => {
    const app = await appWithoutClickhouse()
    await use(app)
    await app.close()
  },
  document: async ({ app }, use) => use((await app.inject('/openapi.json')).json()),
})
