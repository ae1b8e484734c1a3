import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { traceContext, traceparentOf } from '../../../../api/http/request-log.js'

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e'
// The example of the recommendation.
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

const ours = { trace_id: '0f8fad5bd9cb469fa16570867728950e', span_id: 'a16570867728950e', parent_id: null }

describe('a request without a trace begins one, named after the request', () => {
  test.for([
    ['nothing came', undefined],
    ['it is empty', ''],
    ['letters are upper case', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
    ['the trace is all zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['the parent is all zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a field is too short', `00-${TRACE.slice(1)}-${PARENT}-01`],
    ['there is no flag', `00-${TRACE}-${PARENT}`],
    ['there is more than the version allows', `00-${TRACE}-${PARENT}-01-more`],
    ['the version is the forbidden one', `ff-${TRACE}-${PARENT}-01`],
    ['the flags of a later version run on', `01-${TRACE}-${PARENT}-0123`],
    ['it came twice', `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`],
    ['it has something before it', ` 00-${TRACE}-${PARENT}-01`],
  ] as const)('when %s', ([, traceparent]) => {
    expect(traceContext(ID, traceparent, 0)).toEqual({ ...ours, sampled: false })
  })
})

test.for([
  ['the version of today', `00-${TRACE}-${PARENT}-01`],
  ['a later version', `01-${TRACE}-${PARENT}-01`],
  ['a later version with more', `cc-${TRACE}-${PARENT}-01-what-the-future-will-be-like`],
] as const)('a trace in %s is continued, under a span of the request’s own', ([, traceparent]) => {
  const context = traceContext(ID, traceparent, 1)
  expect(context).toEqual({ trace_id: TRACE, span_id: ours.span_id, parent_id: PARENT, sampled: true })
  expect(traceparentOf(context)).toBe(`00-${TRACE}-${ours.span_id}-01`)
})

test('outgoing headers can be parsed by the same rules', () => {
  for (let i = 0; i < 100; i++) {
    const first = traceContext(randomUUID(), undefined, 0.5)
    const next = traceContext(randomUUID(), traceparentOf(first), 0.5)
    expect([next.trace_id, next.parent_id, next.sampled]).toEqual([first.trace_id, first.span_id, first.sampled])
  }
})

test('the sampled share of traces is the same in all processes, and about as large as configured', () => {
  const sampled = (share: number) => (trace: string) => traceContext(ID, `00-${trace}-${PARENT}-00`, share).sampled
  const traces = Array.from({ length: 20_000 }, () => randomBytes(16).toString('hex'))
  expect(traces.some(sampled(0))).toBe(false)
  expect(traces.every(sampled(1))).toBe(true)
  const tenth = traces.filter(sampled(0.1))
  // Five standard deviations of 20 000 draws at 0.1 are 212.
  expect(Math.abs(tenth.length - 2000)).toBeLessThan(212)
  expect(tenth.every(sampled(0.2))).toBe(true)
  // Ids that only differ in their last digits.
  const counted = Array.from({ length: 20_000 }, (_, i) => (i + 1).toString(16).padStart(32, 'a'))
  expect(Math.abs(counted.filter(sampled(0.1)).length - 2000)).toBeLessThan(212)
})
