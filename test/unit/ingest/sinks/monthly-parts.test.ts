import { expect, test } from 'vitest'
import { mergeFacts } from '../../../../clickhouse/facts/facts.js'
import { monthlyParts } from '../../../../ingest/sinks/write-batch.js'
import { flow, stateRead } from '../../../support/rows.js'

const at = (iso: string): number => Date.parse(iso) / 1000

test('facts are split at the ends of months in UTC, and joined again in their order', () => {
  const facts = mergeFacts([
    {
      flows: [
        flow(1, 2, at('2026-09-30T23:59:59Z')),
        flow(1, 2, at('2026-10-01T00:00:00Z')),
        flow(2, 1, at('2026-10-31T23:59:59Z')),
        flow(2, 1, at('2027-01-01T00:00:00Z')),
      ],
      state_reads: [stateRead('0x1', { block_time: at('2026-10-01T00:00:00Z') })],
    },
  ])
  const parts = monthlyParts(facts)
  expect([...parts].map(([name, { table, rows }]) => [name, table, rows.length])).toEqual([
    ['flows of 202609', 'flows', 1],
    ['flows of 202610', 'flows', 2],
    ['flows of 202701', 'flows', 1],
    ['state_reads of 202610', 'state_reads', 1],
  ])
  expect(mergeFacts([...parts.values()].map(({ table, rows }) => ({ [table]: rows })))).toEqual(facts)
})
