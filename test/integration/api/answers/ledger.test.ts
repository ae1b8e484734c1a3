import { expect } from 'vitest'
import { createLedger } from '../../../../api/answers/ledger.js'
import { FAMILIES } from '../../../../clickhouse/chain/batches.js'
import { coverageOf } from '../../../../clickhouse/chain/coverage.js'
import { insertIngestGaps } from '../../../../clickhouse/chain/gaps.js'
import { observeQueries } from '../../../../clickhouse/store/observe.js'
import { randomFor } from '../../../../local/chain/random.js'
import { Memories } from '../../../../process/memory.js'
import { addBatch, addRollback } from '../../../support/ledger.js'
import { addBlocks } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const T = 1_790_000_000

test('the stored past and an offer need a statement at most once a second, a later answer needs one', async ({
  clickhouse,
}) => {
  await addBlocks(
    clickhouse,
    Array.from({ length: 20 }, (_, i) => T + i * 10),
  )
  const clock = { ms: 0 }
  const ledger = createLedger(clickhouse, new Memories(), () => clock.ms)
  await ledger.read(T)
  const statements: string[] = []
  observeQueries(clickhouse, (query) => statements.push(query))
  const asked = async (to: number, options = {}) => {
    statements.length = 0
    await Promise.all([ledger.read(to, options), ledger.read(to, options), ledger.read(to, options)])
    return [...statements]
  }
  expect(await asked(T + 50)).toEqual([])
  clock.ms += 999
  expect(await asked(T + 190)).toEqual([])
  expect(await asked(T + 191, { isOffer: true })).toEqual([])
  expect(await asked(T + 191)).toEqual(['ledger_changes'])
  clock.ms += 1000
  expect(await asked(T + 191, { isOffer: true })).toEqual(['ledger_changes'])
  clock.ms += 1000
  expect(await asked(T + 50)).toEqual(['ledger_changes'])
})

test('after any batches, rollbacks and gaps, what is kept gives the same coverage as what is read again', async ({
  clickhouse,
}) => {
  const random = randomFor(5, 'ledger')
  await addBlocks(
    clickhouse,
    Array.from({ length: 200 }, (_, i) => T + i * 10),
    1000,
  )
  const clock = { ms: 0 }
  const kept = createLedger(clickhouse, new Memories(), () => clock.ms)
  let [tip, block] = [0, 1000]
  for (let i = 1; i <= 30; i++) {
    const what = random.pick(['tip', 'tip', 'backfill', 'rollback', 'gap'])
    const from_block = random.int(1, 900)
    const to_block = from_block + random.int(0, 99)
    if (what === 'tip') {
      const to = block + random.int(0, 5)
      await addBatch(clickhouse, 'tip', ++tip, { from_block: block, to_block: to })
      block = to + 1
    } else if (what === 'backfill') {
      const families = FAMILIES.filter(() => random.chance(0.6))
      await addBatch(clickhouse, 'backfill', i, { from_block, to_block, families, stables: random.pick([[], ['a']]) })
    } else if (what === 'rollback') await addRollback(clickhouse, i, T)
    else await insertIngestGaps(clickhouse, [{ family: 'pegs', from_block, to_block, reason: 'pruned' }])
    clock.ms += 1000
    const [mine, again] = await Promise.all([kept.read(T), createLedger(clickhouse, new Memories()).read(T)])
    for (const family of FAMILIES)
      for (const stable of ['a', 'b'])
        for (const [from, to] of [
          [0, T + 500],
          [T + 100, T + 1999],
        ] as const) {
          const asks = { families: [family], logsOf: [], stable, from, to }
          expect(coverageOf(mine, asks), `${i} ${what} ${family}`).toEqual(coverageOf(again, asks))
        }
  }
})
