import { ClickHouseError } from '@clickhouse/client'
import { PlumblineError } from '../../process/errors.js'

// Server error codes after which the same request may succeed: too many queries, memory, timeouts, shutting down or
// starting, and killed by somebody.
// https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
const RETRYABLE_CODES = new Set(['159', '202', '209', '210', '236', '241', '242', '252', '319', '394', '425', '999'])

/** A request to ClickHouse failed. `retryable` when the server was away or overloaded, not when the request was wrong. */
export class QueryError extends PlumblineError {
  constructor(what: string, cause: unknown) {
    const answered = cause instanceof ClickHouseError
    super(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      retryable: answered ? RETRYABLE_CODES.has(cause.code) : true,
      cause,
    })
  }
}
