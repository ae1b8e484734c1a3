import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { collectDefaultMetrics, type Registry } from 'prom-client'
import type { z } from 'zod'
import { listen } from './listen.js'
import { judgeReader, type metricsEnv } from './metrics-access.js'

/** How long a check of readiness may take: shorter than the timeouts of probes. */
const CHECK_MS = 3000

type Options = {
  config: z.infer<z.ZodObject<typeof metricsEnv>>
  port: { name: string; value: number | undefined }
  registry: Registry
  /** Resolves to null if the process can do its work, else to what is wrong. */
  check: () => Promise<string | null>
  log: Logger
}

/**
 * Serves a process's metrics at /metrics to those who may read them (METRICS), its liveness at /health/live, which
 * checks nothing, and its readiness at /health/ready (503 with the reason). Resolves to a function that stops it; without
 * a port, it does nothing. Rejects with ListenError.
 */
export async function serveMetrics({ config, port, registry, check, log }: Options): Promise<() => Promise<void>> {
  if (port.value === undefined) return async () => {}
  collectDefaultMetrics({ register: registry })
  // Most processes serve none, and need not start more slowly for it.
  const { fastify } = await import('fastify')
  const app = fastify({ forceCloseConnections: true })
  app.addHook('onRequest', async (_, reply) => {
    reply.header('cache-control', 'no-store')
  })
  app.get('/metrics', async (request: FastifyRequest, reply: FastifyReply) => {
    const verdict = judgeReader(config.METRICS, request)
    if (verdict === 'hidden') return reply.callNotFound()
    if (verdict === 'refused')
      return reply.code(401).header('www-authenticate', 'Bearer').send({ error: 'a token is required' })
    return reply.type(registry.contentType).send(await registry.metrics())
  })
  app.get('/health/live', async () => ({ status: 'ok' }))
  app.get('/health/ready', async (_, reply) => {
    const late = new Promise<string>((resolve) => setTimeout(resolve, CHECK_MS, 'the check takes too long').unref())
    const reason = await Promise.race([check().catch((error: Error) => error.message), late])
    return reason === null ? { status: 'ok' } : reply.code(503).send({ status: 'not ready', reason })
  })
  const host = { name: 'METRICS_HOST', value: config.METRICS_HOST }
  const url = await listen(app, host, { name: port.name, value: port.value })
  log.info({ url }, 'serving metrics')
  return () => app.close()
}
