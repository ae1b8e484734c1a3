/**
 * Limits of a connection, for fastify(). A client that sends too slowly is disconnected: its headers must arrive within
 * 10 s and its body within 30 s (408). A connection without traffic in the middle of a request ends after a minute.
 */
export const CONNECTION_LIMITS = {
  requestTimeout: 30_000,
  connectionTimeout: 60_000,
  bodyLimit: 64 * 1024,
  http: {
    headersTimeout: 10_000,
    /** How often Node checks for slow requests: they may end this much later. */
    connectionsCheckingInterval: 2000,
    /** The request line, headers and cookies together; more is 431. */
    maxHeaderSize: 16 * 1024,
    insecureHTTPParser: false,
    requireHostHeader: true,
  },
} as const

/** How long a connection may be idle between requests, by default: longer than the 60 s of most load balancers. */
export const KEEP_ALIVE_SECONDS = 72
