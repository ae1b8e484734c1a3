/** A job that runs in slots: the instants at which it is about the chain, one each period. */
export type SlotJob = {
  /** Also the name of its worker. */
  name: string
  /** Seconds between two slots, which divide an hour; slots are the multiples of it in unix time. */
  period_seconds: number
  /** Jobs whose rows it reads: a slot is due once each of them has done one at or after it. */
  after?: readonly string[]
}

/** Every job that runs in slots, in no order: what one reads of another is named by `after`. */
export const SLOT_JOBS: readonly SlotJob[] = [
  { name: 'peg-events', period_seconds: 120 },
  { name: 'risk', period_seconds: 300, after: ['peg-events'] },
  { name: 'reserves', period_seconds: 3600 },
]
