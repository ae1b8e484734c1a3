/** A state that held in a window, and for how many of its seconds. */
type Held<State> = { state: State; seconds: number }

/**
 * For how long each of a stable's states, in chain order, held in the `length` seconds up to an instant: from its block to the
 * next one that is known, for `most` seconds at most. Without those that did not hold for a second.
 */
export function heldIn<State>(
  states: readonly State[],
  timeOf: (state: State) => number,
  { at, length, most }: { at: number; length: number; most: number },
): Held<State>[] {
  const before = states.filter((state) => timeOf(state) <= at && timeOf(state) > at - length - most)
  return before.flatMap((state, i) => {
    const next = before[i + 1]
    const until = Math.min(next ? timeOf(next) : at, at, timeOf(state) + most)
    const seconds = until - Math.max(timeOf(state), at - length)
    return seconds > 0 ? [{ state, seconds }] : []
  })
}
