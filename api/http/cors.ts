import fastifyCors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** Open to every origin: all data is public. */
export async function cors(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'OPTIONS'],
    // All of them: no answer depends on who is signed in to a browser.
    exposedHeaders: '*',
    maxAge: 86_400,
    strictPreflight: false,
  })
}
