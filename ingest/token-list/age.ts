const DAY_MS = 86_400_000

/** A list that is older may lack tokens that have become important since. */
const OLD_DAYS = 30

/** The age of a list in whole days, and whether it should be replaced. `current_at`: when it last was the newest. */
export function listAge(current_at: Date, now: Date): { days: number; isOld: boolean } {
  const days = Math.max(0, Math.floor((now.getTime() - current_at.getTime()) / DAY_MS))
  return { days, isOld: days > OLD_DAYS }
}
