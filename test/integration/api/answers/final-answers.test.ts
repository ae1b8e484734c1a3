import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { FAMILIES, insertCommittedBatch, insertPlannedBatch } from '../../../../clickhouse/chain/batches.js'
import { insertDoneRollback, insertPlannedRollback } from '../../../../clickhouse/chain/rollbacks.js'

import type { Slot } from '../../../../jobs/schedule/run-slots.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { cachedApp } from '../../../support/cached-app.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin, stateRead } from '../../../support/rows.js'
import { test } from '../../../support/services.js'
import { runSlots, slotsOf } from '../../../support/slots.js'

const STABLE = stableAddress(1)
const HOUR = 3600
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** A batch of a track that stored these blocks. */
async function addBatch(clickhouse: ClickHouseClient, track: string, from_block: number, to_block: number) {
  const batch = {
    track,
    sequence_number: 1,
    from_block,
    to_block,
    last_hash: '',
    writer: 'test',
    families: FAMILIES,
    stables: [],
  }
  await insertPlannedBatch(clickhouse, batch)
  await insertCommittedBatch(clickhouse, batch)
}

/** Six hours of blocks, five minutes apart, from `first` on; the tip has read all of them. */
async function addHistory(clickhouse: ClickHouseClient, first: number, end: number): Promise<void> {
  const times = Array.from({ length: 73 }, (_, i) => end - (72 - i) * 300)
  await addBlocks(clickhouse, times, first)
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1, { block_number: first, block_time: times[0] as number })],
    states: [stateRead(STABLE, { block_number: first, block_time: times[0] as number })],
    samples: pegSamples(
      STABLE,
      times.map((at) => ({ at, price: 999_000 })),
      first,
    ),
  })
  await addBatch(clickhouse, 'tip', first, first + times.length - 1)
}

async function policies(clickhouse: ClickHouseClient, as_of: string, now: number): Promise<Record<string, unknown>> {
  const app = await cachedApp(clickhouse, { now: () => new Date(now * 1000) })
  const of = async (what: string) =>
    (await app.inject(`/api/v1/stablecoins/${what}?as_of=${as_of}`)).headers['cache-control']
  return {
    peg: await of(`${STABLE}/peg`),
    rewards: await of(`${STABLE}/rewards`),
    flows: await of('flows'),
    risk: await of(`${STABLE}/risk`),
    known_risk: (await app.inject(`/api/v1/stablecoins/${STABLE}/risk?as_of=${as_of}&known_at=${as_of}`)).headers[
      'cache-control'
    ],
    roles: await of(`${STABLE}/roles`),
  }
}

const soon = (seconds: number): string => `public, max-age=${seconds}, stale-if-error=600`

test('an answer about a completely stored past is immutable, and one about the last minutes is not', async ({
  clickhouse,
}) => {
  const end = Math.floor(Date.now() / 1000 / HOUR) * HOUR
  await addHistory(clickhouse, 1, end)
  const atOnce = (client: ClickHouseClient, slot: Slot) => snapshotRisk(client, slot, () => slot.at)
  const job = { job: 'risk', periodSeconds: 300, task: atOnce }
  await runSlots(clickhouse, job, slotsOf(job, end - 2 * HOUR, end - HOUR))

  // A slot may be done again; what was published by some instant stays as it was.
  const published = { risk: soon(60), known_risk: IMMUTABLE }
  const all = { peg: IMMUTABLE, rewards: IMMUTABLE, flows: IMMUTABLE, roles: soon(60), ...published }
  expect(await policies(clickhouse, `${end - HOUR}`, end)).toEqual(all)
  const live = {
    peg: soon(2),
    rewards: soon(30),
    flows: soon(6),
    risk: soon(30),
    known_risk: soon(30),
    roles: soon(30),
  }
  expect(await policies(clickhouse, `${end - 599}`, end)).toEqual(live)
  // A second later this is another instant.
  const moving = Object.fromEntries(Object.keys(all).map((what) => [what, soon(1)]))
  expect(await policies(clickhouse, '1h', end)).toEqual(moving)
})

test('a past that a backfill may still fill is not immutable', async ({ clickhouse }) => {
  const end = Math.floor(Date.now() / 1000 / HOUR) * HOUR
  await addHistory(clickhouse, 1000, end)
  const at = `${end - HOUR}`
  const open = { peg: soon(60), rewards: soon(60), flows: soon(60), roles: soon(60) }
  expect(await policies(clickhouse, at, end)).toMatchObject(open)
})

test('an answer without a price is not immutable where an older price may be filled in', async ({ clickhouse }) => {
  const end = Math.floor(Date.now() / 1000 / HOUR) * HOUR
  const times = Array.from({ length: 10 * 24 }, (_, i) => end - (10 * 24 - 1 - i) * HOUR)
  const [priced, unpriced] = [stableAddress(1), stableAddress(2)]
  await addBlocks(clickhouse, times, 1000)
  await addFacts(clickhouse, {
    stablecoins: [1, 2].map((i) => stablecoin(i, { block_number: 1 })),
    samples: [
      ...pegSamples(
        priced,
        times.map((at) => ({ at, price: 999_000 })),
        1000,
      ),
      ...pegSamples(
        unpriced,
        times.map((at) => ({ at, price: 'no_liquidity' })),
        1000,
      ),
    ],
  })
  await addBatch(clickhouse, 'tip', 1000, 1000 + times.length - 1)
  const app = await cachedApp(clickhouse, { now: () => new Date(end * 1000) })
  const asked = async (stable: string) =>
    (await app.inject(`/api/v1/stablecoins/${stable}/peg?as_of=${end - 24 * HOUR}`)).headers['cache-control']
  expect([await asked(priced), await asked(unpriced)]).toEqual([IMMUTABLE, soon(60)])
})

test('nothing is immutable while blocks are rolled back or backfilled', async ({ clickhouse, clickhouseEnv: _ }) => {
  const end = Math.floor(Date.now() / 1000 / HOUR) * HOUR
  await addHistory(clickhouse, 1, end)
  const at = `${end - HOUR}`
  expect(await policies(clickhouse, at, end)).toMatchObject({ peg: IMMUTABLE })
  const rollback = {
    kept_block: 72,
    kept_hash: '',
    kept_time: end - 300,
    removed_to: 73,
    after_sequence: 1,
    reason: '',
    writer: '',
  }
  await insertPlannedRollback(clickhouse, { sequence_number: 1, ...rollback })
  await insertDoneRollback(clickhouse, { sequence_number: 1, ...rollback })
  expect(await policies(clickhouse, at, end)).toMatchObject({ peg: soon(60), flows: soon(60), rewards: soon(60) })
})

test('samples that begin later than their stable may still be backfilled', async ({ clickhouse }) => {
  const end = Math.floor(Date.now() / 1000 / HOUR) * HOUR
  await addHistory(clickhouse, 1, end)
  const late = stableAddress(2)
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(2, { block_number: 1, block_time: end - 6 * HOUR })],
    samples: pegSamples(late, [{ at: end - 2 * HOUR, price: 999_000 }], 49),
  })
  const app = await cachedApp(clickhouse, { now: () => new Date(end * 1000) })
  const policy = async (stable: string) =>
    (await app.inject(`/api/v1/stablecoins/${stable}/peg?as_of=${end - HOUR}`)).headers['cache-control']
  expect([await policy(STABLE), await policy(late)]).toEqual([IMMUTABLE, soon(60)])
})
