import type { EngineError } from '../engine/errors.js'
import { isKeyword, nextToken } from '../sql/lexer.js'
import { settingsClause } from '../sql/settings-clause.js'
import { clientFacts } from './client-facts.js'
import type { Execution } from './execution.js'
import { hidden, hideLiterals, hideReason, hideValues } from './hidden.js'
import type { QueryLogEntry } from './query-log.js'

/** Parameters and settings with such names are treated as secrets. */
const isSecretParameter = (name: string) => name.startsWith('secret_')
const isSecretSetting = (name: string) => /password|secret|token|access_key/.test(name)

const cutToLength = 100_000

type Outcome = { startMs: number; endMs: number; failure: EngineError | undefined }

/**
 * The query log's entry for an execution, or undefined if its settings turn logging off. Never contains rows of an
 * INSERT. Hides secret parameters and settings, and all literals of a statement that contains secrets.
 */
export function logEntry(
  { user, queryId, request, facts }: Pick<Execution, 'user' | 'queryId' | 'request' | 'facts'>,
  { startMs, endMs, failure }: Outcome,
): QueryLogEntry | undefined {
  const { text, params, database, hasStarted, hasSecrets, figures, progress } = facts
  const settings = { ...user.settings, ...facts.settings, ...settingsClause(text) }
  const type = typeOf(hasStarted, failure)
  if (!isWanted(settings, type, endMs - startMs)) return undefined
  const secrets = [...secretsIn(params, isSecretParameter), ...secretsIn(settings, isSecretSetting)]
  // A statement that the engine could not parse may contain secrets too.
  const mayHoldSecrets = hasSecrets !== false
  const length = Math.min(Number(settings.log_queries_cut_to_length ?? cutToLength) || 0, cutToLength)
  return {
    type,
    startMs,
    endMs,
    ...figures,
    memory_usage: progress?.peak_memory ?? 0,
    current_database: database,
    query: cut(mayHoldSecrets ? hideLiterals(text) : text.trim(), length),
    query_kind: kindOf(text),
    exception_code: failure?.code ?? 0,
    exception: failure ? cut(reason(failure, mayHoldSecrets, hasStarted, secrets), cutToLength) : '',
    user: user.name,
    query_id: queryId,
    ...clientFacts(request),
    log_comment: settings.log_comment ?? '',
    Settings: masked(settings, isSecretSetting),
    query_parameters: masked(params, isSecretParameter),
  }
}

const types = ['QueryStart', 'QueryFinish', 'ExceptionBeforeStart', 'ExceptionWhileProcessing'] as const

function isWanted(settings: Record<string, string>, type: QueryLogEntry['type'], durationMs: number): boolean {
  if (settings.log_queries === '0' || settings.log_queries === 'false') return false
  if (durationMs < (Number(settings.log_queries_min_query_duration_ms) || 0)) return false
  const least = types.findIndex((name) => name === asType(settings.log_queries_min_type ?? ''))
  return types.indexOf(type) >= least
}

/** The type for a value of the setting, which writes QueryFinish as QUERY_FINISH. */
const asType = (name: string) =>
  name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase())

/**
 * Errors that a server finds before a query starts: in names, types, rights, settings and parameters. The engine does not
 * report when an error occurred, so this is decided by the code.
 */
const analysisCodes = new Set([
  16, 42, 43, 46, 47, 50, 57, 60, 62, 63, 73, 81, 82, 115, 164, 184, 215, 452, 456, 457, 497,
])

function typeOf(hasStarted: boolean, failure: EngineError | undefined): QueryLogEntry['type'] {
  if (!failure) return 'QueryFinish'
  return hasStarted && !analysisCodes.has(failure.code) ? 'ExceptionWhileProcessing' : 'ExceptionBeforeStart'
}

/**
 * The text of an error without secrets. The gateway's own errors, before a query starts, quote only where a syntax
 * error is.
 */
function reason({ message }: EngineError, mayHoldSecrets: boolean, hasStarted: boolean, secrets: string[]): string {
  if (mayHoldSecrets && hasStarted) return hideReason(message)
  const quoted = /(failed at position \d+) \([\s\S]*\): /
  return hideValues(mayHoldSecrets ? message.replace(quoted, `$1 (${hidden}): `) : message, secrets)
}

const secretsIn = (values: Record<string, string>, isSecret: (name: string) => boolean) =>
  Object.entries(values).flatMap(([name, value]) => (isSecret(name) ? [value] : []))

const masked = (values: Record<string, string>, isSecret: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isSecret(name) ? hidden : value]))

/** Never cuts within a surrogate pair, half of which the engine would not accept. */
const cut = (text: string, length: number) =>
  text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')

const kinds: Record<string, string> = {
  WITH: 'Select',
  FROM: 'Select',
  '(': 'Select',
  KILL: 'KillQuery',
  DESC: 'Describe',
  ATTACH: 'Create',
  DETACH: 'Drop',
  TRUNCATE: 'Drop',
}

/** A server's name for the kind of a statement, such as Select or Insert. Empty if the text begins with no keyword. */
function kindOf(text: string): string {
  const first = nextToken(text, 0)
  const word = first ? text.slice(first.start, first.end).toUpperCase() : ''
  if (isKeyword(text, first, 'WITH') && /\bINSERT\s+INTO\b/i.test(text)) return 'Insert'
  return kinds[word] ?? (/^[A-Z]{1,20}$/.test(word) ? `${word[0]}${word.slice(1).toLowerCase()}` : '')
}
