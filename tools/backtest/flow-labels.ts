import { z } from 'zod'
import { defineQuery } from '../../clickhouse/store/define-query.js'
import { Address } from '../../clickhouse/store/values.js'
import { isoSeconds } from '../../process/instants.js'
import { instant, parseRows, rejectFaults } from './labels.js'
import type { Range } from './prices.js'

/** An unusual flow that is known to have happened on an edge, in [from, to), in unix seconds. */
export type FlowLabel = Range & {
  from_token: string
  to_token: string
  /** The volume as a multiple of the usual one: more than 1 in a surge, 0 in a silence. */
  multiple: number
  line: number
}

const address = z.string().toLowerCase().pipe(Address)

const Row = z
  .strictObject({
    from_token: address,
    to_token: address,
    from: instant,
    to: instant,
    multiple: z
      .string()
      .regex(/^\d+(\.\d+)?$/, 'must be a number')
      .transform(Number)
      .refine((multiple) => multiple !== 1, 'must not be 1, the usual volume'),
  })
  .refine(({ from, to }) => from < to, { path: ['to'], error: 'must be later than from' })

/** The edge of a label or a score, as a key. */
export const edgeKey = (from_token: string, to_token: string): string => `${from_token} ${to_token}`

/**
 * The labels of a CSV file with the header `from_token,to_token,from,to,multiple`, sorted by edge and time. Throws ConfigError
 * naming the lines at fault, among them those that overlap another of the same edge.
 */
export function parseFlowLabels(text: string): FlowLabel[] {
  const labels = parseRows(text, Row)
    .map(({ line, row }) => ({ ...row, line }))
    .sort((a, b) => {
      const [edgeA, edgeB] = [edgeKey(a.from_token, a.to_token), edgeKey(b.from_token, b.to_token)]
      return edgeA === edgeB ? a.from - b.from : edgeA < edgeB ? -1 : 1
    })
  let last: FlowLabel | undefined
  const faults: string[] = []
  for (const label of labels) {
    const isSame = last?.from_token === label.from_token && last.to_token === label.to_token
    if (last && isSame && label.from < last.to)
      faults.push(`labels, line ${label.line}: overlaps line ${last.line} on the same edge`)
    if (!last || !isSame || label.to > last.to) last = label
  }
  rejectFaults(faults)
  return labels
}

/** The edges that had a flow before a time in unix seconds. */
export const edgesBefore = defineQuery({
  name: 'edges_before',
  params: z.object({ to: z.int() }),
  row: z.object({ from_token: z.string(), to_token: z.string() }),
  sql: `
    SELECT DISTINCT from_token, to_token FROM flow_edge_starts
    WHERE first_window < toDateTime({to: UInt32}, 'UTC')`,
})

/** Throws ConfigError naming the lines of labels that do not lie within [from, to), or whose edge never had a flow. */
export function checkFlowLabels(
  labels: readonly FlowLabel[],
  { from, to }: Range,
  edges: readonly { from_token: string; to_token: string }[],
): void {
  const storedEdges = new Set(edges.map(({ from_token, to_token }) => edgeKey(from_token, to_token)))
  const range = [from, to].map((seconds) => isoSeconds(new Date(seconds * 1000))).join(' to ')
  const faults = labels
    .toSorted((a, b) => a.line - b.line)
    .flatMap((label) => [
      ...(label.from < from || label.to > to ? [`line ${label.line}: is not within the range, ${range}`] : []),
      ...(storedEdges.has(edgeKey(label.from_token, label.to_token))
        ? []
        : [`line ${label.line}: no flow of this edge is stored before the end of the range`]),
    ])
  rejectFaults(faults.map((fault) => `labels, ${fault}`))
}
