import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { observed } from './observe.js'
import { QueryError } from './query-error.js'

type Definition<Params extends z.ZodType<Record<string, unknown>>, Row extends z.ZodType> = {
  name: string
  params: Params
  row: Row
  sql: string
}

/**
 * Ends a query when nobody waits for its answer any more. It may have the trace that the query is a part of, as W3C's
 * `traceparent`, which the server then continues.
 */
export type QuerySignal = AbortSignal & { readonly traceparent?: string }

/** ClickHouse answered with a row that does not have the promised shape: the query and its schema have drifted apart. */
class RowShapeError extends PlumblineError {
  constructor(query: string, cause: z.ZodError) {
    super(`${query}: row is not as declared: ${z.prettifyError(cause)}`, { retryable: false, cause })
  }
}

/**
 * A read as a function of a client and its parameters. Parameters and rows are checked against the schemas; the
 * query's name becomes its `log_comment`. The function rejects with QueryError when ClickHouse fails or is away.
 */
export function defineQuery<Params extends z.ZodType<Record<string, unknown>>, Row extends z.ZodType>(
  definition: Definition<Params, Row>,
): (
  clickhouse: ClickHouseClient,
  params: z.input<Params>,
  options?: { signal?: QuerySignal },
) => Promise<z.output<Row>[]> {
  const { name, params: Params, sql } = definition
  const Rows = z.array(definition.row)
  return async (clickhouse, params, options = {}) => {
    const query_params = Params.parse(params)
    const { signal } = options
    const read = async (): Promise<unknown> => {
      const result = await clickhouse.query({
        query: sql,
        query_params,
        format: 'JSONEachRow',
        clickhouse_settings: { log_comment: name },
        ...(signal && { abort_signal: signal }),
        ...(signal?.traceparent && { http_headers: { traceparent: signal.traceparent } }),
      })
      return result.json()
    }
    const rows = await observed(clickhouse, name, read, signal).catch((cause) => {
      throw new QueryError(name, cause)
    })
    const parsed = Rows.safeParse(rows)
    if (!parsed.success) throw new RowShapeError(name, parsed.error)
    return parsed.data
  }
}
