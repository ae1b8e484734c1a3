import { CsvError, parse } from 'csv-parse/sync'
import { z } from 'zod'
import { ConfigError } from '../../process/environment.js'
import { parseInstant } from '../../process/instants.js'
import { Address } from '../store/values.js'

/** A break that is known to have happened, in [from, to), in unix seconds. */
export type Label = {
  stable: string
  from: number
  to: number
  /** How far from the peg, in basis points, signed; null if there was no quote. */
  bps: number | null
}

const instant = z.string().transform((text, context) => {
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

/**
 * The labels of a CSV file with the header `stable,from,to,bps`; times as `as_of` takes them, but not relative to now. Labels
 * of one stable that overlap become one, with the larger deviation; sorted by stable and time. Throws ConfigError naming the
 * lines at fault.
 */
export function parseLabels(text: string): Label[] {
  const faults: string[] = []
  const labels: Label[] = []
  for (const { line, record } of recordsOf(text)) {
    const row = Row.safeParse(record)
    if (row.success) labels.push(row.data)
    else
      faults.push(...row.error.issues.map(({ path, message }) => `labels, line ${line}: ${path.join('.')} ${message}`))
  }
  if (faults.length > MOST_FAULTS) faults.splice(MOST_FAULTS, Number.POSITIVE_INFINITY, 'and more')
  if (faults.length > 0) throw new ConfigError(faults)
  return mergedLabels(labels)
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
