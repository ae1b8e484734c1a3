import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { expect, test } from 'vitest'
import { depth } from '../../../../test/support/depth.js'
import { clientOf, httpTo, start, withDirectory } from './engine.js'

/** Number of kills: 30 for the full run. */
const rounds = depth('KILL_ROUNDS', 2, 30)
const writers = 6
const batchRows = 200

const deduplicated = 'SETTINGS non_replicated_deduplication_window = 10000'
const tables = [
  `CREATE TABLE IF NOT EXISTS base (batch UInt32, row UInt32) ENGINE = MergeTree ORDER BY batch ${deduplicated}`,
  `CREATE TABLE IF NOT EXISTS counts (batch UInt32, rows SimpleAggregateFunction(sum, UInt64))
   ENGINE = AggregatingMergeTree ORDER BY batch ${deduplicated}`,
  'CREATE MATERIALIZED VIEW IF NOT EXISTS counts_mv TO counts AS SELECT batch, count() AS rows FROM base GROUP BY batch',
]

/** Writes one batch. Repeating it must not change anything. */
const insert = (client: ClickHouseClient, batch: number, token = `b${batch}`) =>
  client.insert({
    table: 'base',
    values: Array.from({ length: batchRows }, (_, row) => ({ batch, row })),
    format: 'JSONEachRow',
    clickhouse_settings: { insert_deduplication_token: token, deduplicate_blocks_in_dependent_materialized_views: 1 },
  })

/** Rows by batch, in the table and in the view. */
async function stored(url: string): Promise<{ base: Map<number, number>; view: Map<number, number> }> {
  const counts = async (sql: string) => {
    const { text } = await httpTo(url)(`SELECT batch, ${sql} GROUP BY batch FORMAT TSV`)
    const lines = text.split('\n').filter(Boolean)
    return new Map(lines.map((line) => line.split('\t').map(Number) as [number, number]))
  }
  return {
    base: await counts('uniqExact(row) * (count() = uniqExact(row)) FROM base'),
    view: await counts('sum(rows) FROM counts'),
  }
}

test(
  'kill -9 during inserts loses no acknowledged batch and duplicates none, in the table and in its view',
  async () => {
    const seen = {
      acknowledged: 0,
      interrupted: 0,
      kept: 0,
      lostThoughKnown: 0,
      viewLostThoughKnown: 0,
      viewKeptThoughLost: 0,
    }
    await withDirectory(async (directory) => {
      const acknowledged = new Set<number>()
      let sequence = 0
      const check = async (url: string) => {
        const { base, view } = await stored(url)
        for (const batch of acknowledged) {
          expect(base.get(batch), `batch ${batch}`).toBe(batchRows)
          expect(view.get(batch), `batch ${batch} in the view`).toBe(batchRows)
        }
        // No batch is stored partly or twice, acknowledged or not.
        for (const [batch, count] of base) expect(count, `batch ${batch}`).toBe(batchRows)
        for (const [batch, count] of view) expect(count, `batch ${batch} in the view`).toBe(batchRows)
        return { base, view }
      }
      for (let round = 0; round < rounds; round++) {
        const engine = await start(directory)
        const client = clientOf(engine.url)
        for (const query of tables) await client.command({ query })
        const before = await check(engine.url)
        const interrupted = Array.from({ length: sequence }, (_, batch) => batch).filter((n) => !acknowledged.has(n))
        for (const batch of interrupted) {
          seen.interrupted++
          if (before.base.has(batch)) seen.kept++
          await insert(client, batch)
        }
        const after = await check(engine.url)
        for (const batch of interrupted) {
          // After a kill between storing a token and storing its rows, the engine treats the repeat as a duplicate, for
          // the table or for its view. It gives no error, so a writer has to check and insert what is missing.
          if (!after.base.has(batch)) {
            seen.lostThoughKnown++
            // The view may have kept what the table has lost, and would count the next insert on top of it.
            if (after.view.has(batch)) {
              seen.viewKeptThoughLost++
              await client.command({
                query: `ALTER TABLE counts DELETE WHERE batch = ${batch} SETTINGS mutations_sync = 2`,
              })
            }
            await insert(client, batch, `b${batch}-again`)
          } else if (!after.view.has(batch)) {
            seen.viewLostThoughKnown++
            const query = `INSERT INTO counts SELECT batch, count() FROM base WHERE batch = ${batch} GROUP BY batch`
            await client.command({ query })
          }
          acknowledged.add(batch)
        }
        await check(engine.url)
        const work = Array.from({ length: writers }, async () => {
          for (;;) {
            const batch = sequence++
            await insert(client, batch)
            acknowledged.add(batch)
          }
        })
        await sleep(500 + ((round * 173) % 400))
        engine.child.kill('SIGKILL')
        await Promise.allSettled(work)
        await client.close()
      }
      const engine = await start(directory)
      await check(engine.url)
      seen.acknowledged = acknowledged.size
      await engine.stop()
    })
    console.log(`kill -9, ${rounds} rounds of ${writers} writers: ${JSON.stringify(seen)}`)
    expect(seen.acknowledged).toBeGreaterThan(10 * rounds)
  },
  60_000 + rounds * 20_000,
)
