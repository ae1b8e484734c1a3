import type { ClickHouseClient } from '@clickhouse/client'
import { insertLeaseClaim, type JobLease, newestLease } from '../../clickhouse/jobs/leases.js'
import { PlumblineError } from '../../process/errors.js'

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

/** Another process runs the jobs by now. */
class LeaseLostError extends PlumblineError {
  constructor() {
    super('another process runs the jobs by now', { retryable: true })
  }
}

/** The right to run the jobs, for as long as it is renewed. */
export type Lease = {
  /** Greater than that of every lease before it: what fences off a process that has not noticed yet that it lost its own. */
  term: number
  /** Prolongs it; resolves to false where it is lost. */
  renew: () => Promise<boolean>
  /** Lets another process have it at once. */
  release: () => Promise<void>
}

/** Resolves to the lease, or to null while another process has it. */
export type TryLease = () => Promise<Lease | null>

/** Whether the term is the newest, so that no other process runs the jobs. */
export async function hasNewestTerm(clickhouse: ClickHouseClient, { term, instance }: JobLease): Promise<boolean> {
  const newest = await newestLease(clickhouse)
  return newest?.term === term && newest.instance === instance
}

/** Rejects with LeaseLostError where the term is not the newest. */
export async function checkTerm(clickhouse: ClickHouseClient, lease: JobLease): Promise<void> {
  if (!(await hasNewestTerm(clickhouse, lease))) throw new LeaseLostError()
}

/** Begins the first term after `after` that can be had; null where another process is first. */
export async function claimTerm(clickhouse: ClickHouseClient, instance: string, after: number): Promise<number | null> {
  for (let term = after + 1; ; term++) {
    await insertLeaseClaim(clickhouse, { term, instance })
    const newest = await newestLease(clickhouse)
    if (newest?.term === term && newest.instance === instance) return term
    if (newest && newest.term >= term) return null
    // A kill between the note of the claim's token and its row has used the term up.
  }
}
