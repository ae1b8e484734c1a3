/**
 * What a connection may take, for fastify(). A client that sends slowly on purpose is let go of: its head has to be there
 * within 10 s and its body within 30 s (408), a connection on which nothing moves ends after a minute, and an idle one
 * after 72 s, which is longer than the 60 s that load balancers keep theirs.
 */
export const CONNECTION_LIMITS = {
  requestTimeout: 30_000,
  connectionTimeout: 60_000,
  keepAliveTimeout: 72_000,
  bodyLimit: 64 * 1024,
  http: {
    headersTimeout: 10_000,
    /** How often Node looks for requests that are too slow: so much later they may end. */
    connectionsCheckingInterval: 2000,
    /** The request line, headers and cookies together; more is 431. */
    maxHeaderSize: 16 * 1024,
    insecureHTTPParser: false,
    requireHostHeader: true,
  },
} as const
