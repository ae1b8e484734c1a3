import { ClickHouseError } from '@clickhouse/client'
import { PlumblineError } from '../../process/errors.js'

/**
 * Codes of errors that the same request always meets again, by what has to change first. All others pass, or may: a server
 * has several hundred reasons to be busy, broken or cut off, and new ones with each version. A repeated insert has the
 * token of the first, and a statement without a token is repeated together with the deletion before it, so that one whose
 * result is unknown is safe to repeat as well.
 * https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
 */
const FINAL: Readonly<Record<string, readonly number[]>> = {
  // UNSUPPORTED_METHOD, UNSUPPORTED_PARAMETER, TOO_MANY_ARGUMENTS_FOR_FUNCTION, TOO_FEW_ARGUMENTS_FOR_FUNCTION, BAD_ARGUMENTS,
  // UNKNOWN_ELEMENT_IN_AST, NUMBER_OF_ARGUMENTS_DOESNT_MATCH, ILLEGAL_TYPE_OF_ARGUMENT, ILLEGAL_COLUMN, UNKNOWN_FUNCTION,
  // NOT_IMPLEMENTED, UNKNOWN_TYPE, EMPTY_LIST_OF_COLUMNS_QUERIED, COLUMN_QUERIED_MORE_THAN_ONCE, TYPE_MISMATCH,
  // STORAGE_REQUIRES_PARAMETER, UNKNOWN_STORAGE, SYNTAX_ERROR, UNKNOWN_AGGREGATE_FUNCTION, UNKNOWN_FORMAT,
  // UNKNOWN_TYPE_OF_QUERY, INCORRECT_QUERY, UNKNOWN_SETTING, INCOMPATIBLE_COLUMNS, INCORRECT_RESULT_OF_SCALAR_SUBQUERY,
  // AGGREGATE_FUNCTION_DOESNT_ALLOW_PARAMETERS, PARAMETERS_TO_AGGREGATE_FUNCTIONS_MUST_BE_LITERALS
  'the statement': [
    1, 2, 34, 35, 36, 37, 42, 43, 44, 46, 48, 50, 51, 52, 53, 55, 56, 62, 63, 73, 78, 80, 115, 122, 125, 133, 134,
    // CYCLIC_ALIASES, MULTIPLE_EXPRESSIONS_FOR_ALIAS, ILLEGAL_FINAL, ILLEGAL_PREWHERE, UNEXPECTED_EXPRESSION,
    // ILLEGAL_AGGREGATION, ALIAS_REQUIRED, AMBIGUOUS_IDENTIFIER, EMPTY_QUERY, NOT_AN_AGGREGATE,
    // UNION_ALL_RESULT_STRUCTURES_MISMATCH, FUNCTION_CANNOT_HAVE_PARAMETERS, AMBIGUOUS_COLUMN_NAME,
    // INDEX_OF_POSITIONAL_ARGUMENT_IS_OUT_OF_RANGE, ILLEGAL_SYNTAX_FOR_DATA_TYPE, DATA_TYPE_CANNOT_HAVE_ARGUMENTS,
    // NO_COMMON_TYPE, FUNCTION_THROW_IF_VALUE_IS_NON_ZERO, QUERY_IS_NOT_SUPPORTED_IN_MATERIALIZED_VIEW,
    // INVALID_JOIN_ON_EXPRESSION, EXPECTED_ALL_OR_ANY, UNKNOWN_JOIN, INVALID_LIMIT_EXPRESSION, BAD_TTL_EXPRESSION,
    // UNKNOWN_QUERY_PARAMETER, BAD_QUERY_PARAMETER, INVALID_SETTING_VALUE, INVALID_WITH_FILL_EXPRESSION,
    // ALTER_OF_COLUMN_IS_FORBIDDEN, DATA_TYPE_CANNOT_BE_USED_IN_KEY, QUERY_NOT_ALLOWED, INVALID_IDENTIFIER, DEPRECATED_FUNCTION
    174, 179, 181, 182, 183, 184, 206, 207, 211, 215, 258, 309, 352, 353, 377, 378, 386, 395, 397, 403, 417, 418, 440,
    450, 456, 457, 471, 475, 524, 549, 620, 703, 721,
  ],
  // THERE_IS_NO_COLUMN, NOT_FOUND_COLUMN_IN_BLOCK, DUPLICATE_COLUMN, NO_SUCH_COLUMN_IN_TABLE, UNKNOWN_IDENTIFIER,
  // TABLE_ALREADY_EXISTS, UNKNOWN_TABLE, UNKNOWN_DATABASE, DATABASE_ALREADY_EXISTS, UNKNOWN_CODEC, UNKNOWN_POLICY,
  // UNKNOWN_DISK, NO_SUCH_PROJECTION_IN_TABLE
  'the schema': [8, 10, 15, 16, 47, 57, 60, 81, 82, 432, 478, 479, 582],
  // CANNOT_PARSE_TEXT, INCORRECT_NUMBER_OF_COLUMNS, SIZE_OF_FIXED_STRING_DOESNT_MATCH, NUMBER_OF_COLUMNS_DOESNT_MATCH,
  // CANNOT_PARSE_ESCAPE_SEQUENCE, CANNOT_PARSE_QUOTED_STRING, CANNOT_PARSE_INPUT_ASSERTION_FAILED, CANNOT_PARSE_DATE,
  // CANNOT_PARSE_DATETIME, ARGUMENT_OUT_OF_BOUND, CANNOT_CONVERT_TYPE, CANNOT_PARSE_NUMBER, INCORRECT_DATA,
  // CANNOT_READ_ARRAY_FROM_TEXT, TOO_LARGE_STRING_SIZE, ILLEGAL_DIVISION, VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE,
  // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN, CANNOT_PARSE_UUID, DECIMAL_OVERFLOW, CANNOT_PARSE_BOOL, VIOLATED_CONSTRAINT,
  // UNKNOWN_ELEMENT_OF_ENUM
  'the values': [6, 7, 19, 20, 25, 26, 27, 38, 41, 69, 70, 72, 117, 130, 131, 153, 321, 349, 376, 407, 467, 469, 691],
  // TOO_MANY_ROWS, TOO_MANY_COLUMNS, TOO_DEEP_SUBQUERIES, TOO_DEEP_AST, TOO_BIG_AST, SET_SIZE_LIMIT_EXCEEDED,
  // QUERY_IS_TOO_LARGE, TOO_MANY_BYTES, TOO_MANY_ROWS_OR_BYTES, TOO_MANY_PARTITIONS. Limits of time and memory depend on the
  // load, and those of a quota on the time: they are not here.
  'a limit of the profile': [158, 161, 162, 167, 168, 191, 229, 307, 396, 565],
  // READONLY, THERE_IS_NO_PROFILE, UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, IP_ADDRESS_NOT_ALLOWED, UNKNOWN_QUOTA,
  // CLIENT_HAS_CONNECTED_TO_WRONG_PORT, DATABASE_ACCESS_DENIED, SUPPORT_IS_DISABLED, QUERY_IS_PROHIBITED,
  // FUNCTION_NOT_ALLOWED, SETTING_CONSTRAINT_VIOLATION, READONLY_SETTING, ACCESS_STORAGE_READONLY, ACCESS_DENIED,
  // UNKNOWN_ROLE, SET_NON_GRANTED_ROLE, AUTHENTICATION_FAILED, USER_EXPIRED, REQUIRED_SECOND_FACTOR,
  // TABLE_IS_PERMANENTLY_READ_ONLY
  'the user, or what it may do': [
    164, 180, 192, 193, 194, 195, 199, 217, 291, 344, 392, 446, 452, 472, 495, 497, 511, 512, 516, 720, 767, 774,
  ],
}
const FINAL_CODES = new Set(Object.values(FINAL).flat().map(String))

/** A server that ran out of disk may have written a part with empty files; it notices when it starts. */
const DAMAGED =
  'a part of a table is damaged, as after a full disk: make room, restart ClickHouse, which puts such parts aside, then run npm run verify'

/** What the operator can do about an error, by its code. */
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
  164: 'the user may only read: check CLICKHOUSE_USER; a profile with readonly = 1 also forbids the settings of each request, use 2',
  497: 'grant the user of CLICKHOUSE_USER what the error names',
  // CANNOT_READ_ALL_DATA, CHECKSUM_DOESNT_MATCH, CORRUPTED_DATA
  33: DAMAGED,
  40: DAMAGED,
  246: DAMAGED,
}

/**
 * A request to ClickHouse failed. Not `retryable` only if the server says that the request itself, or its user, is at fault:
 * what else answers, such as a proxy, or cuts the connection, may be gone the next time. The message ends with what the
 * operator can do, if that is known.
 */
export class QueryError extends PlumblineError {
  constructor(what: string, cause: unknown) {
    const code = cause instanceof ClickHouseError ? cause.code : null
    const remedy = code === null ? undefined : REMEDIES[code]
    const text = (cause instanceof Error ? cause.message : String(cause)) || 'its answer is empty'
    super(`${what}: ${text}${remedy === undefined ? '' : `; ${remedy}`}`, {
      retryable: code === null || !FINAL_CODES.has(code),
      cause,
    })
  }
}
