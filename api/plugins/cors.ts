import fastifyCors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** Open to every origin: all data is public. */
export async function cors(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'OPTIONS'],
    // One string: a list would be joined for every request.
    exposedHeaders: [
      'X-Service-As-Of',
      'X-Request-Id',
      'traceresponse',
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
      'Allow',
      'WWW-Authenticate',
      'Payment-Receipt',
      'X-Next-Cursor',
      'Content-Disposition',
      'ETag',
      'Age',
      'Cache-Status',
    ].join(', '),
    maxAge: 86_400,
    strictPreflight: false,
  })
}
