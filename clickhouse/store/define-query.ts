import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import type { Entries } from '../../process/memory.js'
import { observed } from './observe.js'
import { QueryError } from './query-error.js'
import { checkServer, prepareRead } from './replicas.js'

type ParamsSchema = z.ZodType<Record<string, unknown>>

type Definition<Params extends ParamsSchema | undefined, Row extends z.ZodType> = {
  name: string
  /** Omitted if the SQL has no parameters. */
  params?: Params
  row: Row
  sql: string
}

/**
 * Cancels a query when nobody waits for its result any more. May carry the W3C `traceparent` of the trace that the
 * query belongs to, which the server then continues.
 */
export type QuerySignal = AbortSignal & { readonly traceparent?: string }

/**
 * A mark that changes whenever any row of a table does, and the time of its newest row in unix seconds, or a later one. A
 * table without a state is empty.
 */
export type TableStates = ReadonlyMap<string, { mark: string; newest: number }>

/** What the reads of an answer may keep; see `keptWhile`. */
export type Keeping = {
  /** null if they are not known: nothing is kept then. */
  states: () => Promise<TableStates | null>
  results: Pick<Entries<string, { mark: string; result: unknown }>, 'get' | 'set'>
}

export type ReadOptions = {
  signal?: QuerySignal
  /** Reads what the replica has by now, whatever the client's reads must see: for figures of the moment, not for decisions. */
  mayLag?: true
  kept?: Keeping
}

/** The function that callers get; without parameters if its SQL has none. */
type Read<Params extends ParamsSchema | undefined, Result> = Params extends ParamsSchema
  ? (clickhouse: ClickHouseClient, params: z.input<Params>, options?: ReadOptions) => Promise<Result>
  : (clickhouse: ClickHouseClient, options?: ReadOptions) => Promise<Result>

/** ClickHouse returned rows that do not match the schema: the SQL and the schema of a query disagree. */
class RowShapeError extends PlumblineError {
  constructor(query: string, cause: z.ZodError) {
    super(`${query}: rows do not match the schema: ${z.prettifyError(cause)}`, { retryable: false, cause })
  }
}

/**
 * A read of any number of rows as a function of a client and its parameters. Parameters and rows are checked against
 * the schemas; the query's name becomes its `log_comment`. The function rejects with QueryError if ClickHouse fails or
 * is unreachable.
 */
export function defineQuery<Row extends z.ZodType, Params extends ParamsSchema | undefined = undefined>(
  definition: Definition<Params, Row>,
): Read<Params, z.output<Row>[]> {
  return define(definition, z.array(definition.row))
}

/**
 * The same for SQL that always returns exactly one row, such as an aggregate over a whole table. Resolves to that row.
 */
export function defineRow<Row extends z.ZodType, Params extends ParamsSchema | undefined = undefined>(
  definition: Definition<Params, Row>,
): Read<Params, z.output<Row>> {
  return define(
    definition,
    z.tuple([definition.row]).transform(([row]) => row as z.output<Row>),
  )
}

/**
 * The same for many rows of numbers, as arrays by column: they are read and checked in a fraction of the time. `columns`
 * has the schema of a value of each.
 */
export function defineColumns<
  Columns extends Record<string, z.ZodType>,
  Params extends ParamsSchema | undefined = undefined,
>({
  columns,
  ...definition
}: Omit<Definition<Params, z.ZodType>, 'row'> & { columns: Columns }): Read<
  Params,
  { [Name in keyof Columns]: z.output<Columns[Name]>[] }
> {
  // A result without rows has no columns either.
  const shape = Object.fromEntries(Object.entries(columns).map(([name, value]) => [name, z.array(value).default([])]))
  const haveSameLength = (data: object): boolean =>
    new Set(Object.values(data as Record<string, unknown[]>).map(({ length }) => length)).size <= 1
  const Data = z
    .object({ data: z.object(shape).refine(haveSameLength, 'columns have different lengths') })
    .transform(({ data }) => data)
  return define(
    definition,
    Data as z.ZodType as z.ZodType<{ [Name in keyof Columns]: z.output<Columns[Name]>[] }>,
    'JSONColumnsWithMetadata',
  )
}

/** The same for SQL that returns at most one row. Resolves to that row, or null. */
export function defineOptionalRow<Row extends z.ZodType, Params extends ParamsSchema | undefined = undefined>(
  definition: Definition<Params, Row>,
): Read<Params, z.output<Row> | null> {
  return define(
    definition,
    z.array(definition.row).transform(([row]) => (row === undefined ? null : row)),
  )
}

/** The schema of a row with a single column. Parses to the column's value instead of an object. */
export const onlyColumn = <Value extends z.ZodType>(name: string, value: Value) =>
  z.object({ [name]: value }).transform((row) => row[name] as z.output<Value>)

function define<Params extends ParamsSchema | undefined, Result>(
  { name, params, sql }: Omit<Definition<Params, z.ZodType>, 'row'>,
  Rows: z.ZodType<Result>,
  format: 'JSONEachRow' | 'JSONColumnsWithMetadata' = 'JSONEachRow',
): Read<Params, Result> {
  const read = async (
    clickhouse: ClickHouseClient,
    query_params: Record<string, unknown>,
    { signal, mayLag }: ReadOptions = {},
  ): Promise<Result> => {
    const begin = async (): Promise<unknown> => {
      const { query, server } = await prepareRead(clickhouse, sql, { signal, ...(mayLag && { mayLag }) })
      const result = await clickhouse.query({
        query,
        query_params,
        format,
        clickhouse_settings: { log_comment: name },
        ...(signal && { abort_signal: signal }),
        ...(signal?.traceparent && { http_headers: { traceparent: signal.traceparent } }),
      })
      checkServer(server, result.response_headers)
      return result.json()
    }
    const rows = await observed(clickhouse, name, begin, signal).catch((cause) => {
      throw cause instanceof PlumblineError ? cause : new QueryError(name, cause)
    })
    const parsed = Rows.safeParse(rows)
    if (!parsed.success) throw new RowShapeError(name, parsed.error)
    return parsed.data
  }
  const withParams = async (clickhouse: ClickHouseClient, given: unknown, options?: ReadOptions) =>
    read(clickhouse, params?.parse(given) ?? {}, options)
  const without = (clickhouse: ClickHouseClient, options?: ReadOptions) => read(clickhouse, {}, options)
  return (params ? withParams : without) as Read<Params, Result>
}
