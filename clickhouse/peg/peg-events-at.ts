import type { ClickHouseClient } from '@clickhouse/client'
import { jobHorizon } from '../jobs/job-horizon.js'
import { maxPegDeviation } from './max-peg-deviation.js'
import { newestSample } from './peg-sample.js'
import { type PegEventKey, pegEvents } from './x-peg-events.js'

type Asked = { stable: string; as_of: Date | null; limit: number; after?: PegEventKey | undefined }

/** A peg break as known at some instant, at which it has lasted `duration_seconds`. */
export type PegEvent = {
  severity: 'mild' | 'severe'
  started_at: Date
  started_block: number
  ended_at: Date | null
  ended_block: number | null
  duration_seconds: number
  max_deviation_micros: number
}

/**
 * A stable's peg breaks as known at `as_of`, now where that is null, newest first: at most `limit` of those after the
 * key `after`. What the detector has not judged yet is not known. A break that goes on lasts until the newest sample.
 */
export async function pegEventsAt(
  clickhouse: ClickHouseClient,
  { stable, limit, after, ...asked }: Asked,
  options?: { signal?: AbortSignal },
): Promise<PegEvent[]> {
  const [horizon] = await jobHorizon(clickhouse, { job: 'peg-events' }, options)
  if (!horizon) return []
  const as_of = asked.as_of !== null && asked.as_of < horizon.slot_at ? asked.as_of : horizon.slot_at
  const [events, [newest]] = await Promise.all([
    pegEvents(clickhouse, { stable, as_of, limit, after }, options),
    newestSample(clickhouse, { stable, as_of }, options),
  ])
  const seconds = (from: Date, to: Date): number => (to.getTime() - from.getTime()) / 1000
  return Promise.all(
    events.map(async (event) => {
      const { started_at, started_block, ended_at } = event
      if (ended_at !== null) return { ...event, duration_seconds: seconds(started_at, ended_at) }
      const until = newest?.sample.block_time ?? as_of
      const [max] = await maxPegDeviation(clickhouse, { stable, started_at, started_block, to: until }, options)
      return { ...event, ...max, duration_seconds: seconds(started_at, until) }
    }),
  )
}
