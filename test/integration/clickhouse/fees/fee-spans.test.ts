import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { addFeeChoices, differingChoices, feeChoicesOf } from '../../../../clickhouse/fees/choices.js'
import {
  type FeeDistribution,
  type FeeElection,
  feeDistributionSums,
  feeElectionCounts,
} from '../../../../clickhouse/fees/fees.js'
import { randomFor } from '../../../../local/chain/random.js'
import { rebuild } from '../../../../tools/rebuild/rebuild.js'
import { deployed, formatted } from '../../../support/deployed-views.js'
import { account, feeDistribution, feeElection } from '../../../support/economy-rows.js'
import { repairedViews } from '../../../support/repair-views.js'
import { stableAddress } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const ZERO = `0x${'0'.repeat(40)}`
const DAY = 86_400
const seconds = (iso: string): number => Date.parse(iso) / 1000
const [JANUARY, FEBRUARY, MARCH, NEW_YEAR, LATER] = [
  '2024-01-01T00:00:00Z',
  '2024-02-01T00:00:00Z',
  '2024-03-01T00:00:00Z',
  '2025-01-01T00:00:00Z',
  '2025-03-20T12:00:00Z',
].map(seconds) as [number, number, number, number, number]
const END = seconds('2040-01-01T00:00:00Z')

type Made = { elections: readonly FeeElection[]; distributions: readonly FeeDistribution[] }

const add = async (clickhouse: ClickHouseClient, { elections, distributions }: Made): Promise<void> => {
  if (elections.length > 0) await insertFacts(clickhouse, 'fee_elections', [...elections], randomUUID())
  if (distributions.length > 0) await insertFacts(clickhouse, 'fee_distributions', [...distributions], randomUUID())
}

/** What the two reads answer at an instant, as texts in order. */
async function answers(clickhouse: ClickHouseClient, at: number): Promise<string[]> {
  const [counts, sums] = await Promise.all([
    feeElectionCounts(clickhouse, { at: new Date(at * 1000) }),
    feeDistributionSums(clickhouse, { at: new Date(at * 1000) }),
  ])
  return [
    ...counts.map((row) => `${row.stable} is chosen by ${row.users_electing} and ${row.validators_electing}`),
    ...sums.map((row) =>
      [row.stable, row.last_24h_raw, row.last_7d_raw, row.all_time_raw, row.distribution_count].join(' '),
    ),
  ].sort()
}

/** The same, counted one fact after the other. */
function expectedAnswers({ elections, distributions }: Made, at: number): string[] {
  const until = <Row extends { block_time: number }>(rows: readonly Row[]) => rows.filter((row) => row.block_time <= at)
  const chosen = new Map<string, FeeElection>()
  const inOrder = until(elections).sort((a, b) => a.block_number - b.block_number || a.log_index - b.log_index)
  for (const one of inOrder) chosen.set(`${one.kind} ${one.account}`, one)
  const last = [...chosen.values()]
  const by = (stable: string, kind: string): number =>
    last.filter((one) => one.stable === stable && one.kind === kind).length
  const paid = until(distributions)
  const sum = (stable: string, after: number): bigint =>
    paid
      .filter((one) => one.stable === stable && one.block_time > after)
      .reduce((total, one) => total + BigInt(one.amount_raw), 0n)
  const counted = [...new Set(last.map(({ stable }) => stable))].filter((stable) => stable !== ZERO)
  const received = [...new Set(paid.map(({ stable }) => stable))]
  return [
    ...counted.map((stable) => `${stable} is chosen by ${by(stable, 'user')} and ${by(stable, 'validator')}`),
    ...received.map((stable) => {
      const count = paid.filter((one) => one.stable === stable).length
      return [stable, sum(stable, at - DAY), sum(stable, at - 7 * DAY), sum(stable, 0), count].join(' ')
    }),
  ].sort()
}

test.for([1, 2])(
  'fees as of any instant are right after any history of writes, backfills and cuts (seed %i)',
  async (seed, { clickhouse }) => {
    const random = randomFor(seed, 'fee spans')
    // Blocks are hours to weeks apart, and some at the very edges of months and years.
    const edges = [JANUARY, FEBRUARY, MARCH, NEW_YEAR].flatMap((edge) => [edge - 1, edge, edge, edge + 1])
    const drawn = Array.from({ length: 110 }, () => random.int(JANUARY - 40 * DAY, LATER))
    const times = [...edges, ...drawn].sort((a, b) => a - b)
    const blocks = times.map((block_time, i): Made => {
      const places = [0, 1, 2].map((log_index) => ({ block_number: i + 1, block_time, log_index }))
      const stable = () => random.pick([1, 2, 3, 4].map(stableAddress))
      return {
        elections: places.map((place) =>
          feeElection(
            random.chance(0.3) ? 'validator' : 'user',
            account(random.int(1, 9)),
            random.chance(0.15) ? ZERO : stable(),
            place,
          ),
        ),
        distributions: places.map((place) =>
          feeDistribution(stable(), account(1), random.int(0, 1e6), { ...place, log_index: place.log_index + 3 }),
        ),
      }
    })
    let stored = new Set<number>()
    const facts = (): Made => ({
      elections: [...stored].flatMap((i) => blocks[i]?.elections ?? []),
      distributions: [...stored].flatMap((i) => blocks[i]?.distributions ?? []),
    })
    const write = async (numbers: readonly number[]): Promise<void> => {
      const made = numbers.map((i) => blocks[i] as Made)
      await add(clickhouse, {
        elections: made.flatMap(({ elections }) => elections),
        distributions: made.flatMap(({ distributions }) => distributions),
      })
      const header = { block_hash: '', parent_hash: '', tx_count: 6, log_count: 6 }
      const rows = numbers.map((i) => ({ ...header, block_number: i + 1, block_time: times[i] as number }))
      if (rows.length > 0) await insertFacts(clickhouse, 'blocks', rows, randomUUID())
      stored = new Set([...stored, ...numbers])
    }
    /** Blocks that are not stored, of those from `from` on and before `to`. */
    const missing = (from: number, to: number): number[] =>
      times.map((_, i) => i).filter((i) => i >= from && i < to && !stored.has(i))
    const cut = async (first: number): Promise<void> => {
      await removeFacts(clickhouse, { from_block: first + 1, from_time: times[first - 1] as number })
      stored = new Set([...stored].filter((i) => i < first))
      await repairedViews(clickhouse)
    }

    let tip = 40
    await write(missing(30, tip))
    for (let step = 0; step < 14; step++) {
      if (step % 3 === 0) await write(missing(0, tip).slice(-random.int(1, 12)))
      else if (step > 1 && random.chance(0.4)) {
        tip = random.int(Math.max(35, tip - 30), tip - 1)
        await cut(tip)
      } else {
        const next = Math.min(times.length, tip + random.int(1, 25))
        await write(missing(tip, next))
        tip = next
      }
      const instants = [
        ...edges.slice(0, 4),
        ...Array.from({ length: 6 }, () => random.pick(times) + random.int(-1, 8) * 40_000),
      ]
      for (const at of [...instants, NEW_YEAR - 1, NEW_YEAR, LATER, LATER + 400 * DAY])
        expect(await answers(clickhouse, at), `step ${step} at ${at}`).toEqual(expectedAnswers(facts(), at))
      expect(await differingChoices(clickhouse, { to: END })).toEqual([])
    }
  },
)

const at = (block_time: number, block_number: number) => ({ block_time, block_number })
const FACTS: Made = {
  elections: [
    feeElection('user', account(1), stableAddress(1), at(JANUARY, 1)),
    feeElection('user', account(1), stableAddress(2), at(FEBRUARY, 2)),
    feeElection('validator', account(1), stableAddress(2), at(FEBRUARY, 2)),
    feeElection('user', account(2), stableAddress(1), at(NEW_YEAR, 3)),
  ],
  distributions: [
    feeDistribution(stableAddress(1), account(1), 5, at(JANUARY, 1)),
    feeDistribution(stableAddress(1), account(1), 7, at(FEBRUARY, 2)),
  ],
}

test.for([
  ['is missing', 'DELETE FROM fee_choices WHERE months = 1 AND position < 8589934592', '1 month from 2024-01-01'],
  [
    'is another',
    `INSERT INTO fee_choices SELECT * REPLACE ('${stableAddress(3)}' AS chosen, position + 1 AS position) FROM fee_choices WHERE months = 1 AND position < 8589934592`,
    '1 month from 2024-01-01',
  ],
  [
    'of a year is missing',
    'DELETE FROM fee_choices WHERE months = 12 AND position >= 12884901888',
    '12 months from 2025-01-01',
  ],
] as const)('a kept choice that %s is found, and a rebuild makes it good', async ([, damage, span], { clickhouse }) => {
  await add(clickhouse, FACTS)
  expect(await differingChoices(clickhouse, { to: END })).toEqual([])
  await clickhouse.command({ query: damage })
  const found = await differingChoices(clickhouse, { to: END })
  expect(found.map((row) => row.span)).toEqual([span])
  await rebuild(clickhouse, 'fee_choices')
  expect(await differingChoices(clickhouse, { to: END })).toEqual([])
})

test('choices that an insert left out of the spans are added, and adding them again changes nothing', async ({
  clickhouse,
}) => {
  await add(clickhouse, FACTS)
  await clickhouse.command({ query: 'TRUNCATE TABLE fee_choices' })
  for (const _ of [1, 2]) {
    await addFeeChoices(clickhouse, { first: JANUARY, last: NEW_YEAR })
    expect(await differingChoices(clickhouse, { to: END })).toEqual([])
    expect(await answers(clickhouse, LATER)).toEqual(expectedAnswers(FACTS, LATER))
  }
})

test('the view of choices computes the same as the statement that rebuilds them', async ({ clickhouse }) => {
  expect(await deployed(clickhouse, 'fee_choices_mv')).toBe(await formatted(clickhouse, feeChoicesOf()))
})
