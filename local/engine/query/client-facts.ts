import type { IncomingMessage } from 'node:http'

/** Where a request comes from; fields are named as a server's columns. */
export type ClientFacts = {
  address: string
  port: number
  /** As on a server: 1 is GET, 2 is POST. */
  http_method: 1 | 2
  http_user_agent: string
  http_referer: string
  forwarded_for: string
}

/** Collects the facts about the client of a request. */
export function clientFacts({ socket, method, headers }: IncomingMessage): ClientFacts {
  return {
    address: asIPv6(socket.remoteAddress ?? ''),
    port: socket.remotePort ?? 0,
    http_method: method === 'POST' ? 2 : 1,
    http_user_agent: headers['user-agent'] ?? '',
    http_referer: headers.referer ?? '',
    forwarded_for: String(headers['x-forwarded-for'] ?? ''),
  }
}

/** The address for a column of type IPv6. */
const asIPv6 = (address: string) => (address === '' ? '::' : address.includes(':') ? address : `::ffff:${address}`)
