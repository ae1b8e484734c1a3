import { pino } from 'pino'
import { expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { detectPegEvents } from '../../../../jobs/detect/peg-events.js'
import { snapshotReserves } from '../../../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { randomFor } from '../../../../local/chain/random.js'
import { reservesAt } from '../../../../oracle/reserves.js'
import { riskAt } from '../../../../oracle/risk.js'
import { useStillChain } from '../../../support/chain.js'
import { depth } from '../../../support/depth.js'
import { copyHistory } from '../../../support/ingested.js'
import { snapshotFacts } from '../../../support/oracle/snapshot-facts.js'
import { test } from '../../../support/services.js'
import { slotsOf } from '../../../support/slots.js'
import { ReservesSpec } from '../../../support/spec/reserves.js'
import { RiskSpec } from '../../../support/spec/risk.js'

// Ten hours at a block every four minutes.
const BLOCKS = 150
const INSTANTS = depth('INSTANTS', 50, 200)

const chain = useStillChain({ historyBlocks: BLOCKS, blockSeconds: 240, seed: 11 })

test('/risk and /reserves equal at every instant what anyone computes from the raw facts', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await copyHistory(chain, clickhouse, clickhouseEnv)
  const facts = await snapshotFacts(clickhouse)
  const end = Math.max(...[...facts.samples.values()].flat().map(({ t }) => t))
  const now = end + 30

  for (const slot of slotsOf({ job: 'peg-events', periodSeconds: 120 }, facts.start, now))
    await detectPegEvents(clickhouse, [slot])
  for (const slot of slotsOf({ job: 'risk', periodSeconds: 300 }, facts.start, now))
    await snapshotRisk(clickhouse, slot)
  for (const slot of slotsOf({ job: 'reserves', periodSeconds: 3600 }, facts.start, now))
    await snapshotReserves(clickhouse, slot)

  const app = await buildApp({ clickhouse, now: () => new Date(now * 1000), logger: pino({ level: 'silent' }) })
  const random = randomFor(7, 'instants', 1)
  const seen = { broken: 0, whole: 0, backed: 0 }
  for (const asOf of [now, ...Array.from({ length: INSTANTS }, () => random.int(facts.start, now))]) {
    const { stable, symbol } = facts.stables[random.int(0, facts.stables.length - 1)] as (typeof facts.stables)[number]
    const answer = async (what: string) => app.inject(`/api/v1/stablecoins/${stable}/${what}?as_of=${asOf}`)

    const risk = await answer('risk')
    const expectedRisk = riskAt(facts, stable, asOf)
    expect(risk.statusCode, `${symbol} at ${asOf}`).toBe(expectedRisk ? 200 : 404)
    if (expectedRisk) {
      const { address, composite, components, computed_at } = RiskSpec.parse(risk.json())
      expect({ address, components, computed_at }, `${symbol} at ${asOf}`).toEqual({
        address: stable,
        components: expectedRisk.components,
        computed_at: expectedRisk.computed_at,
      })
      expect(composite).toBeCloseTo(expectedRisk.composite, 9)
      seen[components.peg_break_risk > 0 ? 'broken' : 'whole'] += 1
    }

    const reserves = await answer('reserves')
    const expected = reservesAt(facts, stable, asOf)
    expect(reserves.statusCode).toBe(expected ? 200 : 404)
    if (expected) {
      const body = ReservesSpec.parse(reserves.json())
      expect(body).toMatchObject({ address: stable, computed_at: expected.computed_at })
      const { total_backing_usd: total } = body
      if (expected.total_backing_usd === null) expect(total, symbol).toBeNull()
      else expect((total ?? Number.NaN) / expected.total_backing_usd, symbol).toBeCloseTo(1, 9)
      if (total !== null) seen.backed += 1
      expect(body.reserves).toMatchObject([
        { reserve_type: symbol.toLowerCase() === 'pathusd' ? 'protocol_native' : 'unknown', backing_usd: total },
      ])
    }
  }
  expect(Math.min(...Object.values(seen)), 'the market shows every case').toBeGreaterThan(INSTANTS / 20)
  for (const { stable } of facts.stables) {
    for (const what of ['risk', 'reserves']) {
      const live = (await app.inject(`/api/v1/stablecoins/${stable}/${what}`)).json()
      expect((await app.inject(`/api/v1/stablecoins/${stable}/${what}?as_of=${now}`)).json()).toEqual(live)
    }
  }
  await app.close()
})
