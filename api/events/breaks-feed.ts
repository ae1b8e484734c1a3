import type { FastifyPluginAsync } from 'fastify'
import { Feed } from 'feed'
import { z } from 'zod'
import { databaseChainId } from '../../clickhouse/chain/identity.js'
import { type LoggedEvent, newestEvents } from '../../clickhouse/events/log.js'
import { stablecoinNames } from '../../clickhouse/stablecoins/stablecoins.js'
import { DAY_SECONDS, isoSeconds } from '../../process/instants.js'
import { markupText } from '../../process/untrusted-text.js'
import { thisSecond } from '../answers/as-of.js'
import { querySignal } from '../answers/query-signal.js'
import { shownSymbol } from '../stablecoins/shown-symbol.js'

const MOST_ENTRIES = 100
/** A break has two events, and more if they were taken back. */
const MOST_EVENTS = 4 * MOST_ENTRIES
const OLDEST_DAYS = 30

/** What events about a peg break say of it. */
const Break = z.object({
  stable: z.string(),
  severity: z.string(),
  started_at: z.coerce.date(),
  started_block: z.int(),
  ended_at: z.coerce.date().optional(),
  max_deviation_bps: z.number(),
  thin: z.boolean().optional(),
})

/** A break as announced: its events that stand, none if it was taken back. `changed_at` is when its newest was recorded. */
type Announced = z.output<typeof Break> & { standing: ReadonlySet<string>; changed_at: Date }

/** The breaks that events are about, in the order of the log, by their key. */
function announcedBreaks(events: readonly LoggedEvent[]): Map<string, Announced> {
  const breaks = new Map<string, Announced>()
  for (const { type, retracted_type, recorded_at, data } of events) {
    const isRetraction = type === 'event.retracted'
    const about = Break.parse(isRetraction ? data.original : data)
    const key = `${about.stable}:${about.severity}:${about.started_block}`
    const earlier = breaks.get(key)
    const standing = new Set(earlier?.standing)
    if (isRetraction) standing.delete(retracted_type)
    else standing.add(type)
    breaks.set(key, { ...(isRetraction && earlier ? earlier : about), standing, changed_at: recorded_at })
  }
  return breaks
}

/** A time span in words, to the minute. */
const inWords = (seconds: number): string => {
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`
}

/** What an entry says of a break, in its title and in its text. */
function words({ standing, started_at, ended_at, max_deviation_bps, thin, stable }: Announced): {
  title: string
  text: string
} {
  const start = isoSeconds(started_at)
  if (standing.size === 0)
    return { title: 'withdrawn', text: `The break of ${stable} that began ${start} was announced, and is none.` }
  const most = `${stable} was up to ${max_deviation_bps} bps from 1.00${thin ? ', which 10,000 tokens contradict' : ''}`
  if (ended_at === undefined || !standing.has('peg_break.ended'))
    return { title: 'ongoing', text: `${most}, from ${start} on, when it was announced.` }
  const lasted = inWords((ended_at.getTime() - started_at.getTime()) / 1000)
  return { title: `ended after ${lasted}`, text: `${most}, from ${start} to ${isoSeconds(ended_at)}.` }
}

/**
 * The announced peg breaks of the last 30 days as an Atom feed (RFC 4287): one entry a break, with an id that stays; it is
 * updated when the break ends, and when it is taken back.
 */
export const breaksFeedRoute: FastifyPluginAsync = async (app) => {
  const schema = { hide: true, querystring: z.strictObject({}) }
  app.get('/breaks.atom', { schema }, async (request, reply) => {
    const at = thisSecond(app)
    const options = { signal: querySignal(request) }
    const since = new Date(Math.max(0, at.getTime() - OLDEST_DAYS * DAY_SECONDS * 1000))
    const types = ['peg_break.started', 'peg_break.ended']
    const [events, names, chainId] = await Promise.all([
      newestEvents(app.clickhouse, { until: Number.MAX_SAFE_INTEGER, limit: MOST_EVENTS, types }, options),
      stablecoinNames(app.clickhouse, { at }, options),
      databaseChainId(app.clickhouse, options),
    ])
    const breaks = [...announcedBreaks(events.toReversed())]
      .filter(([, { started_at }]) => started_at >= since)
      .toSorted(([, a], [, b]) => b.changed_at.getTime() - a.changed_at.getTime())
      .slice(0, MOST_ENTRIES)
    const symbols = new Map(names.map(({ address, symbol }) => [address, symbol]))
    const feed = new Feed({
      id: `urn:plumbline:breaks:${chainId ?? 'unknown'}`,
      title: 'Plumbline: peg breaks',
      description: 'Stablecoins of the Tempo chain that leave their peg, and come back',
      link: app.linkTo('/'),
      feedLinks: { atom: app.linkTo('/breaks.atom') },
      updated: breaks[0]?.[1].changed_at ?? since,
      generator: 'Plumbline',
      author: { name: 'Plumbline' },
    })
    // Titles and summaries of the feed are HTML.
    for (const [key, announced] of breaks) {
      const { stable, severity, started_at, changed_at } = announced
      const { title, text } = words(announced)
      feed.addItem({
        id: `urn:plumbline:break:${chainId ?? 'unknown'}:${key}`,
        title: markupText(`${shownSymbol(symbols.get(stable) ?? '', stable)}: ${severity} peg break, ${title}`),
        link: app.linkTo(`/s/${stable}?as_of=${isoSeconds(started_at)}`),
        published: started_at,
        date: changed_at,
        description: markupText(text),
      })
    }
    return reply
      .header('cache-control', 'public, max-age=30')
      .type('application/atom+xml; charset=utf-8')
      .send(feed.atom1())
  })
}
