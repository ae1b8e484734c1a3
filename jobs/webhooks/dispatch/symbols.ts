import type { ClickHouseClient } from '@clickhouse/client'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { symbolsOf } from '../../../clickhouse/stablecoins/stablecoins.js'
import type { Names } from '../messages/words.js'

const MOST_KEPT = 10_000

/** The symbols of stables. They never change, so each is read once. */
export class Symbols {
  readonly #clickhouse: ClickHouseClient
  readonly #log: Logger
  readonly #kept = new LRUCache<string, string>({ max: MOST_KEPT })

  constructor(clickhouse: ClickHouseClient, log: Logger) {
    this.#clickhouse = clickhouse
    this.#log = log
  }

  /** Those of these stables. If they cannot be read, a message goes without: it has the addresses. */
  async of(stables: readonly string[]): Promise<Names> {
    const missing = stables.filter((stable) => !this.#kept.has(stable))
    try {
      if (missing.length > 0)
        for (const { address, symbol } of await symbolsOf(this.#clickhouse, { stables: missing }))
          this.#kept.set(address, symbol)
    } catch (error) {
      this.#log.warn({ reason: String(error) }, 'symbols cannot be read; a message goes without')
    }
    return new Map(stables.map((stable) => [stable, this.#kept.get(stable) ?? '']))
  }
}
