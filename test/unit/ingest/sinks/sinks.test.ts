import { expect, test } from 'vitest'
import { mergeFacts } from '../../../../clickhouse/facts/facts.js'
import { createNodeWatch } from '../../../../ingest/sinks/note-node.js'
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

const NONE = { ok: 0, limited: 0, too_large: 0, no_state: 0, late: 0, failed: 0, chain_changes: 0 }

test('calls count for a minute, by what became of them, and changes of the chain for an hour', () => {
  let seconds = 5
  const watch = createNodeWatch(() => seconds * 1000)
  expect(watch.counts()).toEqual(NONE)
  for (const outcome of ['ok', 'ok', 'limited', 'ok'] as const) watch.called(outcome)
  watch.chainChanged()
  seconds = 35.5
  watch.called('late')
  watch.called('ok')
  expect(watch.counts()).toEqual({ ...NONE, ok: 4, limited: 1, late: 1, chain_changes: 1 })
  seconds = 65
  expect(watch.counts()).toEqual({ ...NONE, ok: 1, late: 1, chain_changes: 1 })
  seconds = 3605
  watch.chainChanged()
  expect(watch.counts()).toEqual({ ...NONE, chain_changes: 1 })
})
