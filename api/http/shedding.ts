import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { OverloadedError } from './errors.js'

/** Long enough that one stall, as at the start of a process or of a collection of garbage, is no overload. */
const AVERAGE_OVER_MS = 2000

/**
 * Refuses requests with 503 while the event loop is late by more than `maxDelayMs` on average over two seconds, so that
 * those it has taken on still end; 0 refuses none. To be called before all that takes work.
 */
export async function shedding(app: FastifyInstance, maxDelayMs: number): Promise<void> {
  if (maxDelayMs === 0) return
  await app.register(underPressure, {
    maxEventLoopDelay: maxDelayMs,
    sampleInterval: AVERAGE_OVER_MS,
    pressureHandler: async (request) => {
      if (request.routeOptions.config.always) return
      app.metrics.shed.inc()
      throw new OverloadedError()
    },
  })
}
