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
import { needsWhole, type OpenExport, sendWhole } from './whole-exports.js'

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
    description: `The rows, oldest first. Where there are more, the header ${NEXT_CURSOR_HEADER} has the cursor. The header ${COVERAGE_HEADER} has the coverage of the whole range as JSON, with at most ${MOST_IN_HEADER} missing ranges. A request with \`Range\` gets one range of bytes as 206, with \`ETag\` for \`If-Range\`; of an answer above 64 MiB, or one that was paid for, the whole.`,
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

/** An export and how it is written. */
type AskedExport = ExportedRows & {
  query: Pick<RangeParameters, 'format' | 'null' | 'provenance'>
  coverage?: Coverage | undefined
}

/** Begins to read an export. Its rows end with the connection, or when nobody waits for them any more. */
async function openExport(
  app: FastifyInstance,
  request: FastifyRequest,
  { query, filename, head, next, rows, coverage }: AskedExport,
): Promise<OpenExport> {
  const { format, null: csvNull, provenance } = query
  const release = app.exportSlots.take()
  const signal = querySignal(request, EXPORT_TIMEOUT_MS)
  const stream = await rows({ format, csvNull, signal }).catch((error) => {
    release()
    throw error
  })
  stream.once('close', release)
  const key = next === null ? null : Buffer.from(JSON.stringify(next)).toString('base64url')
  const next_cursor = nextCursor(request, key)
  const { mediaType, extension } = EXPORT_FORMATS[format]
  const shown = coverage && { ...coverage, missing: coverage.missing.slice(0, MOST_IN_HEADER) }
  const headers = {
    'content-type': mediaType,
    ...(shown && { [COVERAGE_HEADER]: JSON.stringify(shown) }),
    ...(next_cursor !== null && { [NEXT_CURSOR_HEADER]: next_cursor }),
    ...(format !== 'json' && { 'content-disposition': `attachment; filename="${filename}.${extension}"` }),
  }
  if (format === 'json')
    return { headers, body: Readable.from(envelope(stream, { ...head, ...(coverage && { coverage }) }, next_cursor)) }
  if (format !== 'csv' || provenance === 'false') return { headers, body: stream }
  return { headers, body: Readable.from(headed(provenanceOf(app, request, coverage), stream)) }
}

/**
 * Streams an export as the engine writes it, no faster than the client reads. Until the first bytes it fails like any other
 * route; afterwards the connection is cut before the answer ends. To a HEAD request, or one for a range of bytes, it is first
 * made whole and kept for the next, unless it is too large. `read` is not called if it is kept.
 */
export async function sendExport(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  read: () => Promise<AskedExport>,
): Promise<FastifyReply> {
  const open = async () => openExport(app, request, await read())
  // Each request with a payment buys the whole, which nobody else may get.
  if (needsWhole(request) && !request.paid) {
    const { headers, body, etag } = await app.wholeExports.read(request, open)
    if (body) return sendWhole(request, reply, { headers, body, etag })
    reply.header('accept-ranges', 'none')
    if (request.method === 'HEAD') return reply.headers(headers).send(Readable.from([]))
    request.sharedSignal = null
  }
  const { headers, body } = await open()
  return reply.headers(headers).send(body)
}
