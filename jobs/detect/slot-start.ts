import type { ClickHouseClient } from '@clickhouse/client'
import { historyStart } from '../../clickhouse/chain/history.js'
import { type JobName, PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import type { Slot } from '../schedule/run-slots.js'

/**
 * The time after which the samples of a slot begin, and whether the slot is the first: the first one after the first
 * block, whose time may itself be that of a slot.
 */
export async function startOf(
  clickhouse: ClickHouseClient,
  { at }: Pick<Slot, 'at'>,
  job: JobName,
): Promise<{ after: Date; isFirst: boolean }> {
  const previous = at.getTime() - PERIOD_SECONDS[job] * 1000
  const start = (await historyStart(clickhouse))?.getTime() ?? previous
  return { after: new Date(start === previous ? previous - 1000 : previous), isFirst: start >= previous }
}
