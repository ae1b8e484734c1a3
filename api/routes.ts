import type { FastifyPluginAsync } from 'fastify'
import { METHODOLOGY_HEADER, METHODOLOGY_VERSION } from '../process/methodology.js'
import { adminKeysRoutes } from './admin/keys.js'
import { adminWebhookDeliveriesRoutes } from './admin/webhooks/delivery-routes.js'
import { adminWebhookSwitchesRoutes, adminWebhooksRoutes } from './admin/webhooks/subscription-routes.js'
import { required, type WebhookTerms } from './admin/webhooks/terms.js'
import { boundCursors } from './answers/cursor.js'
import { breaksFeedRoute } from './events/breaks-feed.js'
import { eventsRoute } from './events/events.js'
import { type StreamOptions, streamRoute } from './events/stream/stream.js'
import { feeEconomicsRoute } from './fees/fee-economics.js'
import { flowAnomaliesRoute } from './flows/anomalies.js'
import { flowsExportRoute } from './flows/export.js'
import { flowsRoute } from './flows/flows.js'
import { flowsHistoryRoute } from './flows/history.js'
import { flowScoresRoute } from './flows/scores.js'
import type { ServiceStateReader } from './service/service-state.js'
import { statusRoute } from './service/status.js'
import { statusPageRoute } from './service/status-page.js'
import { allPegEventsRoute } from './stablecoins/all-peg-events.js'
import { analysisRoute } from './stablecoins/analysis.js'

import { averagesRoute } from './stablecoins/averages.js'
import { badgeRoutes } from './stablecoins/badge.js'
import { bookRoute } from './stablecoins/book.js'
import { curatedBriefings } from './stablecoins/briefings/briefings.js'
import { allPegSeriesRoute, depthSeriesRoute, pegWindowSeriesRoute } from './stablecoins/columns.js'
import { depthRoute } from './stablecoins/depth.js'
import { holdersRoute } from './stablecoins/holders.js'
import { issuanceRoute } from './stablecoins/issuance.js'
import { liquidityRoute, liquiditySeriesRoute } from './stablecoins/liquidity.js'
import { pegRoute } from './stablecoins/peg.js'
import { pegEventsRoute } from './stablecoins/peg-events.js'
import { reservesRoute } from './stablecoins/reserves.js'
import { rewardsRoute } from './stablecoins/rewards.js'
import { riskRoute } from './stablecoins/risk.js'
import { rolesRoute } from './stablecoins/roles.js'
import { pegSeriesRoute, riskSeriesRoute, supplySeriesRoute } from './stablecoins/series.js'
import { stablecoinRoute, stablecoinsRoute } from './stablecoins/stablecoins.js'

/** All routes under /api/v1, in the order of the documentation. */
export const publicRoutes =
  (serviceState: ServiceStateReader, streams: StreamOptions): FastifyPluginAsync =>
  async (api) => {
    api.addHook('onRequest', (_, reply, done) => {
      reply.header(METHODOLOGY_HEADER, METHODOLOGY_VERSION)
      done()
    })
    const routes = [
      stablecoinsRoute,
      stablecoinRoute,
      analysisRoute(curatedBriefings()),
      pegRoute,
      averagesRoute,
      pegEventsRoute,
      allPegEventsRoute,
      issuanceRoute,
      holdersRoute,
      rewardsRoute,
      rolesRoute,
      feeEconomicsRoute,
      riskRoute,
      reservesRoute,
      bookRoute,
      depthRoute,
      liquidityRoute,
      flowsRoute,
      flowsHistoryRoute,
      flowAnomaliesRoute,
      flowScoresRoute,
      flowsExportRoute,
      pegSeriesRoute,
      supplySeriesRoute,
      riskSeriesRoute,
      allPegSeriesRoute,
      pegWindowSeriesRoute,
      depthSeriesRoute,
      liquiditySeriesRoute,
      statusRoute(serviceState),
      eventsRoute,
      streamRoute(streams),
    ]
    for (const route of routes) await api.register(route)
  }

/** What other programs and pages show of the service, each in the form that they read. */
export const elsewhereRoutes =
  (serviceState: ServiceStateReader): FastifyPluginAsync =>
  async (app) => {
    await app.register(badgeRoutes)
    await app.register(breaksFeedRoute)
    await app.register(statusPageRoute(serviceState))
  }

/** All routes under /api/admin, for the operator, who alone has the admin key. */
export const adminRoutes =
  (keyRequestsPerMinute: number, webhooks: WebhookTerms | null): FastifyPluginAsync =>
  async (admin) => {
    boundCursors(admin)
    await admin.register(adminKeysRoutes(keyRequestsPerMinute))
    await admin.register(async (hooks) => {
      hooks.addHook('onRequest', async (_, reply) => {
        reply.header('cache-control', 'no-store')
        required(webhooks)
      })
      await hooks.register(adminWebhooksRoutes(webhooks))
      await hooks.register(adminWebhookSwitchesRoutes(webhooks))
      await hooks.register(adminWebhookDeliveriesRoutes)
    })
  }
