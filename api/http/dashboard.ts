import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import Negotiator from 'negotiator'
import { z } from 'zod'
import { markupText } from '../../process/untrusted-text.js'

/** Paths of the page; it shows each of them itself. At `/`, only browsers get it. */
const PAGE_PATHS = ['/s/:address', '/flows', '/events', '/status', '/webhooks']

/**
 * The page runs its own scripts, shows its own styles and asks its own service; `data:` and `blob:` are the figures that
 * it exports. Nothing may be turned from text into HTML or script.
 */
const DIRECTIVES = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:', 'blob:'],
  'font-src': ["'self'"],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
  'require-trusted-types-for': ["'script'"],
  'trusted-types': ["'none'"],
}

/** The views that other sites may show in a frame: nothing can be changed on them. */
const FRAMED_PATHS = ['/embed', '/embed/s/:address']
const FRAMED_DIRECTIVES = { ...DIRECTIVES, 'frame-ancestors': ['*'] }

/** What a client gets at `/`: what its Accept header prefers, and data if it has no preference. */
function preferenceOf(accept: string | undefined): 'page' | 'data' {
  if (accept === undefined || !/\btext\//i.test(accept)) return 'data'
  const [first] = new Negotiator({ headers: { accept } }).mediaTypes(['application/json', 'text/html'])
  return first === 'text/html' ? 'page' : 'data'
}

/** Lets the routes of one path differ by what the client prefers: `constraints: { prefers: 'page' }`. */
export function preferences(app: FastifyInstance): void {
  app.addConstraintStrategy({
    name: 'prefers',
    storage: () => {
      const handlers = new Map()
      return { get: (key) => handlers.get(key) ?? null, set: (key, handler) => void handlers.set(key, handler) }
    },
    deriveConstraint: ({ headers }) => preferenceOf(headers.accept),
  })
}

/** Whether Vite has built the page into the folder. */
export const isBuilt = (folder: string): boolean => existsSync(join(folder, 'assets'))

/**
 * The page, from the folder that Vite built it into: at `/` for clients that prefer HTML to JSON, and at the paths of its
 * views. Its assets have hashes in their names and never change. All of it is sent to every caller, like the answers
 * about health, and is not counted: the page's own requests are. Call `preferences` before any route is added.
 */
export const dashboard =
  (folder: string): FastifyPluginAsync =>
  async (app) => {
    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, always: true }
    })
    await app.register(fastifyStatic, {
      root: join(folder, 'assets'),
      prefix: '/assets/',
      preCompressed: true,
      index: false,
      immutable: true,
      maxAge: '365d',
    })
    const page: RouteShorthandOptions = {
      // Its parameters are read by the page itself.
      schema: { hide: true, querystring: z.looseObject({}) },
      config: { contentSecurityPolicy: DIRECTIVES },
    }
    const file = (name: string) => (_: FastifyRequest, reply: FastifyReply) =>
      reply.header('cache-control', 'no-cache').sendFile(name, folder, { cacheControl: false })
    const html = await readFile(join(folder, 'index.html'), 'utf8')
    // What shows a preview of a link needs the whole address of its picture.
    const send = (_: FastifyRequest, reply: FastifyReply) =>
      reply
        .header('cache-control', 'no-cache')
        .type('text/html; charset=utf-8')
        .send(html.replace('content="/assets/', () => `content="${markupText(app.linkTo('/assets/'))}`))
    app.get('/', { ...page, constraints: { prefers: 'page' } }, (request, reply) =>
      send(request, reply.header('vary', 'accept')),
    )
    for (const path of PAGE_PATHS) app.get(path, page, send)
    app.get('/methodology', page, file('methodology.html'))
    app.get('/docs/api', page, file('api.html'))
    app.get('/docs/webhooks', page, file('webhooks.html'))
    const framed = { ...page, config: { contentSecurityPolicy: FRAMED_DIRECTIVES } }
    for (const path of FRAMED_PATHS) app.get(path, framed, send)
  }
