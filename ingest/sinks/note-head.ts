import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { type ChainHead, insertChainHead } from '../../clickhouse/chain/heads.js'

/** Shortest time between two recorded heads, in milliseconds: readers want to know the lag, not each block. */
const NOTE_MS = 5000

/**
 * A function that records heads of the chain in the background, at most one every few seconds. Only ingest talks to the
 * node, so nobody else can know how far behind ingest is; a failure is no reason to stop. `nowMs` is a monotonic clock.
 */
export function noteHeads(
  clickhouse: ClickHouseClient,
  tag: ChainHead['tag'],
  log: Logger,
  nowMs = () => performance.now(),
): (head: { number: number; timestamp: number }) => void {
  let notedAt = Number.NEGATIVE_INFINITY
  let isWriting = false
  return ({ number, timestamp }) => {
    if (isWriting || nowMs() - notedAt < NOTE_MS) return
    isWriting = true
    notedAt = nowMs()
    insertChainHead(clickhouse, { tag, block_number: number, block_time: timestamp })
      .catch((error: Error) => log.debug({ reason: error.message }, 'the head could not be recorded'))
      .finally(() => {
        isWriting = false
      })
  }
}
