import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { newestBlock } from '../../clickhouse/chain/blocks.js'
import { forkSchedule } from '../../clickhouse/chain/forks.js'
import { keepBooks } from '../../clickhouse/exchange/stored-books.js'
import { NETWORKS, type Network } from '../chain/networks.js'

/** How often it is looked whether a snapshot is due, in milliseconds. */
const LOOK_MS = 60_000

type Options = { clickhouse: ClickHouseClient; network: Network; log: Logger; signal: AbortSignal }

/**
 * Keeps the exchange's books of final blocks in snapshots, at once and then every minute, until `signal` aborts. Without them
 * answers are as right, and take longer: a database that is away is no reason to stop.
 */
export async function keepBooksOfFinal({ clickhouse, network, log, signal }: Options): Promise<void> {
  while (!signal.aborted) {
    try {
      const newest = await newestBlock(clickhouse)
      const final = (newest?.block_number ?? 0) - NETWORKS[network].deepestReorg
      const forks = await forkSchedule(clickhouse)
      const added = final > 0 ? await keepBooks(clickhouse, final, forks?.schedule ?? []) : 0
      if (added > 0) log.debug({ added, final }, 'kept the books of the exchange')
    } catch (error) {
      log.debug({ reason: (error as Error).message }, 'the books of the exchange could not be kept')
    }
    await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => {})
  }
}
