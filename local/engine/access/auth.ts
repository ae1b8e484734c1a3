import type { IncomingMessage } from 'node:http'
import { EngineError } from '../engine/errors.js'
import { hashPassword, isPassword } from './password.js'
import type { User } from './users.js'

/** The password is compared with this hash if there is no such user, so that both cases take the same time. */
const dummyHash = hashPassword('')

/**
 * The user that a request authenticates as, by headers, Basic or URL parameters. Throws ClickHouse's error 516, which is
 * the same for an unknown user and for a wrong password.
 */
export function authenticate(request: IncomingMessage, url: URLSearchParams, users: ReadonlyMap<string, User>): User {
  const { name, password } = credentialsOf(request, url)
  const user = users.get(name)
  const isRight = isPassword(password, user ?? dummyHash)
  if (user && isRight) return user
  throw EngineError.of(
    516,
    'AUTHENTICATION_FAILED',
    `${name}: Authentication failed: password is incorrect, or there is no user with such name`,
  )
}

function credentialsOf({ headers }: IncomingMessage, url: URLSearchParams): { name: string; password: string } {
  const user = headers['x-clickhouse-user']
  const key = headers['x-clickhouse-key']
  const hasHeaders = user !== undefined || key !== undefined
  const hasParameters = url.has('user') || url.has('password')
  const basic = /^Basic\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  assertOnce([
    hasHeaders && 'X-ClickHouse HTTP headers',
    basic !== undefined && 'Authorization HTTP header',
    hasParameters && 'authentication via parameters',
  ])
  if (hasHeaders) return { name: utf8(user) || 'default', password: utf8(key) }
  if (basic !== undefined) {
    const text = Buffer.from(basic, 'base64').toString()
    const colon = text.indexOf(':')
    if (colon >= 0) return { name: text.slice(0, colon) || 'default', password: text.slice(colon + 1) }
  }
  return { name: url.get('user') ?? 'default', password: url.get('password') ?? '' }
}

function assertOnce(places: (string | false)[]): void {
  const [first, second] = places.filter((place) => place !== false)
  if (second === undefined) return
  const text = `Invalid authentication: it is not allowed to use ${first} and ${second} simultaneously`
  throw EngineError.of(516, 'AUTHENTICATION_FAILED', text)
}

/** Node decodes headers as Latin-1; this restores the client's bytes and decodes them as UTF-8. */
const utf8 = (header: string | string[] | undefined) => Buffer.from(String(header ?? ''), 'latin1').toString()
