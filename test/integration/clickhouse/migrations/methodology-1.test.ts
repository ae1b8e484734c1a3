import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { migrate } from '../../../../clickhouse/migrations/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { migrateUpTo } from '../../../support/migrations.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin } from '../../../support/rows.js'
import { test } from '../../../support/services.js'
import { slotAt } from '../../../support/slots.js'

const STABLE = stableAddress(1)
const SLOT = Math.floor(Date.now() / 3_600_000) * 3600 - 7200
const iso = (seconds: number): string => new Date(seconds * 1000).toISOString()

/** A snapshot as the first methodology published it: of a stable that nobody ever bid for. */
const PUBLISHED = {
  stable: STABLE,
  slot_at: SLOT,
  revision: 0,
  methodology: 'v1',
  composite: '12.000',
  peg_risk: '0.00',
  peg_break_risk: '0.00',
  supply_risk: '15.00',
  policy_risk: '90.00',
  quoted_count_24h: 0,
  unquoted_count_24h: 60,
  policy_events_7d: 16,
  published_at: `${SLOT + 20}.250`,
}

const rowsOf = async (clickhouse: ClickHouseClient, columns: string): Promise<unknown[]> =>
  (
    await clickhouse.query({
      query: `SELECT ${columns} FROM risk_snapshots WHERE methodology = 'v1'`,
      format: 'JSONEachRow',
    })
  ).json()

test('a snapshot of methodology 1 stays as it was published, also when its slot is done again by methodology 2', async ({
  emptyClickhouseEnv: env,
}) => {
  const clickhouse = connect(env, { application: 'plumbline-test' })
  await migrateUpTo(env, clickhouse, '_risk_unquoted.sql')
  await clickhouse.insert({ table: 'risk_snapshots', values: [PUBLISHED], format: 'JSONEachRow' })
  const stored = await rowsOf(clickhouse, '*')
  await migrate(env)
  const times = Array.from({ length: 60 }, (_, i) => SLOT - 3540 + i * 60)
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1)],
    samples: pegSamples(
      STABLE,
      times.map((at) => ({ at, price: 'no_liquidity' })),
    ),
  })
  const app = await buildApp({ clickhouse, now: () => new Date(), logger: pino({ level: 'silent' }) })
  const ask = async (query: string) => (await app.inject(`/api/v1/stablecoins/${STABLE}/risk?${query}`)).json()
  const before = await ask(`as_of=${SLOT}&known_at=${SLOT + 60}`)
  expect(before).toMatchObject({
    methodology: 'v1',
    composite: 12,
    components: { peg_risk: 0, peg_break_risk: 0, supply_risk: 15, policy_risk: 90 },
    inputs: { unquoted_share_24h: null, unquoted_since: null, unquoted_count_24h: 60 },
    published_at: iso(SLOT + 20.25),
    revision: 0,
  })

  for (const [slot, minutes] of [
    [slotAt('risk', SLOT, 1), 30],
    [slotAt('risk', SLOT + 300), 31],
  ] as const)
    expect(await snapshotRisk(clickhouse, slot, () => new Date((SLOT + minutes * 60) * 1000))).toBe(2)
  expect(await ask(`as_of=${SLOT}`)).toMatchObject({ methodology: 'v2', revision: 1, components: { peg_risk: 100 } })
  expect(await ask(`as_of=${SLOT}&known_at=${SLOT + 60}`)).toEqual(before)
  const columns = Object.keys(stored[0] as object).join()
  expect(await rowsOf(clickhouse, columns)).toEqual(stored)
  await app.close()
  await clickhouse.close()
})
