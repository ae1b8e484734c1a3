import { expect } from 'vitest'
import { FLOW_WINDOW_SECONDS, windowOf } from '../../../../clickhouse/flows/buckets.js'
import { flowZScores, flowZScoresOfRange, MIN_ABS_Z } from '../../../../clickhouse/flows/scores.js'
import { randomFor } from '../../../../local/chain/random.js'
import { depth } from '../../../support/depth.js'
import { fitfulFlows, wildFlows } from '../../../support/flow-market.js'
import { addFacts } from '../../../support/rows.js'
import { test, withDatabase } from '../../../support/services.js'

const HISTORIES = depth('HISTORIES', 2, 10)
const SEED = Number(process.env.FAULT_SEED ?? 1)
const DAY = 86_400

test('the anomalies of many windows at once are those of each by itself', { timeout: 600_000 }, async () => {
  const kinds = { surge: 0, drop: 0, silence: 0 }
  for (let history = 0; history < HISTORIES; history++) {
    const random = randomFor(SEED, 'ranges', history)
    await withDatabase(async (_, clickhouse) => {
      const days = random.int(3, 25)
      const end = windowOf(Math.floor(Date.now() / 1000))
      const start = end - days * DAY
      const flows = [...wildFlows(100 * SEED + history, start, end), ...fitfulFlows(random, start, end)]
      await addFacts(clickhouse, { flows })
      for (let range = 0; range < 5; range++) {
        const windows = random.int(1, random.pick([3, 60]))
        const first = windowOf(start + random.int(0, days * DAY))
        const last = first + (windows - 1) * FLOW_WINDOW_SECONDS
        const asked = { min_abs_z: random.pick([0, MIN_ABS_Z]), read_since: random.pick([0, 0, start, start + DAY]) }
        const apart = []
        for (let window = first; window <= last; window += FLOW_WINDOW_SECONDS) {
          const window_start = new Date(window * 1000)
          const found = await flowZScores(clickhouse, { window_start, ...asked })
          for (const { kind } of found) kinds[kind]++
          apart.push(...found.map((score) => ({ ...score, window_start })))
        }
        const together = await flowZScoresOfRange(clickhouse, {
          first: new Date(first * 1000),
          last: new Date(last * 1000),
          ...asked,
        })
        expect(together, `FAULT_SEED=${SEED}, history ${history}, range ${range}`).toEqual(apart)
      }
    })
  }
  expect(Math.min(...Object.values(kinds))).toBeGreaterThan(5)
})
