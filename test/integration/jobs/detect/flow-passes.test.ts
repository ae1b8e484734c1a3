import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { windowOf } from '../../../../clickhouse/flows/buckets.js'
import { detectFlowAnomalies } from '../../../../jobs/detect/flow-anomalies.js'
import { randomFor } from '../../../../local/chain/random.js'
import { depth } from '../../../support/depth.js'
import { storedEvents } from '../../../support/events.js'
import { FLOW_ANOMALIES_JOB } from '../../../support/flow-anomalies.js'
import { fitfulFlows, wildFlows } from '../../../support/flow-market.js'
import { inPasses, written } from '../../../support/passes.js'
import { repairedViews } from '../../../support/repair-views.js'
import { addFacts } from '../../../support/rows.js'
import { test, withDatabase } from '../../../support/services.js'
import { slotsOf } from '../../../support/slots.js'

const HISTORIES = depth('HISTORIES', 2, 10)
const SEED = Number(process.env.FAULT_SEED ?? 1)
const DAY = 86_400
const SLOTS = 60

const rows = (clickhouse: ClickHouseClient) => written(clickhouse, ['flow_anomalies'])

test('a pass over many windows of flows writes what one window after another writes, wherever it is cut or killed', {
  timeout: 600_000,
}, async () => {
  let [kills, retracted, anomalies] = [0, 0, 0]
  for (let history = 0; history < HISTORIES; history++) {
    const random = randomFor(SEED, 'flow passes', history)
    const end = windowOf(Math.floor(Date.now() / 1000))
    const start = end - random.int(2, 10) * DAY
    const scored = end - SLOTS * FLOW_ANOMALIES_JOB.periodSeconds
    const read_since = random.pick([0, 0, start])
    await withDatabase(async (_, alone) =>
      withDatabase(async (_, together) => {
        let kept = start
        for (let revision = 0; revision < 3; revision++) {
          const wild = wildFlows(100 * SEED + 10 * history + revision, start, end)
          const flows = [...wild, ...fitfulFlows(random, start, end)]
          if (revision > 0) kept = random.int(scored, end - 3600)
          for (const one of [alone, together]) {
            if (revision > 0) {
              await removeFacts(one, { from_block: kept + 1, from_time: kept })
              await repairedViews(one)
            }
            await addFacts(one, { flows: flows.filter(({ block_time }) => block_time > kept) })
          }
          const slots = slotsOf(FLOW_ANOMALIES_JOB, Math.max(scored, kept - 1), end, revision)
          // Not all of them, so that the next revision begins with slots that were never done.
          const due = slots
            .slice(0, random.int(Math.ceil(slots.length / 2), slots.length))
            .map((slot) => ({ ...slot, read_since }))
          for (const slot of due) await detectFlowAnomalies(alone, [slot])
          kills += await inPasses(together, detectFlowAnomalies, due, random)
          const expected = await rows(alone)
          for (const [table, found] of Object.entries(await rows(together)))
            expect(found, `${table}, FAULT_SEED=${SEED}, history ${history}, revision ${revision}`).toEqual(
              expected[table],
            )
          anomalies += expected.flow_anomalies?.length ?? 0
        }
        retracted += (await storedEvents(alone)).filter(({ type }) => type === 'event.retracted').length
      }),
    )
  }
  expect(kills).toBeGreaterThan(HISTORIES)
  expect(retracted).toBeGreaterThan(HISTORIES)
  expect(anomalies).toBeGreaterThan(10 * HISTORIES)
})
