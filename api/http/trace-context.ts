/** Where a request stands in a trace, by W3C's names: its own span, and that of whoever sent it. */
export type TraceContext = { trace_id: string; span_id: string; parent_id: string | null; sampled: boolean }

// https://www.w3.org/TR/trace-context/#traceparent-header: only versions after the first may have more than four fields.
const TRACEPARENT =
  /^(?:00(?=.{53}$)|(?!00|ff)[0-9a-f]{2}(?=.{53}(?:-|$)))-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}/

/** A number from 0 to 1 that a trace has everywhere: FNV-1a of its id, stirred, as ids may count in their last digits. */
function lot(traceId: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < traceId.length; i++) hash = Math.imul(hash ^ traceId.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/**
 * The trace of a request: the one that its `traceparent` names, or where that is missing or malformed one of its own,
 * made of the request's id, a UUID. A `share` of all traces (0 to 1) is sampled, the same ones in every process; what the sender
 * thinks of that does not count, since it costs him nothing.
 */
export function traceContext(requestId: string, traceparent: string | undefined, share: number): TraceContext {
  const digits = requestId.replaceAll('-', '')
  const [, trace_id = digits, parent_id = null] = (traceparent && TRACEPARENT.exec(traceparent)) || []
  const sampled = lot(trace_id) < share
  return { trace_id, span_id: digits.slice(16), parent_id, sampled }
}

/** What names a request as the parent of what is done for it. */
export const traceparentOf = ({ trace_id, span_id, sampled }: TraceContext): string =>
  `00-${trace_id}-${span_id}-${sampled ? '01' : '00'}`
