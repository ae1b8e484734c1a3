import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { z } from 'zod'
import { type ForkSchedule, type ForkTime, forkSchedule, insertForkSchedule } from '../../clickhouse/chain/forks.js'
import { forkTimes, isHandled } from '../chain/forks.js'
import type { Network } from '../chain/networks.js'
import type { Rpc } from '../sources/rpc.js'

/** How often the node is asked for its forks, in milliseconds: they are known weeks before. More often while it lists none. */
const [ASK_MS, ASK_AGAIN_MS] = [3_600_000, 300_000]

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

type Source = { clickhouse: ClickHouseClient; rpc: Pick<Rpc, 'request'>; network: Network }

/** When each fork came to the chain: as its node lists them, else as it listed them when it last did. Rejects with QueryError. */
export async function readForkTimes({ clickhouse, rpc, network }: Source): Promise<ForkTime[]> {
  const listed = (await readForkSchedule(rpc))?.schedule ?? (await forkSchedule(clickhouse))?.schedule
  return forkTimes(network, listed ?? null)
}

type Options = Source & {
  log: Logger
  signal: AbortSignal
  /** Called with the times of the forks whenever the node lists them. */
  onListed: (forks: readonly ForkTime[]) => void
}

/**
 * Asks the node for its forks at once and then every hour, until `signal` aborts: records when each came, for quotes and the status,
 * and warns of those that this version does not handle. A node that does not list them, or a database that is away, is no reason
 * to stop.
 */
export async function noteForks({ clickhouse, rpc, network, log, signal, onListed }: Options): Promise<void> {
  const record = async (forks: ForkSchedule | null): Promise<void> => {
    const recorded = await forkSchedule(clickhouse)
    const schedule = forkTimes(network, forks?.schedule ?? recorded?.schedule ?? null)
    // A node that does not answer this time lists what it did before.
    if (forks === null && recorded?.schedule.length === schedule.length) return
    await insertForkSchedule(clickhouse, { active: null, unhandled: [], ...recorded, ...forks, schedule })
  }
  while (!signal.aborted) {
    const forks = await readForkSchedule(rpc)
    if (forks) onListed(forkTimes(network, forks.schedule))
    if (forks && forks.unhandled.length > 0)
      log.warn(forks, 'the chain has forks that this version does not handle: its events may not be understood')
    await record(forks).catch((error: Error) => log.debug({ reason: error.message }, 'the forks could not be recorded'))
    await sleep(forks ? ASK_MS : ASK_AGAIN_MS, undefined, { signal, ref: false }).catch(() => {})
  }
}
