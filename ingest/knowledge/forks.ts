import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { z } from 'zod'
import { type ForkSchedule, insertForkSchedule } from '../../clickhouse/chain/forks.js'
import { isHandled } from '../chain/forks.js'
import type { Rpc } from '../sources/rpc.js'

/** How often the node is asked for its forks, in milliseconds: they are known weeks before. */
const ASK_MS = 3_600_000

/** What a node lists; times fit 32 bits until 2106, and one that does not is as far away as that. */
const Listed = z.object({
  active: z.string().max(100),
  schedule: z
    .array(z.object({ name: z.string().max(100), activationTime: z.number().nonnegative(), active: z.boolean() }))
    .max(1000),
})
const LATEST_TIME = 2 ** 32 - 1

/** The forks that the node lists; null if it cannot list them, as a local chain, or its answer is another. */
export async function readForkSchedule(rpc: Pick<Rpc, 'request'>): Promise<ForkSchedule | null> {
  const listed = await rpc.request('tempo_forkSchedule', [], Listed).catch(() => null)
  if (listed === null) return null
  const forks = listed.schedule.map(({ name, activationTime, active }) => ({
    name,
    activation_time: Math.min(Math.floor(activationTime), LATEST_TIME),
    is_active: active,
  }))
  return { active: listed.active, schedule: forks, unhandled: forks.filter(({ name }) => !isHandled(name)) }
}

type Options = { clickhouse: ClickHouseClient; rpc: Rpc; log: Logger; signal: AbortSignal }

/**
 * Asks the node for its forks at once and then every hour, until `signal` aborts: records them for the status, and warns of
 * those that this version does not handle. A node that does not list them, or a database that is away, is no reason to stop.
 */
export async function noteForks({ clickhouse, rpc, log, signal }: Options): Promise<void> {
  while (!signal.aborted) {
    const forks = await readForkSchedule(rpc)
    if (forks && forks.unhandled.length > 0)
      log.warn(forks, 'the chain has forks that this version does not handle: its events may not be understood')
    if (forks)
      await insertForkSchedule(clickhouse, forks).catch((error: Error) =>
        log.debug({ reason: error.message }, 'the forks could not be recorded'),
      )
    await sleep(ASK_MS, undefined, { signal, ref: false }).catch(() => {})
  }
}
