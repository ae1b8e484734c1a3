import { expect } from 'vitest'
import { insertDoneRollback, insertPlannedRollback } from '../../../../clickhouse/chain/rollbacks.js'
import type { PublishedRisk } from '../../../../clickhouse/risk/snapshots.js'
import { insertRows } from '../../../../clickhouse/store/insert.js'
import { randomFor } from '../../../../local/chain/random.js'
import { bucketStarts, riskBucket } from '../../../../oracle/series.js'
import { test } from '../../../support/app.js'
import { addFacts, stableAddress, stablecoin } from '../../../support/rows.js'

const STABLE = stableAddress(1)
const SLOT = 300
const INTERVALS = Object.entries({ '1m': 60, '5m': 300, '1h': 3600, '1d': 86_400 })

function snapshot(slot_at: number, revision: number, random: ReturnType<typeof randomFor>): PublishedRisk {
  const score = (): string => (random.int(0, 10_000) / 100).toFixed(2)
  return {
    stable: STABLE,
    slot_at,
    revision,
    methodology: 'v3',
    composite: (random.int(0, 100_000) / 1000).toFixed(3),
    peg_risk: score(),
    peg_break_risk: score(),
    supply_risk: score(),
    policy_risk: score(),
    quoted_count_24h: 1,
    unquoted_count_24h: 0,
    unquoted_share_24h: null,
    unquoted_since: null,
    stddev_bps_24h: null,
    max_deviation_bps_24h: null,
    has_open_mild: false,
    has_open_severe: false,
    mild_events_7d: 0,
    severe_events_7d: 0,
    supply_raw: null,
    cap_raw: null,
    paused: null,
    policy_id: null,
    policy_type: null,
    state_block_number: null,
    policy_events_7d: 0,
    published_at: (slot_at + 1 + 600 * revision).toFixed(3),
    figures_hash: '0',
  }
}

/** The extended scores of snapshots, as they are stored, and the snapshots with them. */
function extended(snapshots: readonly PublishedRisk[], random: ReturnType<typeof randomFor>) {
  const rows = snapshots.map(({ stable, slot_at, revision, published_at }) => {
    const score = (random.int(0, 100_000) / 1000).toFixed(3)
    return { stable, slot_at, revision, published_at, figures_hash: '0', version: 'e1', score }
  })
  const with_score = snapshots.map((snapshot, i) => ({
    ...snapshot,
    extended: rows[i]?.score ?? '',
    extended_version: 'e1',
  }))
  return { rows, with_score }
}

const url = (query: Record<string, string | number>) =>
  `/api/v1/stablecoins/${STABLE}/risk/series?${new URLSearchParams(query as Record<string, string>)}`

test('a risk bucket follows from its snapshots, in any range and interval', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const newest = Math.floor(now / SLOT) * SLOT - SLOT
  const random = randomFor(6, 'risk', 1)
  const slots = Array.from({ length: 700 }, (_, i) => newest - (699 - i) * SLOT)
  // Half a day without jobs in the middle.
  const taken = slots.filter((_, i) => i < 300 || i >= 444)
  const first = taken.map((slot) => snapshot(slot, 0, random))
  // The newest twenty were taken again after a rollback, except the last two.
  const again = taken.slice(-20, -2).map((slot) => snapshot(slot, 1, random))
  const rollback = {
    sequence_number: 1,
    kept_block: 1,
    kept_hash: '',
    kept_time: taken.at(-20) as number,
    removed_to: 2,
    after_sequence: 0,
    reason: 'test',
    writer: 'test',
  }
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  await insertPlannedRollback(clickhouse, rollback)
  await insertDoneRollback(clickhouse, rollback)
  await insertRows(clickhouse, 'risk_snapshots', first, 'first')
  await insertRows(clickhouse, 'risk_snapshots', again, 'again')
  const { rows, with_score: standing } = extended([...first.slice(0, -20), ...again], random)
  await insertRows(clickhouse, 'extended_snapshots', rows, 'extended')

  for (const [interval, seconds] of INTERVALS) {
    for (let i = 0; i < 8; i++) {
      const from = now - random.int(0, 3 * 86_400)
      const to = random.int(from, now)
      const { data, coverage: _, ...head } = (await app.inject(url({ from, to, interval }))).json()
      // A second after the newest snapshot: the bucket that ends with it is complete.
      const span = [(standing[0] as PublishedRisk).slot_at, (standing.at(-1) as PublishedRisk).slot_at + 1]
      expect(head).toEqual({ address: STABLE, interval, next_cursor: null })
      expect(data).toEqual(
        bucketStarts(seconds, from, to, Math.min(...span), Math.max(...span)).map((start) =>
          riskBucket(standing, start, seconds),
        ),
      )
    }
  }
  const { data } = (await app.inject(url({ from: '1d', interval: '1h' }))).json()
  for (const bucket of data.slice(-5)) {
    const then = (await app.inject(`/api/v1/stablecoins/${STABLE}/risk?as_of=${bucket.bucket_end}`)).json()
    expect(bucket).toMatchObject({ composite: then.composite, ...then.components })
  }
})

test('a risk series with known_at is that of the scores published by then', async ({ app, clickhouse, clock }) => {
  const newest = Math.floor(clock.now.getTime() / 1000 / SLOT) * SLOT - 12 * SLOT
  const random = randomFor(7, 'risk', 2)
  const slots = [3, 2, 1, 0].map((i) => newest - i * SLOT)
  const first = slots.map((slot) => snapshot(slot, 0, random))
  // Each was published again ten minutes after the first time.
  const again = slots.map((slot) => snapshot(slot, 1, random))
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  await insertRows(clickhouse, 'risk_snapshots', [...first, ...again], 'both')
  const from = (slots[0] as number) - SLOT
  const read = async (query: Record<string, string | number>) =>
    (await app.inject(url({ from, interval: '5m', ...query }))).json()
  // The last two had been published once only by then.
  const known_at = newest + SLOT
  const shown = [...again.slice(0, 2), ...first.slice(2)]
  const expected = shown.map(({ slot_at }) => riskBucket(shown, slot_at - SLOT, SLOT))
  const past = await read({ known_at })
  expect(past).toMatchObject({ known_at: new Date(known_at * 1000).toISOString().replace('.000', ''), data: expected })
  expect(past.data).toHaveLength(expected.length)
  const now = (await read({})).data
  expect(now.slice(0, 4)).toEqual(again.map(({ slot_at }) => riskBucket(again, slot_at - SLOT, SLOT)))
  expect((await read({ known_at: (slots[0] as number) - 1 })).data).toEqual([])
})

test('there are no buckets before the first snapshot', async ({ app, clickhouse }) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  expect((await app.inject(url({ from: '1d' }))).json().data).toEqual([])
})
