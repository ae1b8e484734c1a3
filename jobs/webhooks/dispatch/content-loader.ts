import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { deliveryContents } from '../../../clickhouse/webhooks/deliveries.js'
import type { FairQueue, Pending } from './fair-queue.js'
import type { Repeat } from './repeat.js'

type Options = {
  clickhouse: ClickHouseClient
  queue: FairQueue
  repeat: Repeat
  /** Called when missing contents have been loaded. */
  onLoaded: () => void
}

const MAX_BATCH = 2000
/** The minimum time between two batches, so that contents that become missing meanwhile are read together. */
const GATHER_MS = 25

/** Loads the contents of deliveries shortly before they are sent, one batch after another. */
export class ContentLoader {
  readonly #options: Options
  #isLoading = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Loads all missing contents, unless that is already in progress. */
  async load(): Promise<void> {
    if (this.#isLoading) return
    this.#isLoading = true
    const { clickhouse, queue, repeat, onLoaded } = this.#options
    for (let missing = queue.missing(MAX_BATCH); missing.length > 0; missing = queue.missing(MAX_BATCH)) {
      const batch = missing
      await repeat('delivery contents', () => fill(clickhouse, batch))
      queue.filled(batch)
      onLoaded()
      await sleep(GATHER_MS)
    }
    this.#isLoading = false
  }
}

async function fill(clickhouse: ClickHouseClient, pendings: readonly Pending[]): Promise<void> {
  const byId = new Map(pendings.map((pending) => [pending.delivery_id, pending]))
  for (const { delivery_id, ...content } of await deliveryContents(clickhouse, { ids: [...byId.keys()] })) {
    const pending = byId.get(delivery_id)
    if (pending) pending.content = content
  }
}
