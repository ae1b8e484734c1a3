import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { z } from 'zod'
import { defineColumns, defineQuery } from '../../../../clickhouse/store/define-query.js'
import { observeQueries } from '../../../../clickhouse/store/observe.js'
import { byStable, columnsByStable, STABLE_INDEX, shared, together } from '../../../../clickhouse/store/together.js'
import { test } from '../../../support/services.js'

const Asked = z.object({ stables: z.array(z.string()), at: z.date(), seconds: z.number().default(0) })

/** As many rows as each stable's name has letters, after some seconds; an error about a stable called `broken`. */
const letters = defineQuery({
  name: 'letters',
  params: Asked,
  row: z.object({ stable: z.string(), place: z.int(), at: z.int() }),
  sql: `
    SELECT stable, arrayJoin(range(toUInt32(length(stable)))) AS place, toUnixTimestamp({at: DateTime}) AS at
    FROM (SELECT arrayJoin({stables: Array(String)}) AS stable)
    WHERE sleep({seconds: Float64}) = 0 AND throwIf(stable = 'broken') = 0`,
})

const lettersOf = together('letters', async (clickhouse, asked: z.input<typeof Asked>, options) =>
  byStable(await letters(clickhouse, asked, options)),
)

const at = new Date(1_790_000_000_000)
const rows = (stable: string, time = at) => Array.from(stable, (_, place) => ({ place, at: time.getTime() / 1000 }))

/** The outcomes of the client's statements so far. */
function outcomesOf(clickhouse: ClickHouseClient): string[] {
  const outcomes: string[] = []
  observeQueries(clickhouse, (_, outcome) => outcomes.push(outcome))
  return outcomes
}

test('callers of one turn share a statement by instant, and each is answered about its own stable', async ({
  clickhouse,
}) => {
  const outcomes = outcomesOf(clickhouse)
  const later = new Date(at.getTime() + 1000)
  const asked = ['one', 'three', 'one', 'eleven', ''].map((stable) => ({ stable, at }))
  const answers = await Promise.all([...asked, { stable: 'three', at: later }].map((one) => lettersOf(clickhouse, one)))
  expect(answers).toEqual([...asked.map(({ stable }) => rows(stable)), rows('three', later)])
  expect(outcomes).toEqual(['ok', 'ok'])
})

test('callers that come while a statement runs share the next one, which begins after they came', async ({
  clickhouse,
}) => {
  await clickhouse.command({ query: 'CREATE TABLE stored (stable String) ENGINE = MergeTree ORDER BY stable' })
  const counts = defineQuery({
    name: 'counts',
    params: z.object({ stables: z.array(z.string()) }),
    row: z.object({ stable: z.string() }),
    sql: 'SELECT stable FROM stored WHERE stable IN {stables: Array(String)} AND sleep(0.3) = 0',
  })
  const countOf = together('counts', async (client, asked: { stables: string[] }, options) => {
    const found = byStable(await counts(client, asked, options))
    return (stable) => found(stable).length
  })
  const add = () => clickhouse.command({ query: "INSERT INTO stored VALUES ('one')" })
  await add()
  const outcomes = outcomesOf(clickhouse)
  const first = countOf(clickhouse, { stable: 'one' })
  await new Promise((resolve) => setTimeout(resolve, 150))
  await add()
  const next = [countOf(clickhouse, { stable: 'one' }), countOf(clickhouse, { stable: 'two' })]
  expect(await first).toBeLessThanOrEqual(2)
  expect(await Promise.all(next)).toEqual([2, 0])
  expect(outcomes).toEqual(['ok', 'ok'])
  await clickhouse.command({ query: 'DROP TABLE stored' })
})

test('a statement is about a bounded number of stables, whose callers are all answered by it', async ({
  clickhouse,
}) => {
  const sizes: number[] = []
  const few = together(
    'letters',
    async (client, asked: z.input<typeof Asked>, options) => {
      sizes.push(asked.stables.length)
      return byStable(await letters(client, asked, options))
    },
    2,
  )
  const stables = ['a', 'bb', 'ccc', 'a', 'dddd', 'bb', 'eeeee']
  const answers = await Promise.all(stables.map((stable) => few(clickhouse, { stable, at })))
  expect(answers).toEqual(stables.map((stable) => rows(stable)))
  expect(sizes).toEqual([2, 2, 1])
})

test('an error reaches all callers of its statement, and nobody else', async ({ clickhouse }) => {
  const asked = ['one', 'broken', 'two'].map((stable) => lettersOf(clickhouse, { stable, at }))
  const other = lettersOf(clickhouse, { stable: 'one', at: new Date(0) })
  for (const one of await Promise.allSettled(asked))
    expect(one).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(/^letters: /) } })
  expect(await other).toEqual(rows('one', new Date(0)))
  expect(await lettersOf(clickhouse, { stable: 'one', at })).toEqual(rows('one'))
})

test('a caller that goes away is rejected at once, and the statement ends only with its last caller', async ({
  clickhouse,
}) => {
  const outcomes = outcomesOf(clickhouse)
  const [one, other, queued] = [new AbortController(), new AbortController(), new AbortController()]
  const slow = (stable: string, { signal }: { signal: AbortSignal }) =>
    lettersOf(clickhouse, { stable, at, seconds: 1 }, { signal })
  const [leaves, stays] = [slow('one', one), slow('three', other)]
  const second = new Promise((resolve) => setTimeout(resolve, 100)).then(() => slow('two', queued))
  setTimeout(() => one.abort(), 200)
  setTimeout(() => queued.abort(), 250)
  await expect(leaves).rejects.toThrow('letters')
  await expect(second).rejects.toThrow('letters')
  expect(outcomes).toEqual([])
  expect(await stays).toEqual(rows('three'))
  // The one that was still waiting has left nothing to run.
  expect(outcomes).toEqual(['ok'])

  await expect(slow('one', one)).rejects.toThrow('letters')
  expect(outcomes).toEqual(['ok'])
  const gone = new AbortController()
  const both = [slow('one', gone), slow('three', gone)]
  setTimeout(() => gone.abort(), 200)
  for (const { status } of await Promise.allSettled(both)) expect(status).toBe('rejected')
  await expect.poll(() => outcomes).toEqual(['ok', 'aborted'])
})

test('columns are cut by stable, and readers of what has no stable share a statement too', async ({ clickhouse }) => {
  const outcomes = outcomesOf(clickhouse)
  const numbers = defineColumns({
    name: 'numbers',
    params: z.object({ stables: z.array(z.string()) }),
    columns: { stable_index: z.int(), number: z.int() },
    sql: `
      SELECT ${STABLE_INDEX}, toUInt32(number) AS number
      FROM (SELECT number, if(number % 2 = 0, 'even', 'odd') AS stable FROM numbers(7)) WHERE stable IN {stables: Array(String)}`,
  })
  const numbersOf = together('numbers', async (client, asked: { stables: string[] }, options) =>
    columnsByStable(await numbers(client, asked, options), asked.stables),
  )
  const asked = ['odd', 'none', 'even'].map((stable) => numbersOf(clickhouse, { stable }))
  expect(await Promise.all(asked)).toEqual([{ number: [1, 3, 5] }, { number: [] }, { number: [0, 2, 4, 6] }])
  const one = defineQuery({ name: 'one', row: z.object({ n: z.int() }), sql: 'SELECT toUInt8(1) AS n' })
  const sharedOne = shared('one', (client, _: object, options) => one(client, options))
  expect(await Promise.all([sharedOne(clickhouse, {}), sharedOne(clickhouse, {})])).toEqual([[{ n: 1 }], [{ n: 1 }]])
  expect(outcomes).toEqual(['ok', 'ok'])
})
