import type { FastifyPluginAsync } from 'fastify'
import { Feed } from 'feed'
import { z } from 'zod'
import { databaseChainId } from '../../clickhouse/chain/identity.js'
import { newestBreaks } from '../../clickhouse/peg/breaks.js'
import { stablecoinNames } from '../../clickhouse/stablecoins/stablecoins.js'
import { DAY_SECONDS, isoSeconds } from '../../process/instants.js'
import { thisSecond } from '../answers/as-of.js'
import { querySignal } from '../answers/query-signal.js'
import { shownSymbol } from '../stablecoins/shown-symbol.js'

const MOST_ENTRIES = 100
const OLDEST_DAYS = 30

/** A time span in words, to the minute. */
const inWords = (seconds: number): string => {
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`
}

/**
 * The peg breaks of the last 30 days as an Atom feed (RFC 4287): one entry a break, with an id that stays; it is updated
 * when the break ends.
 */
export const breaksFeedRoute: FastifyPluginAsync = async (app) => {
  const schema = { hide: true, querystring: z.strictObject({}) }
  app.get('/breaks.atom', { schema }, async (request, reply) => {
    const at = thisSecond(app)
    const options = { signal: querySignal(request) }
    const since = new Date(Math.max(0, at.getTime() - OLDEST_DAYS * DAY_SECONDS * 1000))
    const [breaks, names, chainId] = await Promise.all([
      newestBreaks(app.clickhouse, { since, limit: MOST_ENTRIES }, options),
      stablecoinNames(app.clickhouse, { at }, options),
      databaseChainId(app.clickhouse, options),
    ])
    const symbols = new Map(names.map(({ address, symbol }) => [address, symbol]))
    const base = `${request.protocol}://${request.host}`
    const feed = new Feed({
      id: `urn:plumbline:breaks:${chainId ?? 'unknown'}`,
      title: 'Plumbline: peg breaks',
      description: 'Stablecoins of the Tempo chain that leave their peg, and come back',
      link: `${base}/`,
      feedLinks: { atom: `${base}/breaks.atom` },
      updated: breaks[0]?.changed_at ?? since,
      generator: 'Plumbline',
      author: { name: 'Plumbline' },
    })
    for (const { stable, severity, started_at, started_block, ended_at, changed_at, max_deviation_micros } of breaks) {
      const symbol = shownSymbol(symbols.get(stable) ?? '', stable)
      const most = `${max_deviation_micros / 100} bps`
      const lasted = ended_at && inWords((ended_at.getTime() - started_at.getTime()) / 1000)
      feed.addItem({
        id: `urn:plumbline:break:${chainId ?? 'unknown'}:${stable}:${severity}:${started_block}`,
        title: `${symbol}: ${severity} peg break, ${lasted === null ? 'ongoing' : `ended after ${lasted}`}`,
        link: `${base}/s/${stable}?as_of=${isoSeconds(started_at)}`,
        published: started_at,
        date: changed_at,
        description: `${stable} was up to ${most} from 1.00, from ${isoSeconds(started_at)} ${ended_at ? `to ${isoSeconds(ended_at)}` : 'on'}.`,
      })
    }
    return reply
      .header('cache-control', 'public, max-age=30')
      .type('application/atom+xml; charset=utf-8')
      .send(feed.atom1())
  })
}
