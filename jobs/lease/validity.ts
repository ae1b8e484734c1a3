/**
 * Until when the lease is this process's own for sure, for its threads to see: they share `memory`. By the clock of the
 * machine that only ever goes forward, also while a process is suspended; so one that wakes up finds its lease run out.
 */
export class LeaseValidity {
  readonly memory: SharedArrayBuffer
  readonly #until: BigInt64Array

  constructor(memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#until = new BigInt64Array(memory)
  }

  /** Begins at 0, in nanoseconds of process.hrtime. */
  set(untilNs: bigint): void {
    Atomics.store(this.#until, 0, untilNs)
  }

  get isGood(): boolean {
    return process.hrtime.bigint() < Atomics.load(this.#until, 0)
  }
}
