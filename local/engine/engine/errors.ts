/** An error with ClickHouse's code and name. `message` is the text that clients receive, without the version. */
export class EngineError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }

  /** An error of the gateway itself, in ClickHouse's format. */
  static of(code: number, name: string, text: string): EngineError {
    return new EngineError(code, `Code: ${code}. DB::Exception: ${text}. (${name})`)
  }

  /** Parses the code from an error of the addon. Errors without a code become STD_EXCEPTION (1001). */
  static from(error: unknown): EngineError {
    if (error instanceof EngineError) return error
    if ((error as NodeJS.ErrnoException)?.code === 'ENOSPC') return noSpace()
    const text = innermost(
      (error instanceof Error ? error.message : String(error)).replace(/^Query failed: /, '').trim(),
    )
    const code = /^Code: (\d+)\./.exec(text)?.[1]
    if (code !== undefined) return new EngineError(Number(code), text)
    return EngineError.of(1001, 'STD_EXCEPTION', text)
  }
}

/** The engine nests an exception that crossed threads in itself; a server shows it once. */
function innermost(text: string): string {
  const wrapped = /^Code: (\d+)\. DB::Exception: (Code: \1\. [\s\S]*) \(version [^)]*\)\. \([A-Z0-9_]+\)$/.exec(text)
  return wrapped?.[2] === undefined ? text : innermost(wrapped[2])
}

/** The error without clauses that the gateway had added to the statement. */
export function withoutClause(error: unknown, ...clauses: string[]): EngineError {
  const { code, message } = EngineError.from(error)
  return new EngineError(
    code,
    clauses.reduce((text, clause) => text.replaceAll(clause.trim(), ''), message),
  )
}

/** The error with the client's user name instead of `default`, the only user of the engine. */
export function forUser({ code, message }: EngineError, name: string): EngineError {
  return new EngineError(
    code,
    message.replace(/^(Code: \d+\. DB::Exception: )default: /, (_, head) => `${head}${name}: `),
  )
}

const noSpace = () => EngineError.of(243, 'NOT_ENOUGH_SPACE', 'Cannot store the rows of the INSERT, not enough space')
export const badRequest = (text: string) => EngineError.of(36, 'BAD_ARGUMENTS', text)
export const syntaxError = (text: string) => EngineError.of(62, 'SYNTAX_ERROR', text)
export const ACCESS_DENIED = 497
export const accessDenied = (text: string) => EngineError.of(ACCESS_DENIED, 'ACCESS_DENIED', text)
export const unknownSetting = (name: string) =>
  EngineError.of(115, 'UNKNOWN_SETTING', `Setting ${name} is neither a builtin setting nor a setting of the user`)
export const cancelled = () => EngineError.of(394, 'QUERY_WAS_CANCELLED', 'Query was cancelled')
export const notImplemented = (text: string) => EngineError.of(48, 'NOT_IMPLEMENTED', text)

const badRequestCodes = new Set([
  6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 675, 676,
])
const notFoundCodes = new Set([46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511])

/** ClickHouse's HTTP status for an error code (src/Server/HTTP/exceptionCodeToHTTPStatus.cpp). */
export function httpStatus(code: number): number {
  if (code === 194) return 401
  if (code === 192 || code === 193 || code === 516 || code === 512 || code === ACCESS_DENIED) return 403
  if (badRequestCodes.has(code)) return 400
  if (notFoundCodes.has(code)) return 404
  if (code === 229) return 413
  if (code === 48) return 501
  if (code === 209 || code === 76 || code === 439) return 503
  if (code === 381) return 411
  if (code === 159) return 408
  if (code === 779) return 415
  return 500
}
