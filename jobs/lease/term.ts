import type { ClickHouseClient } from '@clickhouse/client'
import { insertLeaseClaim, type JobLease, newestLease } from '../../clickhouse/jobs/leases.js'
import { PlumblineError } from '../../process/errors.js'

/**
 * The time until which this process certainly has the lease. Its threads share it through `memory`. Uses the machine's
 * monotonic clock, which continues while a process is suspended, so a process that wakes up finds that its lease has
 * expired.
 */
export class LeaseValidity {
  readonly memory: SharedArrayBuffer
  readonly #until: BigInt64Array

  constructor(memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#until = new BigInt64Array(memory)
  }

  /** In nanoseconds of process.hrtime; initially 0. */
  set(untilNs: bigint): void {
    Atomics.store(this.#until, 0, untilNs)
  }

  get isValid(): boolean {
    return process.hrtime.bigint() < Atomics.load(this.#until, 0)
  }
}

/** Another process has taken over the jobs. */
class LeaseLostError extends PlumblineError {
  constructor() {
    super('another process has taken over the jobs', { retryable: true })
  }
}

/** The right to run the jobs, for as long as it is renewed. */
export type Lease = {
  /** Greater than that of every earlier lease. Fences off a process that has not noticed yet that it lost its lease. */
  term: number
  /** Renews the lease; resolves to false if it is lost. */
  renew: () => Promise<boolean>
  /** Releases the lease, so that another process can acquire it at once. */
  release: () => Promise<void>
}

/** Tries to acquire the lease; resolves to null while another process has it. */
export type TryLease = () => Promise<Lease | null>

/** Whether the lease's term is the newest one, so that no other process runs the jobs. */
export async function hasNewestTerm(clickhouse: ClickHouseClient, { term, instance }: JobLease): Promise<boolean> {
  const newest = await newestLease(clickhouse, { from: term })
  return newest?.term === term && newest.instance === instance
}

/** Rejects with LeaseLostError if the lease's term is not the newest. */
export async function checkTerm(clickhouse: ClickHouseClient, lease: JobLease): Promise<void> {
  if (!(await hasNewestTerm(clickhouse, lease))) throw new LeaseLostError()
}

/** Claims the first available term after `after`; resolves to null if another process claims one first. */
export async function claimTerm(clickhouse: ClickHouseClient, instance: string, after: number): Promise<number | null> {
  for (let term = after + 1; ; term++) {
    await insertLeaseClaim(clickhouse, { term, instance })
    const newest = await newestLease(clickhouse, { from: term })
    if (newest?.term === term && newest.instance === instance) return term
    if (newest) return null
    // A process was killed after its claim's token was recorded and before its row was: this term stays unused.
  }
}
