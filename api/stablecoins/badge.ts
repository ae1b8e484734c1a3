import { makeBadge } from 'badge-maker'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { pegCoverage } from '../../clickhouse/peg/coverage.js'
import { currentPeg } from '../../clickhouse/peg/current.js'
import { stablecoinNames } from '../../clickhouse/stablecoins/stablecoins.js'
import { thisSecond } from '../answers/as-of.js'
import { querySignal } from '../answers/query-signal.js'
import { requireStable } from '../answers/stable.js'
import { shownSymbol } from './shown-symbol.js'

/** Colours that colour-blind people can tell apart (Okabe and Ito). */
const COLORS = { inside: '#0072b2', mild: '#e69f00', severe: '#d55e00', none: '#767676' } as const

const CACHE_CONTROL = 'public, max-age=30'

/** A price in millionths as a signed distance from 1 in basis points. */
const signedBps = (micros: number): string => {
  const bps = (micros - 1_000_000) / 100
  return `${bps > 0 ? '+' : bps < 0 ? '\u2212' : ''}${Math.abs(bps)} bps`
}

/** What a badge says of a price now; it says so if there is no quote. `micros` is null without one. */
function badgeOf(micros: number | null): { message: string; color: string } {
  if (micros === null) return { message: 'no quote', color: COLORS.none }
  const distance = Math.abs(micros - 1_000_000)
  const color = distance > 5000 ? COLORS.severe : distance > 1000 ? COLORS.mild : COLORS.inside
  return { message: signedBps(micros), color }
}

async function badge(app: FastifyInstance, request: FastifyRequest, stable: string) {
  await requireStable(app, stable)
  const signal = querySignal(request)
  const [peg, names] = await Promise.all([
    currentPeg(app.clickhouse, { stable }, { signal }),
    stablecoinNames(app.clickhouse, { at: thisSecond(app) }, { signal }),
  ])
  const isQuoted = pegCoverage(peg.newest?.status ?? null, true, peg.unsampled).status === 'complete'
  const price = isQuoted ? (peg.newest?.sell_micros ?? null) : null
  const symbol = names.find(({ address }) => address === stable)?.symbol ?? ''
  return { label: shownSymbol(symbol, stable), ...badgeOf(price) }
}

const Params = z.strictObject({
  file: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}\.(?:svg|json)$/, 'must be the address of a stable, with .svg or .json')
    .transform((file) => file.toLowerCase().split('.') as [string, 'svg' | 'json']),
})

/** A stable's price as an image, and as data for an endpoint badge of shields.io. */
export const badgeRoutes: FastifyPluginAsync = async (app) => {
  const schema = { hide: true, params: Params, querystring: z.strictObject({}) }
  app.get('/badge/:file', { schema }, async (request, reply) => {
    const [stable, form] = (request.params as z.output<typeof Params>).file
    const made = await badge(app, request, stable)
    reply.header('cache-control', CACHE_CONTROL)
    if (form === 'svg') return reply.type('image/svg+xml; charset=utf-8').send(makeBadge(made))
    return reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ schemaVersion: 1, ...made, cacheSeconds: 30 }))
  })
}
