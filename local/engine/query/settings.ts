import { accessDenied, EngineError } from '../engine/errors.js'

/** URL parameters that are not settings of the query. */
const reserved = new Set([
  '',
  'query',
  'query_id',
  'database',
  'default_format',
  'user',
  'password',
  'quota_key',
  'session_id',
  'session_timeout',
  'session_check',
  'close_session',
  'compress',
  'decompress',
  'wait_end_of_query',
  'buffer_size',
  'stacktrace',
  'client_protocol_version',
])

/** The settings and the `param_*` values of a request, by name. The last one wins, as on a server. */
export function splitParameters(parameters: Iterable<[string, string]>): {
  settings: Record<string, string>
  params: Record<string, string>
} {
  const settings: Record<string, string> = {}
  const params: Record<string, string> = {}
  for (const [name, value] of parameters) {
    if (name === 'role') {
      const text = `Role ${quoteName(value)} should be granted to set as current`
      throw EngineError.of(512, 'SET_NON_GRANTED_ROLE', text)
    }
    if (name.startsWith('param_')) params[name.slice('param_'.length)] = value
    else if (!reserved.has(name)) settings[name] = value
  }
  return { settings, params }
}

/** A flag among the URL parameters. */
export const isTrue = (text: string | null) => text === '1' || text === 'true'

export const quoteString = (value: string) => `'${value.replace(/[\\']/g, '\\$&')}'`
export const quoteName = (name: string) => `\`${name.replace(/[\\`]/g, '\\$&')}\``

/**
 * The statement that gives a connection its settings and read level, or an empty string. The engine checks names, values
 * and constraints; `readonly` comes last, as nothing can be set behind it.
 */
export function setStatement(settings: Record<string, string>, readonly: number): string {
  const { readonly: asked, ...others } = settings
  if ('profile' in others) throw accessDenied('The setting profile may not be changed')
  const pairs = Object.entries(others).map(([name, value]) => `${quoteName(name)} = ${quoteString(value)}`)
  const level = stricter(readonly, asked)
  if (level !== undefined) pairs.push(`readonly = ${quoteString(level)}`)
  return pairs.length > 0 ? `SET ${pairs.join(', ')}` : ''
}

/** 1 forbids more than 2, and 2 more than 0. What is no number goes to the engine, for its error. */
function stricter(level: number, asked: string | undefined): string | undefined {
  if (asked === undefined || asked === '0') return level === 0 ? asked : String(level)
  return level === 1 ? '1' : asked
}
