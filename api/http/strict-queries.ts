import type { FastifyInstance } from 'fastify'
import { z } from 'zod'

const NoParameters = z.strictObject({})

/** Refuses every query parameter on routes that declare none. Call it before the routes are added. */
export function strictQueries(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema?.querystring === undefined) route.schema = { ...route.schema, querystring: NoParameters }
  })
}
