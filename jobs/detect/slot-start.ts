import type { ClickHouseClient } from '@clickhouse/client'
import { historyStart } from '../../clickhouse/chain/history.js'
import { type JobName, PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import type { Slot, Slots } from '../schedule/run-slots.js'

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

/** A slot of a pass: its samples are those after `after`, up to and including `at`; as `span`, in unix seconds. */
export type SlotSpan = { after: Date; at: Date; span: { after: number; at: number } }

/** Consecutive slots, given the time after which the samples of the first one begin. */
export const spansOf = (slots: Slots, start: Date): SlotSpan[] =>
  slots.map(({ at }, i) => {
    const after = slots[i - 1]?.at ?? start
    return { after, at, span: { after: after.getTime() / 1000, at: at.getTime() / 1000 } }
  })
