import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { snapshotReserves } from '../../../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { test } from '../../../support/app.js'
import { addBlocks, addFacts, pairOf, stableAddress, stablecoin, tokenList } from '../../../support/rows.js'
import { slotAt } from '../../../support/slots.js'

const HOUR = 3600
const SNAPSHOTS = [
  // The composite and the extended score.
  { what: 'risk', table: 'risk_snapshots', snapshot: snapshotRisk, rows: 2 },
  { what: 'reserves', table: 'reserve_snapshots', snapshot: snapshotReserves, rows: 1 },
] as const

async function stablesIn(clickhouse: ClickHouseClient, table: string, slot: number): Promise<string[]> {
  const query = `SELECT stable FROM ${table} WHERE slot_at = ${slot} ORDER BY stable`
  const rows = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ stable: string }>()
  return rows.map(({ stable }) => stable)
}

test.for(SNAPSHOTS)(
  '$what is kept of the stables that are in use at the slot, and of no others',
  async (kind, { app, clickhouse, clock }) => {
    const { what, table, snapshot } = kind
    const end = Math.floor(clock.now.getTime() / 1000 / HOUR) * HOUR
    const [first, second] = [end - HOUR, end]
    const created = { block_time: first - HOUR }
    const pair = pairOf(stablecoin(3, created))
    await addBlocks(clickhouse, [first - HOUR, first, second])
    await addFacts(clickhouse, {
      stablecoins: [
        // Of the genesis block, listed, with a pair, the quote token of one, with a pair later, and nobody's.
        stablecoin(1, { ...created, block_number: 0 }),
        ...[2, 3, 4, 5, 6].map((i) => stablecoin(i, created)),
      ],
      lists: [tokenList({ stables: [stableAddress(2)] })],
      pairs: [
        { ...pair, quote: stableAddress(4) },
        { ...pair, base: stableAddress(5), quote: stableAddress(4), block_time: first + 1 },
      ],
    })
    for (const at of [first, second]) await snapshot(clickhouse, slotAt(what, at))
    expect(await stablesIn(clickhouse, table, first)).toEqual([1, 2, 3, 4].map(stableAddress))
    expect(await stablesIn(clickhouse, table, second)).toEqual([1, 2, 3, 4, 5].map(stableAddress))

    const statusOf = async (i: number, query = ''): Promise<number> =>
      (await app.inject(`/api/v1/stablecoins/${stableAddress(i)}/${what}${query}`)).statusCode
    expect(await statusOf(5)).toBe(200)
    expect(await statusOf(5, `?as_of=${first}`)).toBe(404)
    const response = await app.inject(`/api/v1/stablecoins/${stableAddress(6)}/${what}`)
    expect(response.json()).toMatchObject({
      status: 404,
      detail: expect.stringContaining('on the token list or with a pair'),
    })
  },
)

test.for(SNAPSHOTS)(
  '$what of a slot does not grow with stables of nobody, and has no limit of those in use',
  async (kind, { clickhouse, clock }) => {
    const { what, table, snapshot } = kind
    const at = Math.floor(clock.now.getTime() / 1000 / HOUR) * HOUR
    const [used, unused] = [4500, 10_000]
    const stablecoins = Array.from({ length: used + unused }, (_, i) => stablecoin(i, { block_time: at - HOUR }))
    await addBlocks(clickhouse, [at - HOUR, at])
    await addFacts(clickhouse, { stablecoins, pairs: stablecoins.slice(0, used).map(pairOf) })
    const slot = slotAt(what, at)
    expect(await snapshot(clickhouse, slot)).toBe(kind.rows * used)
    expect(await stablesIn(clickhouse, table, at)).toEqual(stablecoins.slice(0, used).map(({ stable }) => stable))
    // What was published is found again, however many there are.
    expect(await snapshot(clickhouse, slot)).toBe(0)
  },
)
