import type { ClickHouseClient } from '@clickhouse/client'
import { SLOT_JOBS } from '../../clickhouse/jobs/periods.js'
import { type SlotHistory, slotHistory, waitingUntil } from '../../clickhouse/jobs/slots.js'
import { QUERY_TIMEOUT_MS } from './query-signal.js'

/** From where on the detectors search. */
export type KnownSearches = {
  /** The instant before which a job's slots wait for facts that are not read yet, in unix seconds. Rejects with QueryError. */
  from: (job: string) => Promise<number>
}

/** What changes it are backfills, which take longer. */
const MAX_AGE_MS = 2000

/** Keeps how much history there is for a few seconds. `nowMs` is a monotonic clock. */
export function createKnownSearches(clickhouse: ClickHouseClient, nowMs = () => performance.now()): KnownSearches {
  let known: { history: Promise<SlotHistory | null>; readAt: number } | null = null
  const read = (): Promise<SlotHistory | null> => {
    const history = slotHistory(clickhouse, { signal: AbortSignal.timeout(QUERY_TIMEOUT_MS) })
    const reading = { history, readAt: nowMs() }
    known = reading
    history.catch(() => {
      if (known === reading) known = null
    })
    return history
  }
  return {
    from: async (name) => {
      const history = await (known && nowMs() - known.readAt < MAX_AGE_MS ? known.history : read())
      const job = SLOT_JOBS.find((one) => one.name === name)
      return history && job ? waitingUntil(job, history).until : 0
    },
  }
}
