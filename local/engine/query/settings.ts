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

/** The settings and `param_*` values of a request, by name. The last of several wins, as on a server. */
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

/** Whether a URL parameter that is a flag is set. */
export const isTrue = (text: string | null) => text === '1' || text === 'true'

export const quoteString = (value: string) => `'${value.replace(/[\\']/g, '\\$&')}'`
export const quoteName = (name: string) => `\`${name.replace(/[\\`]/g, '\\$&')}\``

/**
 * The SET statement for a connection's settings and read level, or an empty string. The engine checks names, values and
 * constraints. `readonly` comes last, because nothing can be set after it.
 */
export function setStatement(settings: Record<string, string>, readonly: number): string {
  const { readonly: wanted, ...rest } = settings
  if ('profile' in rest) throw accessDenied('The setting profile may not be changed')
  const pairs = Object.entries(rest).map(([name, value]) => `${quoteName(name)} = ${quoteString(value)}`)
  const level = stricter(readonly, wanted)
  if (level !== undefined) pairs.push(`readonly = ${quoteString(level)}`)
  return pairs.length > 0 ? `SET ${pairs.join(', ')}` : ''
}

/**
 * The stricter level: 1 forbids more than 2, and 2 more than 0. An invalid value is passed to the engine, for its
 * error.
 */
function stricter(level: number, wanted: string | undefined): string | undefined {
  if (wanted === undefined || wanted === '0') return level === 0 ? wanted : String(level)
  return level === 1 ? '1' : wanted
}
