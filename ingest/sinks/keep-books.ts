import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { forkSchedule } from '../../clickhouse/chain/forks.js'
import { keepBooks } from '../../clickhouse/exchange/stored-books.js'
import { NETWORKS, type Network } from '../chain/networks.js'

/** How often a snapshot may be due, in milliseconds. */
const KEEP_MS = 60_000

type Options = { clickhouse: ClickHouseClient; network: Network; log: Logger; signal: AbortSignal }

/**
 * Returns what is to be called with each committed block: now and then it keeps the exchange's books of final blocks in
 * snapshots. Without them answers are as right and take longer, so a failure only warns.
 */
export function booksKeeper({ clickhouse, network, log, signal }: Options): (committed: number) => void {
  let nextAt = 0
  let isKeeping = false
  const keep = async (final: number): Promise<void> => {
    const forks = await forkSchedule(clickhouse)
    const added = await keepBooks(clickhouse, final, forks?.schedule ?? [])
    if (added > 0) log.debug({ added, final }, 'kept the books of the exchange')
  }
  return (committed) => {
    const final = committed - NETWORKS[network].deepestReorg
    if (isKeeping || final <= 0 || performance.now() < nextAt) return
    isKeeping = true
    keep(final)
      .catch((error: Error) => {
        if (!signal.aborted)
          log.warn(
            { reason: error.message },
            'the books of the exchange could not be kept: answers about them take longer',
          )
      })
      .finally(() => {
        isKeeping = false
        nextAt = performance.now() + KEEP_MS
      })
  }
}
