import type { FastifyInstance } from 'fastify'
import { linkBase } from '../../process/link-base.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The whole URL of a path of this service. */
    linkTo: (path: string) => string
  }
}

/**
 * Makes links from the configured URL, else from the address at which the app listens. Never from a request: its host is
 * what the client says it is, and an answer may be kept for others.
 */
export function links(app: FastifyInstance, publicUrl: string | undefined): void {
  const base = (): string =>
    linkBase(publicUrl ?? (app.server.address() === null ? 'http://localhost' : app.listeningOrigin))
  app.decorate('linkTo', (path) => new URL(path.slice(1), base()).href)
}
