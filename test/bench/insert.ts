// Rows per second of ingest's inserts with every view on, from rows in memory, against INSERT ... SELECT of the same rows
// in the same ranges on the same engine; and where the time goes: encoding, what each insert costs whatever it holds,
// transport and parsing, writing, the views.
// node dist/test/bench/insert.js [--blocks 1000] [--rounds 5]
import { parseArgs } from 'node:util'
import { type Facts, factTables } from '../../clickhouse/facts/facts.js'
import { TABLES } from '../../clickhouse/tables.js'
import type { Batch } from '../../ingest/batch/complete-batch.js'
import { writeBatch } from '../../ingest/sinks/write-batch.js'
import { startBusyChain } from './busy-chain.js'
import { median, timed } from './measure.js'
import { begunDatabase, readSegments } from './segments.js'
import { type Database, rows, startStack } from './stack.js'

const { values: flags } = parseArgs({
  options: { blocks: { type: 'string', default: '1000' }, rounds: { type: 'string', default: '5' } },
})
const [blocks, rounds] = [Number(flags.blocks), Number(flags.rounds)]

const stack = await startStack()
let stop = async () => {}
try {
  const chain = await startBusyChain(`${stack.dir}/chain`, blocks)
  stop = chain.stop
  const source = await begunDatabase(stack, 'source', chain.rpcUrl)
  const batches: Batch[] = []
  for await (const batch of readSegments(source, chain.rpcUrl, chain)) batches.push(batch)
  await chain.stop()
  stop = async () => {}
  const sizeOf = (batch: Batch) => factTables.reduce((sum, table) => sum + batch.facts[table].length, 0)
  const total = batches.reduce((sum, batch) => sum + sizeOf(batch), 0)
  const written = factTables.filter((table) => batches.some(({ facts }) => facts[table].length > 0))

  const write = async ({ clickhouse }: Database, of = batches) => {
    for (const batch of of) await writeBatch(clickhouse, batch, '', false)
  }
  const singles = batches.map((batch) => ({
    ...batch,
    facts: Object.fromEntries(factTables.map((table) => [table, batch.facts[table].slice(0, 1)])) as unknown as Facts,
  }))
  const copy = async ({ clickhouse, env }: Database) => {
    for (const { from, to, facts, firstTime, lastTime } of batches) {
      const tables = factTables.filter((table) => facts[table].length > 0)
      await Promise.all(
        tables.map((table) => {
          const time = TABLES[table].isPartitioned ? `AND block_time BETWEEN ${firstTime} AND ${lastTime}` : ''
          const query = `INSERT INTO ${env.CLICKHOUSE_DATABASE}.${table} SELECT * FROM source.${table} WHERE block_number BETWEEN ${from} AND ${to} ${time}`
          return clickhouse.command({ query })
        }),
      )
    }
  }
  const encode = async () => {
    for (const { facts } of batches) for (const table of factTables) for (const row of facts[table]) JSON.stringify(row)
  }
  /** A database whose tables keep nothing and have no views. */
  const discarding = async (name: string): Promise<Database> => {
    const database = await stack.database(name)
    await withoutViews(database)
    for (const table of written) {
      await database.clickhouse.command({ query: `DROP TABLE ${table}` })
      await database.clickhouse.command({ query: `CREATE TABLE ${table} AS source.${table} ENGINE = Null` })
    }
    return database
  }
  const withoutViews = async (database: Database): Promise<Database> => {
    const views = await rows<{ name: string }>(
      database.clickhouse,
      `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView'`,
    )
    for (const { name } of views) await database.clickhouse.command({ query: `DROP VIEW ${name}` })
    return database
  }

  await write(source)
  const ways: Record<string, { make: (name: string) => Promise<Database>; run: (into: Database) => Promise<void> }> = {
    'encode the rows': { make: async () => source, run: encode },
    'insert one row each, nothing kept': { make: discarding, run: (into) => write(into, singles) },
    'insert, nothing kept': { make: discarding, run: write },
    'insert, no views': { make: async (name) => withoutViews(await stack.database(name)), run: write },
    'insert, all views': { make: stack.database, run: write },
    'INSERT ... SELECT, no views': { make: async (name) => withoutViews(await stack.database(name)), run: copy },
    'INSERT ... SELECT, all views': { make: stack.database, run: copy },
  }
  const times: Record<string, number[]> = {}
  for (let round = 0; round < rounds; round++) {
    for (const [i, [name, { make, run }]] of Object.entries(ways).entries()) {
      const database = await make(`round_${round}_${i}`)
      times[name] = [...(times[name] ?? []), await timed(() => run(database))]
      if (run === copy || name === 'insert, all views') await check(database)
      if (database !== source)
        await source.clickhouse.command({ query: `DROP DATABASE ${database.env.CLICKHOUSE_DATABASE}` })
    }
  }

  async function check({ clickhouse, env }: Database): Promise<void> {
    const counts = await Promise.all(
      written.map((table) =>
        rows<{ n: string }>(clickhouse, `SELECT count() AS n FROM ${env.CLICKHOUSE_DATABASE}.${table}`),
      ),
    )
    const found = counts.reduce((sum, [count]) => sum + Number(count?.n), 0)
    if (found !== total) throw new Error(`${found} rows are in, not ${total}`)
  }

  console.log(`${total} rows of ${blocks} blocks, in ${batches.length} batches for ${written.length} tables`)
  for (const [name, values] of Object.entries(times)) {
    const ms = median(values)
    console.log(
      `${name.padEnd(33)}: ${ms.toFixed(0).padStart(6)} ms, ${Math.round(total / (ms / 1000)).toLocaleString('en')} rows/s`,
    )
  }
  const of = (name: string) => median(times[name] ?? [])
  console.log(`ratio of medians: ${(of('INSERT ... SELECT, all views') / of('insert, all views')).toFixed(2)}`)
} finally {
  await stop()
  await stack.close()
}
