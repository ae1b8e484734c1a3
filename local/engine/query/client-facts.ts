import type { IncomingMessage } from 'node:http'

/** Where a request comes from, under the names of a server's columns. */
export type ClientFacts = {
  address: string
  port: number
  /** As on a server: 1 GET, 2 POST. */
  http_method: 1 | 2
  http_user_agent: string
  http_referer: string
  forwarded_for: string
}

/** What a request tells of its client. */
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

/** The type of the column is IPv6. */
const asIPv6 = (address: string) => (address === '' ? '::' : address.includes(':') ? address : `::ffff:${address}`)
