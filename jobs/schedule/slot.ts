/** One due run of a job. Its work is a function of the facts with block_time <= `at`. */
export type Slot = {
  job: string
  at: Date
  /**
   * Grows by one with each rollback of reorganized blocks and with each backfill; a slot that has to be run again has a
   * higher one.
   */
  revision: number
  /** Names the slot and its revision: the rows of a run carry it, so that a repeat changes nothing. */
  token: string
}
