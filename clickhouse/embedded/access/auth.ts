import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { EngineError } from '../engine/errors.js'

export type Credentials = { user: string; password: string }

/** Throws ClickHouse's error 516 unless the request carries these credentials, as headers, Basic or URL parameters. */
export function authenticate(request: IncomingMessage, url: URLSearchParams, expected: Credentials): void {
  const given = credentialsOf(request, url)
  const isUser = equal(given.user, expected.user)
  if (equal(given.password, expected.password) && isUser) return
  throw EngineError.of(
    516,
    'AUTHENTICATION_FAILED',
    `${given.user}: Authentication failed: password is incorrect, or there is no user with such name`,
  )
}

function credentialsOf({ headers }: IncomingMessage, url: URLSearchParams): Credentials {
  const user = headers['x-clickhouse-user']
  const key = headers['x-clickhouse-key']
  if (user !== undefined || key !== undefined) return { user: utf8(user) || 'default', password: utf8(key) }
  const basic = /^Basic\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  if (basic !== undefined) {
    const text = Buffer.from(basic, 'base64').toString()
    const colon = text.indexOf(':')
    if (colon >= 0) return { user: text.slice(0, colon) || 'default', password: text.slice(colon + 1) }
  }
  return { user: url.get('user') ?? 'default', password: url.get('password') ?? '' }
}

/** Node reads headers as Latin 1; they are the bytes that the client sent. */
const utf8 = (header: string | string[] | undefined) => Buffer.from(String(header ?? ''), 'latin1').toString()

/** Takes the same time wherever the two differ, and whatever their lengths. */
function equal(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
