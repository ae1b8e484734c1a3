/** A repeatable stream of random draws. */
export type Random = {
  /** The next draw in [0, 1). */
  next: () => number
  /** A whole number in [min, max], both included. */
  int: (min: number, max: number) => number
  pick: <T>(items: readonly T[]) => T
  chance: (probability: number) => boolean
}

/**
 * Random draws that depend only on `seed`, `stream` and `keys`, so that the events of block 900 can be computed without
 * those of the 899 blocks before it.
 */
export function randomFor(seed: number, stream: string, ...keys: number[]): Random {
  let state = mix(0x9e3779b9, seed)
  for (let i = 0; i < stream.length; i++) state = mix(state, stream.charCodeAt(i))
  for (const key of keys) state = mix(state, key)

  // mulberry32: has 32 bits of state, passes common statistical tests, and needs no bigint.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    int,
    pick: <T>(items: readonly T[]): T => {
      if (items.length === 0) throw new Error('cannot pick from an empty list')
      return items[int(0, items.length - 1)] as T
    },
    chance: (probability) => next() < probability,
  }
}

/** A copy of `items` in an order drawn from `random`. */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const copy = [...items]
  for (let i = copy.length - 1; i > 0; i--) {
    const j = random.int(0, i)
    const held = copy[i] as T
    copy[i] = copy[j] as T
    copy[j] = held
  }
  return copy
}

function mix(state: number, value: number): number {
  let h = Math.imul(state ^ value, 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) | 0
}
