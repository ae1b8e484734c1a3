import { ClickHouseError } from '@clickhouse/client'
import { PlumblineError } from '../../process/errors.js'

// Server error codes after which the same request may succeed: too many queries, out of memory, timeout, server
// shutting down or starting, query killed.
// https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
const RETRYABLE_CODES = new Set(['159', '202', '209', '210', '236', '241', '242', '252', '319', '394', '425', '999'])

/**
 * A request to ClickHouse failed. `retryable` if the server was unreachable or overloaded, not if the request was
 * wrong.
 */
export class QueryError extends PlumblineError {
  constructor(what: string, cause: unknown) {
    const answered = cause instanceof ClickHouseError
    super(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      retryable: answered ? RETRYABLE_CODES.has(cause.code) : true,
      cause,
    })
  }
}
