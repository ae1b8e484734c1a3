import { expect, test } from 'vitest'
import { createNodeWatch } from '../../../../ingest/sinks/note-node.js'

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
