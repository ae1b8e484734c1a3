import type { ClickHouseClient } from '@clickhouse/client'
import { insertWebhookFanOut } from '../../../clickhouse/webhooks/fan-outs.js'

/** How often it is recorded up to which event deliveries were created, and below which number none is pending. */
const PROGRESS_MS = 1000
const SETTLE_MS = 60_000

/** Records from time to time how far deliveries have come, so that the next dispatcher need not look at earlier ones. */
export class Progress {
  readonly #clickhouse: ClickHouseClient
  #sequence = 0
  #recordedAt = 0
  #settledAt = 0

  constructor(clickhouse: ClickHouseClient) {
    this.#clickhouse = clickhouse
  }

  /** Continues from the event up to which deliveries were created, as recorded. */
  resume(sequence: number): void {
    this.#sequence = sequence
  }

  /**
   * Records, if it is time, the event up to which deliveries were created and the number below which none is pending.
   * Work that is repeated after a crash adds nothing.
   */
  async record(plannedUpTo: number, smallestUnsettled: () => number): Promise<void> {
    const now = Date.now()
    const isTimeToSettle = now - this.#settledAt > SETTLE_MS
    const sequence = Math.max(this.#sequence, plannedUpTo)
    const isTimeToRecord = sequence > this.#sequence && now - this.#recordedAt > PROGRESS_MS
    if (!isTimeToSettle && !isTimeToRecord) return
    const settled_before = isTimeToSettle ? smallestUnsettled() : 0
    await insertWebhookFanOut(this.#clickhouse, { sequence, settled_before })
    this.#sequence = sequence
    this.#recordedAt = now
    if (isTimeToSettle) this.#settledAt = now
  }
}
