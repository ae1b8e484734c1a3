import { pino } from 'pino'
import { expect, inject, onTestFinished, test } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { operationsOf } from '../../../../api/http/openapi/document.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { ADMIN_KEY, WEBHOOK_TERMS } from '../../../support/app.js'
import { documentedRequests } from '../../../support/documented-requests.js'
import { withMarket } from '../../../support/market.js'

const logger = pino({ level: 'silent' })

test('answers are the same whatever the profile of the database user sets', async () => {
  await withMarket({ historyBlocks: 300, blockSeconds: 480, stables: 9, seed: 2 }, async (market) => {
    const now = () => new Date((market.end + 30) * 1000)
    const [usual, other] = await Promise.all(
      [market.env, { ...market.env, ...inject('clickhouseUsers').other }].map(async (env) => {
        const clickhouse = connect(env, { application: 'plumbline-test' })
        const app = await buildApp({ clickhouse, now, logger, adminKey: ADMIN_KEY, webhooks: WEBHOOK_TERMS })
        onTestFinished(async () => {
          await app.close()
          await clickhouse.close()
        })
        return app
      }),
    )
    const ask = async (app: typeof usual, url: string, headers: Record<string, string>) => {
      const answer = await app?.inject({ method: 'GET', url, headers })
      return [url, answer?.statusCode, answer?.body]
    }
    const [, ...others] = market.plan.stables.map(({ address }) => address.toLowerCase())
    const requests = operationsOf(market.document)
      .filter(({ method, path }) => method.toUpperCase() === 'GET' && !/health|status|metrics/.test(path))
      .flatMap((place) => documentedRequests(place, market))
      .filter(({ status, url }) => status === 200 && !others.some((address) => url.includes(address)))
    expect(requests.length).toBeGreaterThan(40)
    for (const { url, headers } of requests)
      expect.soft(await ask(other, url, headers)).toEqual(await ask(usual, url, headers))
  })
})
