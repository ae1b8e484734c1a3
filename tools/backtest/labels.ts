import { CsvError, parse } from 'csv-parse/sync'
import { z } from 'zod'
import { Address } from '../../clickhouse/store/values.js'
import { ConfigError } from '../../process/environment.js'
import { parseInstant } from '../../process/instants.js'

/** A break that is known to have happened, in [from, to), in unix seconds. */
export type Label = {
  stable: string
  from: number
  to: number
  /** How far from the peg, in basis points, signed; null if there was no quote. */
  bps: number | null
}

/** A time of a label, in unix seconds. One back from now would be another in each run. */
export const instant = z
  .string()
  .regex(/[^mhd]$/i, 'must be an ISO 8601 timestamp or date, or unix seconds')
  .transform((text, context) => {
    try {
      return parseInstant('', text, new Date(8.64e15)).getTime() / 1000
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message : String(error))
      return z.NEVER
    }
  })

const Row = z
  .strictObject({
    stable: z.string().toLowerCase().pipe(Address),
    from: instant,
    to: instant,
    bps: z
      .string()
      .regex(/^-?\d+(\.\d+)?$|^$/, 'must be a number, or empty if there was no quote')
      .transform((text) => (text === '' ? null : Number(text))),
  })
  .refine(({ from, to }) => from < to, { path: ['to'], error: 'must be later than from' })

/** Most faults of a file that are named. */
const MOST_FAULTS = 20

/** Throws ConfigError with the faults of a file of labels, if there are any. */
export function rejectFaults(faults: readonly string[]): void {
  const tail = faults.length > MOST_FAULTS ? ['and more'] : []
  if (faults.length > 0) throw new ConfigError([...faults.slice(0, MOST_FAULTS), ...tail])
}

/** The rows of a CSV file with a header, each with its line. Throws ConfigError naming the lines at fault. */
export function parseRows<Row extends z.ZodType>(text: string, Row: Row): { line: number; row: z.output<Row> }[] {
  const parsed = recordsOf(text).map(({ line, record }) => ({ line, result: Row.safeParse(record) }))
  rejectFaults(
    parsed.flatMap(({ line, result }) =>
      (result.error?.issues ?? []).map(({ path, message }) => `labels, line ${line}: ${path.join('.')} ${message}`),
    ),
  )
  return parsed.map(({ line, result }) => ({ line, row: result.data as z.output<Row> }))
}

/**
 * The labels of a CSV file with the header `stable,from,to,bps`; times as `as_of` takes them, but not relative to now. Labels
 * of one stable that overlap become one, with the larger deviation; sorted by stable and time. Throws ConfigError naming the
 * lines at fault.
 */
export function parseLabels(text: string): Label[] {
  return mergedLabels(parseRows(text, Row).map(({ row }) => row))
}

function recordsOf(text: string): { line: number; record: unknown }[] {
  try {
    const parsed = parse(text, { bom: true, columns: true, info: true, skip_empty_lines: true, trim: true })
    return (parsed as unknown as { record: unknown; info: { lines: number } }[]).map(({ record, info }) => ({
      line: info.lines,
      record,
    }))
  } catch (error) {
    if (error instanceof CsvError) throw new ConfigError([`labels: ${error.message}`])
    throw error
  }
}

function mergedLabels(labels: readonly Label[]): Label[] {
  const sorted = labels.toSorted((a, b) => (a.stable === b.stable ? a.from - b.from : a.stable < b.stable ? -1 : 1))
  const merged: Label[] = []
  for (const label of sorted) {
    const last = merged.at(-1)
    if (last?.stable !== label.stable || label.from >= last.to) {
      merged.push({ ...label })
      continue
    }
    last.to = Math.max(last.to, label.to)
    if (last.bps === null || label.bps === null) last.bps = null
    else if (Math.abs(label.bps) > Math.abs(last.bps)) last.bps = label.bps
  }
  return merged
}
