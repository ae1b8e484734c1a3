import type { Classification } from '../engine/addon.js'
import { EngineError, notImplemented, syntaxError } from '../engine/errors.js'
import { isKeyword, nextToken } from '../sql/lexer.js'

/** The class of a text that the engine cannot parse. Running it gives the parser's error. */
export const unparsed = 4

/**
 * Throws EngineError unless the engine's own parser sees at most one statement, of a class that the gateway expects: a
 * file clause that the gateway overlooked would make a SELECT a control statement. Also throws if a GET would write.
 */
export function assertRunnable(
  sql: string,
  { statementCount, queryClass }: Classification,
  { expected, isGet }: { expected: readonly number[] | undefined; isGet: boolean },
): void {
  if (statementCount > 1) throw syntaxError('Syntax error (Multi-statements are not allowed)')
  if (expected?.includes(queryClass) === false) throw notImplemented('This statement is not supported over HTTP')
  // The connection of a session cannot be made read-only for a single request, so this is checked here.
  const staysInSession = ['SET', 'USE', 'KILL'].some((verb) => isKeyword(sql, nextToken(sql, 0), verb))
  if (isGet && (queryClass === 1 || (queryClass === 3 && !staysInSession))) throw readOnly()
}

export const readOnly = (): EngineError =>
  EngineError.of(
    164,
    'READONLY',
    'Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries',
  )

/** Refuses Native for clients that send a protocol version: they expect fields that the engine does not write. */
export function assertFormat(format: string, protocolVersion: string | null): void {
  if (format.toLowerCase() === 'native' && Number(protocolVersion) > 0) {
    throw notImplemented('The format Native is not supported with a client_protocol_version')
  }
}

/** Whether a statement is SYSTEM FLUSH LOGS. */
export const isFlushOfLogs = (sql: string): boolean =>
  isKeyword(sql, nextToken(sql, 0), 'SYSTEM') && /^SYSTEM\s+FLUSH\s+LOGS\b/i.test(sql.slice(nextToken(sql, 0)?.start))
