/** A source of random choices that depend only on a seed. */
export class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to below `below` (mulberry32). */
  int(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below)
  }

  chance(share: number): boolean {
    return this.int(1_000_000) < share * 1_000_000
  }

  pick<T>(values: readonly T[]): T {
    return values[this.int(values.length)] as T
  }

  /** `count` values that `make` makes. */
  times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make)
  }
}
