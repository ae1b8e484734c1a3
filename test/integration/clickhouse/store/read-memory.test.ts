import { AsyncLocalStorage } from 'node:async_hooks'
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import { expect } from 'vitest'
import { databaseChainId } from '../../../../clickhouse/chain/identity.js'
import { unsampledAt } from '../../../../clickhouse/chain/sampling.js'
import { depthAt } from '../../../../clickhouse/depth/depth.js'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { currentPeg, currentPegs } from '../../../../clickhouse/peg/current.js'
import { insertExcursions } from '../../../../clickhouse/peg/excursions.js'
import { lostQuote, lostQuotesOf } from '../../../../clickhouse/peg/quotes.js'
import { refreshedPegSums } from '../../../../clickhouse/peg/windows.js'
import {
  recentRewardDistributions,
  rewardOptIns,
  rewardPool,
  topRewardFunders,
} from '../../../../clickhouse/rewards/rewards.js'
import { stableFiguresAt, stableFiguresOf } from '../../../../clickhouse/risk/overview.js'
import { roleHolders } from '../../../../clickhouse/roles/roles.js'
import { stablecoinStateAt, stablecoinStatesAt } from '../../../../clickhouse/stablecoins/states.js'
import type { Keeping, ReadOptions, TableStates } from '../../../../clickhouse/store/define-query.js'
import { observeQueries } from '../../../../clickhouse/store/observe.js'
import { createReadMemory, keptWhile } from '../../../../clickhouse/store/read-memory.js'
import { recentSupplyEvents } from '../../../../clickhouse/supply/supply.js'
import { INSTANTS } from '../../../../clickhouse/tables.js'
import { randomFor } from '../../../../local/chain/random.js'
import { Memories } from '../../../../process/memory.js'
import { randomEconomy } from '../../../support/random-economy.js'
import { addBareBlocks, addFacts, pegSamples, supplyEvent, tokenList } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const START = 1_760_000_400
const STEPS = 16
const BYTES = 100_000

type Rows = Record<string, { block_number: number }[]>

/** Every read that is kept, of one stable and of all. */
async function answers(clickhouse: ClickHouseClient, stable: string, at: Date, options: ReadOptions) {
  const asked = { stable, at }
  const [pegs, figures, ...others] = await Promise.all([
    currentPegs(clickhouse, { as_of: at }, options),
    stableFiguresAt(clickhouse, { at }, options),
    currentPeg(clickhouse, { stable, as_of: at }, options),
    stableFiguresOf(clickhouse, asked, options),
    roleHolders(clickhouse, asked, options),
    recentSupplyEvents(clickhouse, asked, options),
    rewardOptIns(clickhouse, asked, options),
    recentRewardDistributions(clickhouse, asked, options),
    rewardPool(clickhouse, asked, options),
    topRewardFunders(clickhouse, asked, options),
    depthAt(clickhouse, { stable, as_of: at }, options),
    stablecoinStateAt(clickhouse, asked, options),
    stablecoinStatesAt(clickhouse, { at, limit: 100 }, options),
    unsampledAt(clickhouse, asked, options),
  ])
  return { ofAll: [pegs(stable), figures(stable)], others, peg: others[0], supply: others[3] }
}

test('reads that are kept give what is stored, whatever is written, removed, merged and written again', async ({
  clickhouse,
}) => {
  const random = randomFor(19, 'kept reads')
  const { stables, times, facts } = randomEconomy(19, START)
  const stable = (): string => random.pick(stables)
  const samples = stables.flatMap((one) => {
    let isQuoted = true
    const ticks = times.map((at) => {
      if (random.chance(0.1)) isQuoted = !isQuoted
      return { at, price: isQuoted ? 1_000_000 + random.int(-900, 900) : ('no_liquidity' as const) }
    })
    return pegSamples(one, ticks)
  })
  const supplies = times.flatMap((block_time, i) =>
    random.chance(0.3) ? [supplyEvent(stable(), { block_time, block_number: i + 1, amount_raw: `${i + 1}` })] : [],
  )
  const all: Rows = { ...facts, peg_samples: samples, supply_events: supplies }
  const timeOf = (block: number): number => times[block - 1] ?? START
  const memories = new Memories()
  const kept = createReadMemory(clickhouse, memories, { instants: INSTANTS, maxBytes: BYTES, timeoutMs: 60_000 })
  let [head, tokens, lists] = [0, 0, 0]
  /** Blocks of which nothing is stored yet, though later ones are. */
  let hole: { from: number; to: number } | null = null

  const write = async (tables: readonly string[], from: number, to: number): Promise<void> => {
    for (const table of tables) {
      const rows = (all[table] ?? []).filter(({ block_number }) => block_number >= from && block_number <= to)
      if (rows.length > 0) await insertFacts(clickhouse, table as 'role_events', rows as never[], `kept ${++tokens}`)
    }
  }
  const writeAll = async (from: number, to: number): Promise<void> => {
    await addBareBlocks(clickhouse, times.slice(from - 1, to), from)
    await write(Object.keys(all), from, to)
  }
  /** What is read is compared with what a read finds that keeps nothing, and two of them with the rows that were written. */
  const compare = async (when: string): Promise<void> => {
    const answer = random.chance(0.5) ? kept.now() : kept.given({})
    for (let i = 0; i < 3; i++) {
      const at = random.pick([timeOf(head) + 5000, timeOf(head), timeOf(random.int(1, Math.max(1, head)))])
      const one = stable()
      const asked = new Date(at * 1000)
      const plain = await answers(clickhouse, one, asked, {})
      const read = await answers(clickhouse, one, asked, { kept: answer })
      const note = `${when}, ${one} at ${at}`
      expect(read, note).toEqual(plain)
      const isStored = ({ block_number }: { block_number: number }): boolean =>
        block_number <= head &&
        timeOf(block_number) <= at &&
        !(hole && block_number >= hole.from && block_number <= hole.to)
      const own = supplies.filter((event) => event.stable === one && isStored(event))
      expect(read.supply, note).toMatchObject(
        own
          .slice(-10)
          .reverse()
          .map(({ amount_raw }) => ({ amount: amount_raw })),
      )
      const sample = samples.findLast((sample) => sample.stable === one && isStored(sample))
      expect(read.peg?.newest?.block_number, note).toBe(read.peg?.unsampled ? undefined : sample?.block_number)
    }
    for (const { size, limit, description } of memories.all()) expect(size, description.name).toBeLessThanOrEqual(limit)
  }
  /** The statements of an answer about now, where the one before it was about the same facts. */
  const statementsAgain = async (): Promise<string[]> => {
    const at = new Date((timeOf(head) + 9000) * 1000)
    await answers(clickhouse, stables[0] as string, at, { kept: kept.now() })
    const statements: string[] = []
    observeQueries(clickhouse, (name) => statements.push(name))
    await answers(clickhouse, stables[0] as string, new Date(at.getTime() + 60_000), { kept: kept.now() })
    observeQueries(clickhouse, () => {})
    return statements.toSorted()
  }
  const change = {
    append: async () => {
      const to = Math.min(times.length, head + random.int(5, 30))
      if (hole === null && random.chance(0.2)) {
        hole = { from: head + 1, to }
        head = to
        return
      }
      const tables = Object.keys(all)
      const first = tables.filter(() => random.chance(0.5))
      await addBareBlocks(clickhouse, times.slice(head, to), head + 1)
      await write(first, head + 1, to)
      // While half of it is written.
      await answers(clickhouse, stable(), new Date(timeOf(to) * 1000), { kept: kept.given({}) })
      await write(
        tables.filter((table) => !first.includes(table)),
        head + 1,
        to,
      )
      head = to
    },
    backfill: async () => {
      if (hole === null) return
      const { from, to } = hole
      hole = null
      await writeAll(from, to)
    },
    rollBack: async () => {
      if (hole !== null || head < 40) return
      const from = head - random.int(1, 30)
      const before = kept.given({})
      await answers(clickhouse, stable(), new Date(timeOf(from) * 1000), { kept: before })
      await removeFacts(clickhouse, { from_block: from + 1, from_time: timeOf(from + 1) })
      await answers(clickhouse, stable(), new Date(timeOf(head) * 1000), { kept: before })
      head = from
    },
    merge: async () => {
      const table = random.pick([...Object.keys(all), 'blocks', 'peg_breaks', 'token_lists'])
      await clickhouse.command({ query: `OPTIMIZE TABLE ${table} FINAL` })
    },
    list: async () => {
      const block = Math.max(1, head - random.int(0, 40))
      const listed = stables.filter(() => random.chance(0.6))
      const list = { sequence_number: ++lists, from_block: block, holds_from: timeOf(block), stables: listed }
      await addFacts(clickhouse, { lists: [tokenList({ ...list, track: random.pick(['all', 'listed', 'paired']) })] })
    },
    breaks: async () => {
      const slot_at = timeOf(head)
      const started_block = random.int(1, Math.max(1, head))
      const ended = random.chance(0.5)
        ? { ended_at: slot_at, ended_block: head }
        : { ended_at: null, ended_block: null }
      const about = { stable: stable(), severity: random.pick(['mild', 'severe'] as const), slot_at }
      const figures = { confirmed_at: slot_at, max_deviation_micros: 3000, standing_tokens: null, revision: 0 }
      const direction = 'below' as const
      const started = { started_at: timeOf(started_block), started_block }
      await insertExcursions(clickhouse, 'published', [
        { ...about, ...started, ...ended, ...figures, direction, is_deleted: random.pick([0, 0, 1]) },
      ])
    },
  }
  await change.append()
  for (let step = 0; step < STEPS; step++) {
    const name = random.pick(['append', 'append', 'append', 'backfill', 'rollBack', 'merge', 'list', 'breaks'] as const)
    await change[name]()
    await compare(`step ${step}, ${name}`)
  }
  // The engine merges parts when it likes, after which one answer reads again.
  await expect
    .poll(statementsAgain, { timeout: 30_000 })
    .toEqual(['deviations_of_day', 'deviations_of_day', 'table_states'])
})

/** Made after all others, whose numbers are smaller. */
const last = keptWhile([], async () => null)

/**
 * Statements that look near the newest block first, and if not enough is found there, at all of history. So what is found does
 * not depend on that block.
 */
const NEAR_HEAD_FIRST: ReadonlySet<string> = new Set([
  'depth_at',
  'newest_states',
  'recent_reward_distributions',
  'recent_supply_events',
  'reward_pool',
])

type Statement = { query: string; query_params?: Record<string, unknown>; clickhouse_settings?: ClickHouseSettings }

/** Notes which tables each kept read names, and which statements are made for it. `begin` follows `states` without a pause. */
function watchReads(clickhouse: ClickHouseClient) {
  const reading = new AsyncLocalStorage<string>()
  const [named, made] = [new Map<string, string[]>(), new Map<string, Statement[]>()]
  let looked: string[] = []
  const states = {
    get: (table: string) => {
      looked.push(table)
      return undefined
    },
  } as unknown as TableStates
  const begin = (key: string): undefined => {
    const id = key.split(' ')[0] as string
    named.set(id, looked)
    looked = []
    reading.enterWith(id)
  }
  const kept: Keeping = { states: async () => states, results: { get: begin, set: () => {} } }
  const query = clickhouse.query.bind(clickhouse)
  clickhouse.query = (async (asked) => {
    const id = reading.getStore()
    if (id) made.set(id, [...(made.get(id) ?? []), asked])
    return query(asked)
  }) as typeof clickhouse.query
  return { kept, named, made }
}

/** The tables that a statement reads, also through views. */
async function tablesOf(clickhouse: ClickHouseClient, { query, query_params = {} }: Statement): Promise<string[]> {
  const read = async <Row>(query: string): Promise<Row[]> =>
    (await clickhouse.query({ query, query_params, format: 'JSONEachRow' })).json<Row>()
  const tree = await read<{ explain: string }>(`EXPLAIN QUERY TREE run_passes = 0 ${query}`)
  const identifiers = new Set(tree.map(({ explain }) => / identifier: (?:\w+\.)?(\w+)/.exec(explain)?.[1]))
  const all = await read<{ name: string; engine: string; as_select: string }>(
    'SELECT name, engine, as_select FROM system.tables WHERE database = currentDatabase()',
  )
  const found = all.filter(({ name }) => identifiers.has(name))
  const tables = await Promise.all(
    found.map(async ({ name, engine, as_select }) =>
      engine === 'View' ? tablesOf(clickhouse, { query: as_select }) : [name],
    ),
  )
  return tables.flat()
}

test('a read that is kept names every table that it reads', async ({ clickhouse }) => {
  const { stables, times, facts } = randomEconomy(7, START)
  await addBareBlocks(clickhouse, times, 1)
  for (const [table, rows] of Object.entries(facts))
    await insertFacts(clickhouse, table as 'role_events', rows as never[], table)
  const stable = stables[0] as string
  await addFacts(clickhouse, {
    lists: [tokenList({ sequence_number: 1, from_block: 1, holds_from: START, stables: [stable], track: 'paired' })],
    samples: pegSamples(stable, [{ at: times[0] as number, price: 'no_liquidity' }]),
  })
  const { kept, named, made } = watchReads(clickhouse)
  const as_of = new Date((times[0] as number) * 1000)
  await answers(clickhouse, stable, as_of, { kept })
  await databaseChainId(clickhouse, { kept })
  await refreshedPegSums(clickhouse, { stable }, { kept })
  await lostQuotesOf(clickhouse, { stables: [stable], as_of }, { kept })
  await lostQuote(clickhouse, { stable, as_of }, { kept })
  await last(clickhouse, {}, { kept })
  const ids = [...named.keys()].map(Number)
  expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: Math.max(...ids) + 1 }, (_, i) => i))

  const statements = [...made]
  for (const [id, asked] of statements)
    for (const statement of asked) {
      const looksNearHead = NEAR_HEAD_FIRST.has(`${statement.clickhouse_settings?.log_comment}`)
      const used = (await tablesOf(clickhouse, statement)).filter((table) => !(looksNearHead && table === 'blocks'))
      expect(used.length, statement.query).toBeGreaterThan(0)
      expect(named.get(id), statement.query).toEqual(expect.arrayContaining(used))
    }
})
