import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Coverage } from '../../clickhouse/chain/coverage.js'
import { EXPORT_FORMATS, type ExportOptions } from '../../clickhouse/store/export.js'
import { PlumblineError } from '../../process/errors.js'
import { isoSeconds } from '../../process/instants.js'
import { METHODOLOGY_VERSION } from '../../process/methodology.js'
import { nextCursor } from './cursor.js'
import { querySignal } from './query-signal.js'
import type { RangeParameters } from './range.js'

/** Most concurrent exports: each holds a connection to ClickHouse for as long as its client reads. */
const SLOTS = 4

/** Too many exports are running. */
class ExportsBusyError extends PlumblineError {
  constructor() {
    super(`${SLOTS} exports are being read already`, { retryable: true })
  }
}

export type ExportSlots = {
  /** Takes a slot; the returned function releases it, once. Throws a retryable error if all are taken. */
  take: () => () => void
}

/** Keeps slow readers of exports from taking the connections that all other answers need. */
export function createExportSlots(): ExportSlots {
  let free = SLOTS
  return {
    take: () => {
      if (free === 0) throw new ExportsBusyError()
      free -= 1
      let isTaken = true
      return () => {
        if (isTaken) free += 1
        isTaken = false
      }
    },
  }
}

/** An export that is not read completely by then is aborted. */
const EXPORT_TIMEOUT_MS = 15 * 60_000

const NEXT_CURSOR_HEADER = 'x-next-cursor'

/** The coverage of an export as JSON, in every format. Only the first missing ranges: a client may refuse long headers. */
const COVERAGE_HEADER = 'x-coverage'
const MOST_IN_HEADER = 20

/** A page of rows, written by the engine. */
export type ExportedRows = {
  /** Without its extension. */
  filename: string
  /** The fields besides the rows in the format json. */
  head: Record<string, unknown>
  /** The key after which the next page begins; null at the end. */
  next: unknown
  rows: (options: ExportOptions) => Promise<Readable>
}

/** For a route's `response`: a page of rows, in any format. */
export function exportResponse<Head extends z.ZodRawShape, Row extends z.ZodType>(head: Head, row: Row) {
  const page = z.object({
    ...head,
    data: z.array(row).meta({ description: 'The rows, oldest first' }),
    next_cursor: z.string().nullable().meta({ description: 'The `cursor` of the next page; null at the end' }),
  })
  const text = { schema: z.string() }
  const binary = { schema: z.string().meta({ format: 'binary' }) }
  return {
    description: `The rows, oldest first. Where there are more, the header ${NEXT_CURSOR_HEADER} has the cursor. The header ${COVERAGE_HEADER} has the coverage of the whole range as JSON, with at most ${MOST_IN_HEADER} missing ranges.`,
    content: {
      'application/json': { schema: page },
      'application/x-ndjson': text,
      'text/csv': text,
      [EXPORT_FORMATS.parquet.mediaType]: binary,
      [EXPORT_FORMATS.arrow.mediaType]: binary,
    },
  }
}

/** The rows, a JSON array, as the field `data` of an object. */
async function* envelope(rows: Readable, head: Record<string, unknown>, next_cursor: string | null) {
  yield `${JSON.stringify({ ...head, next_cursor }).slice(0, -1)},"data":`
  yield* rows
  yield '}'
}

/** Where rows of CSV come from, in a line that readers can skip as a comment. */
function provenanceOf(app: FastifyInstance, { url }: FastifyRequest, coverage: Coverage | undefined): string {
  const measured = coverage && `; coverage ${coverage.status}, ${coverage.missing_count} ranges missing`
  return `# Plumbline ${url}${measured ?? ''}; methodology ${METHODOLOGY_VERSION}; answered ${isoSeconds(app.now())}\n`
}

/** The rows after a first line. */
async function* headed(line: string, rows: Readable) {
  yield line
  yield* rows
}

/**
 * Streams rows as the engine writes them, no faster than the client reads. Until the first bytes it fails like any
 * other route; afterwards the connection is cut before the answer ends. The query ends with the connection. A HEAD request
 * reads no rows.
 */
export async function sendExport(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    query,
    filename,
    head,
    next,
    rows,
    coverage,
  }: ExportedRows & { query: Pick<RangeParameters, 'format' | 'null' | 'provenance'>; coverage?: Coverage | undefined },
): Promise<FastifyReply> {
  const { format, null: csvNull, provenance } = query
  const readRows = async (): Promise<Readable> => {
    const release = app.exportSlots.take()
    const signal = querySignal(request, EXPORT_TIMEOUT_MS)
    const stream = await rows({ format, csvNull, signal }).catch((error) => {
      release()
      throw error
    })
    return stream.once('close', release)
  }
  const isHead = request.method === 'HEAD'
  const stream = isHead ? Readable.from([]) : await readRows()
  const key = next === null ? null : Buffer.from(JSON.stringify(next)).toString('base64url')
  const next_cursor = nextCursor(request, key)
  const { mediaType, extension } = EXPORT_FORMATS[format]
  if (coverage)
    reply.header(COVERAGE_HEADER, JSON.stringify({ ...coverage, missing: coverage.missing.slice(0, MOST_IN_HEADER) }))
  if (next_cursor !== null) reply.header(NEXT_CURSOR_HEADER, next_cursor)
  if (format !== 'json') reply.header('content-disposition', `attachment; filename="${filename}.${extension}"`)
  // The rows of a range of bytes would have to be computed with all rows before them.
  reply.type(mediaType).header('accept-ranges', 'none')
  if (isHead) return reply.send(stream)
  if (format === 'json')
    return reply.send(Readable.from(envelope(stream, { ...head, ...(coverage && { coverage }) }, next_cursor)))
  if (format !== 'csv' || provenance === 'false') return reply.send(stream)
  return reply.send(Readable.from(headed(provenanceOf(app, request, coverage), stream)))
}
