import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { type ChainHead, insertChainHead } from '../../clickhouse/chain/heads.js'

/** How often the head is noted at most, in milliseconds. Whoever looks at it wants to know the lag, not each block. */
const NOTE_MS = 5000

/**
 * A function that notes heads of the chain, one every few seconds, behind the back of its caller: how far behind ingest is
 * can be told by nobody else, as only ingest talks to the node, and a note that fails is no reason to stop.
 * `nowMs` is a clock that only goes forward.
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
      .catch((error: Error) => log.debug({ reason: error.message }, 'the head could not be noted'))
      .finally(() => {
        isWriting = false
      })
  }
}
