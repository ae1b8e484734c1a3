import { expect } from 'vitest'
import { wholeSince } from '../../../../clickhouse/chain/history.js'
import { insertRows } from '../../../../clickhouse/store/insert.js'
import { randomFor } from '../../../../local/chain/random.js'
import { depth } from '../../../support/depth.js'
import { test, withDatabase } from '../../../support/services.js'

const HISTORIES = depth('HISTORIES', 12, 100)
const START = 1_772_323_200
/** Around these numbers, the blocks that are counted together change. */
const EDGES = [0, 100_000, 200_000, 300_000]

test('blocks are whole from the first one after the newest hole, wherever holes are', async () => {
  let inside = 0
  for (let history = 0; history < HISTORIES; history++) {
    const random = randomFor(1, 'holes', history)
    const numbers = EDGES.slice(0, random.int(1, EDGES.length)).flatMap((edge) =>
      Array.from({ length: 40 }, (_, i) => edge - 20 + i).filter((number) => number >= 0),
    )
    const holes = random.pick([0, 1, 5])
    const missing = new Set(Array.from({ length: holes }, () => random.pick(numbers)))
    const from = random.pick([0, 1, random.pick(numbers)])
    const stored = numbers.filter((number) => number >= from && !missing.has(number))
    let first = stored[0] ?? 0
    for (const [i, number] of stored.entries()) if (i > 0 && number !== (stored[i - 1] ?? 0) + 1) first = number
    if (first !== stored[0] && first % 100_000 !== 99_980) inside++
    await withDatabase(async (_, clickhouse) => {
      expect(await wholeSince(clickhouse)).toBeNull()
      await insertRows(
        clickhouse,
        'blocks',
        stored.map((block_number) => ({ block_number, block_time: START + block_number })),
        'blocks',
      )
      expect(await wholeSince(clickhouse), `history ${history}`).toBe(START + first)
    })
  }
  expect(inside).toBeGreaterThan(2)
})
