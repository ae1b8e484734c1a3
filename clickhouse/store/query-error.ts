import { ClickHouseError } from '@clickhouse/client'
import { PlumblineError } from '../../process/errors.js'

/**
 * Codes of errors after which the same request may succeed, by reason. A repeated insert has the token of the first, so
 * that one whose result is unknown is safe to repeat as well.
 * https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
 */
const RETRYABLE: Readonly<Record<string, readonly number[]>> = {
  // TIMEOUT_EXCEEDED, CANNOT_ALLOCATE_MEMORY, QUOTA_EXPIRED, TOO_MANY_SIMULTANEOUS_QUERIES, NO_FREE_CONNECTION,
  // MEMORY_LIMIT_EXCEEDED, TOO_MANY_PARTS, RECEIVED_ERROR_TOO_MANY_REQUESTS, CANNOT_SCHEDULE_TASK
  'too much at once': [159, 173, 201, 202, 203, 241, 252, 364, 439],
  // CANNOT_READ_FROM_SOCKET, CANNOT_WRITE_TO_SOCKET, DNS_ERROR, SOCKET_TIMEOUT, NETWORK_ERROR, ALL_CONNECTION_TRIES_FAILED
  network: [95, 96, 198, 209, 210, 279],
  // ABORTED, UNFINISHED, QUERY_WAS_CANCELLED
  'the server is stopping, or the query was cancelled': [236, 341, 394],
  // NOT_ENOUGH_SPACE, SYSTEM_ERROR: until somebody makes room
  disk: [243, 425],
  // NO_ZOOKEEPER, TABLE_IS_READ_ONLY, UNEXPECTED_ZOOKEEPER_ERROR, NO_ACTIVE_REPLICAS, TOO_MANY_RETRIES_TO_FETCH_PARTS,
  // NO_AVAILABLE_REPLICA, TOO_FEW_LIVE_REPLICAS, UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE, REPLICA_IS_NOT_IN_QUORUM,
  // UNKNOWN_STATUS_OF_INSERT, ALL_REPLICAS_ARE_STALE, REPLICA_STATUS_CHANGED, KEEPER_EXCEPTION
  'Keeper or a replica is away or behind': [225, 242, 244, 254, 255, 265, 285, 286, 289, 319, 369, 416, 999],
}
const RETRYABLE_CODES = new Set(Object.values(RETRYABLE).flat().map(String))

/** A server that ran out of disk may have written a part with empty files; it notices when it starts. */
const DAMAGED =
  'a part of a table is damaged, as after a full disk: make room, restart ClickHouse, which puts such parts aside, then run npm run verify'

/** What the operator can do about an error that stays, by its code. */
const REMEDIES: Readonly<Record<string, string>> = {
  // UNKNOWN_TABLE, UNKNOWN_IDENTIFIER, NO_SUCH_COLUMN_IN_TABLE
  60: 'the schema is older than this version, or of another database: run npm run migrate, and check CLICKHOUSE_DATABASE',
  47: 'the schema is older than this version: run npm run migrate',
  16: 'the schema is older than this version: run npm run migrate',
  // UNKNOWN_DATABASE
  81: 'check CLICKHOUSE_DATABASE, or create it by npm run migrate',
  // AUTHENTICATION_FAILED
  516: 'check CLICKHOUSE_USER and CLICKHOUSE_PASSWORD',
  // READONLY, ACCESS_DENIED
  164: 'the user may only read: check CLICKHOUSE_USER, and its profile',
  497: 'grant the user of CLICKHOUSE_USER what the error names',
  // CANNOT_READ_ALL_DATA, CHECKSUM_DOESNT_MATCH, CORRUPTED_DATA
  33: DAMAGED,
  40: DAMAGED,
  246: DAMAGED,
}

/**
 * A request to ClickHouse failed. `retryable` if the server was unreachable, overloaded, or without its replicas, not if
 * the request was wrong; then the message ends with what the operator can do, if that is known.
 */
export class QueryError extends PlumblineError {
  constructor(what: string, cause: unknown) {
    const code = cause instanceof ClickHouseError ? cause.code : null
    const remedy = code === null ? undefined : REMEDIES[code]
    const text = cause instanceof Error ? cause.message : String(cause)
    super(`${what}: ${text}${remedy === undefined ? '' : `; ${remedy}`}`, {
      retryable: code === null || RETRYABLE_CODES.has(code),
      cause,
    })
  }
}
