import type { EngineError } from '../engine/errors.js'
import { nextToken } from '../sql/lexer.js'
import type { Execution } from './execution.js'
import type { QueryLogEntry } from './query-log.js'

const hidden = '[HIDDEN]'
/** A parameter named like this is a secret; so is a setting that sounds like one. */
const isSecretParameter = (name: string) => name.startsWith('secret_')
const isSecretSetting = (name: string) => /password|secret|token|access_key/.test(name)

const cutToLength = 100_000

/**
 * What the query log says of an execution, or undefined when its settings say that it is not to be logged. Rows of an
 * INSERT are never in it; statements, parameters and settings that hold secrets are hidden.
 */
export function logEntry(
  execution: Execution,
  outcome: { startMs: number; endMs: number; failure: EngineError | undefined },
): QueryLogEntry | undefined {
  const { user, queryId, request } = execution
  const { asked, database, hasStarted, hasSecrets, result, progress } = execution.facts
  const { startMs, endMs, failure } = outcome
  const settings = asked?.settings ?? {}
  if (settings.log_queries === '0' || settings.log_queries === 'false') return undefined
  if (endMs - startMs < Number(settings.log_queries_min_query_duration_ms ?? 0)) return undefined
  const text = asked?.text.trim() ?? ''
  const kind = kindOf(text)
  const isInsert = asked?.statement.kind === 'insert'
  const [rows, bytes] = [result?.rowsRead ?? 0, result?.bytesRead ?? 0]
  return {
    type: failure ? (hasStarted ? 'ExceptionWhileProcessing' : 'ExceptionBeforeStart') : 'QueryFinish',
    startMs,
    endMs,
    read_rows: Math.max(rows, progress?.read_rows ?? 0),
    read_bytes: Math.max(bytes, progress?.read_bytes ?? 0),
    written_rows: isInsert ? rows : (progress?.written_rows ?? 0),
    written_bytes: isInsert ? bytes : (progress?.written_bytes ?? 0),
    result_rows: rows,
    result_bytes: bytes,
    memory_usage: progress?.peak_memory ?? 0,
    current_database: database,
    query: hasSecrets ? `${kind.toUpperCase()} ${hidden}` : text.slice(0, cutToLength),
    query_kind: kind,
    exception_code: failure?.code ?? 0,
    // A text with secrets is quoted by its error.
    exception: failure ? (hasSecrets ? hidden : failure.message) : '',
    user: user.name,
    query_id: queryId,
    address: '::ffff:127.0.0.1',
    http_method: request.method === 'POST' ? 2 : 1,
    http_user_agent: String(request.headers['user-agent'] ?? ''),
    log_comment: settings.log_comment ?? '',
    Settings: masked(settings, isSecretSetting),
    query_parameters: masked(asked?.params ?? {}, isSecretParameter),
  }
}

const masked = (values: Record<string, string>, isSecret: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isSecret(name) ? hidden : value]))

/** The first word, written as a server writes kinds: Select, Insert, Create. */
function kindOf(text: string): string {
  const first = nextToken(text, 0)
  const word = first ? text.slice(first.start, first.end).toLowerCase() : ''
  if (word === 'with' || word === 'from' || word === '(') return 'Select'
  return /^[a-z]+$/.test(word) ? `${word[0]?.toUpperCase()}${word.slice(1)}` : ''
}
