import fastifyCors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** Open to every origin: all data is public. */
export async function cors(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'OPTIONS'],
    exposedHeaders: [
      'X-Service-As-Of',
      'X-Request-Id',
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
      'Allow',
      'WWW-Authenticate',
      'X-Next-Cursor',
      'Content-Disposition',
      'ETag',
      'Age',
      'Cache-Status',
    ],
    maxAge: 86_400,
    strictPreflight: false,
  })
}
