/** A slot of a job that was run to its end, and the newest revision of history under which it was. Times in unix seconds. */
export type SlotRun = { job: string; slot_at: number; revision: number }

/** A removal of all blocks after `kept_time`. */
export type Rollback = { sequence_number: number; kept_time: number; is_done: boolean }

/** A backfill at its end, whose oldest block has `kept_time`; `after_rollback` is the newest rollback before it. */
export type HistoryChange = { sequence_number: number; kept_time: number; after_rollback: number }

/** The slots of a job, oldest first, in unix seconds. */
type Slots = {
  /** Whose results hold: they were run since the last change of the blocks up to them. */
  searched: readonly number[]
  /** Those that show a result: blocks may have been added since, but none was removed. */
  shown: readonly number[]
}

export type SlotsByJob = ReadonlyMap<string, Slots>

/** Which slots each job has done, by the rules of revisions: each change has a number, and outdates the runs below it. */
export function slotsByJob(
  runs: readonly SlotRun[],
  rollbacks: readonly Rollback[],
  changes: readonly HistoryChange[],
): SlotsByJob {
  const removals = rollbacks
    .filter(({ is_done }) => is_done)
    .map(({ sequence_number, kept_time }) => {
      const before = changes.filter(({ after_rollback }) => after_rollback < sequence_number)
      const revision = sequence_number + Math.max(0, ...before.map((change) => change.sequence_number))
      return { revision, kept_time }
    })
  const additions = changes.map(({ after_rollback, sequence_number, kept_time }) => ({
    revision: after_rollback + sequence_number,
    kept_time,
  }))
  const timesOf = (
    runsOfJob: readonly SlotRun[],
    outdating: readonly { revision: number; kept_time: number }[],
  ): number[] =>
    runsOfJob
      .filter(({ slot_at, revision }) =>
        outdating.every((change) => change.kept_time > slot_at || change.revision <= revision),
      )
      .map(({ slot_at }) => slot_at)
      .sort((a, b) => a - b)
  const slotsOf = (job: string): Slots => {
    const runsOfJob = runs.filter((run) => run.job === job)
    return { searched: timesOf(runsOfJob, [...removals, ...additions]), shown: timesOf(runsOfJob, removals) }
  }
  return new Map([...new Set(runs.map(({ job }) => job))].map((job) => [job, slotsOf(job)]))
}

/** What a job has to have searched for an answer: a slot stands for the `period` seconds up to it. */
export type JobSearch = {
  slots: readonly number[]
  period: number
  /** Whether the answer is the result of the newest slot alone, whatever was done before it. */
  isNewest?: boolean
  /** Whether the answer has more than what the job has found. */
  isPart?: boolean
}

type Range = { from: number; to: number }

/**
 * The time between two seconds, both included, that no slot stands for. The last two periods are a job's normal delay: they
 * do not count unless more is left out there.
 */
export function notSearched({ slots, period, isNewest }: JobSearch, from: number, to: number): Range[] {
  const newest = slots.at(-1)
  const gaps: Range[] = []
  const add = (after: number, before: number): void => {
    const range = { from: Math.max(from, after), to: Math.min(to, before) }
    const isInside = range.from === range.to && after < range.from && range.from < before
    if (range.from < range.to || isInside) gaps.push(range)
  }
  for (const [i, slot] of isNewest ? [] : slots.entries()) {
    const before = slots[i - 1] ?? Number.NEGATIVE_INFINITY
    if (before < slot - period) add(before, slot - period)
  }
  if (newest === undefined || newest + 2 * period < to)
    add(newest ?? Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
  return gaps
}

/** What is left of a range without others. */
export const rangeWithout = (range: Range, holes: readonly Range[]): Range[] =>
  holes.reduce<Range[]>(
    (parts, { from, to }) =>
      parts.flatMap((part) => {
        if (from > part.to || to < part.from) return [part]
        const pieces = [
          { from: part.from, to: from },
          { from: to, to: part.to },
        ]
        return pieces.filter((piece) => piece.from < piece.to)
      }),
    [range],
  )

/** Ranges in order; those that overlap or touch become one. */
export function joined(ranges: readonly Range[]): Range[] {
  const whole: Range[] = []
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = whole.at(-1)
    if (last && range.from <= last.to) last.to = Math.max(last.to, range.to)
    else whole.push({ ...range })
  }
  return whole
}
