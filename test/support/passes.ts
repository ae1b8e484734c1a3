import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { PassTask, Slot, Slots } from '../../jobs/schedule/run-slots.js'
import type { Random } from '../../local/chain/random.js'
import { storedEvents } from './events.js'

/** A client whose n-th insert fails, before or after it is stored. */
function dying(clickhouse: ClickHouseClient, nth: number, isStored: boolean): ClickHouseClient {
  let inserts = 0
  return new Proxy(clickhouse, {
    get(target, property) {
      if (property !== 'insert') return Reflect.get(target, property, target)
      return async (...args: Parameters<ClickHouseClient['insert']>) => {
        const isLast = ++inserts === nth
        if (isLast && !isStored) throw new Error('killed')
        const result = await target.insert(...args)
        if (isLast) throw new Error('killed')
        return result
      }
    },
  })
}

/**
 * Does the slots in passes of random lengths; some die half-way, and the next one begins where they did and ends elsewhere.
 * Resolves to how many died.
 */
export async function inPasses(
  clickhouse: ClickHouseClient,
  detect: PassTask['pass'],
  slots: readonly Slot[],
  random: Random,
): Promise<number> {
  let kills = 0
  for (let done = 0; done < slots.length; ) {
    const pass = slots.slice(done, done + random.int(1, random.pick([2, 10, 80]))) as unknown as Slots
    if (random.chance(0.4)) {
      const client = dying(clickhouse, random.int(1, 3), random.chance(0.5))
      await detect(client, pass).catch((error) => {
        expect(String(error)).toContain('killed')
        kills++
      })
      continue
    }
    expect(await detect(clickhouse, pass)).toHaveLength(pass.length)
    done += pass.length
  }
  return kills
}

/** What detectors have written to these tables, as readers see it, and the log in its order except when it was written. */
export async function written(
  clickhouse: ClickHouseClient,
  tables: readonly string[],
): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  for (const table of tables) {
    const query = `SELECT * FROM ${table} FINAL ORDER BY ALL`
    found[table] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
  }
  const events = await storedEvents(clickhouse)
  found.events = events.map(({ recorded_at: _, sequence: __, data: { recorded_at: ___, ...data }, ...event }) => ({
    ...event,
    data,
  }))
  return found
}
