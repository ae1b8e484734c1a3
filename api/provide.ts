import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import type { FastifyInstance } from 'fastify'
import type { Redis } from 'ioredis'
import { historyStart } from '../clickhouse/chain/history.js'
import { activeApiKeys, insertApiKeyUses } from '../clickhouse/keys/api-keys.js'
import { createKeptSamples, type KnownSamples } from '../clickhouse/peg/kept-samples.js'
import { createMinuteSums, type KnownMinuteSums, STABLE_BYTES } from '../clickhouse/peg/minute-sums.js'
import { stablecoinCreations } from '../clickhouse/stablecoins/stablecoins.js'
import { createKeptReads, type KeptReads } from '../clickhouse/store/kept-reads.js'
import { INSTANTS } from '../clickhouse/tables.js'
import { createKnownHistory, type KnownHistory } from './answers/as-of.js'
import { createExportSlots, type ExportSlots } from './answers/export.js'
import { createKnownLedger, type KnownLedger } from './answers/known-ledger.js'
import { createKnownSearches, type KnownSearches } from './answers/known-searches.js'
import { QUERY_TIMEOUT_MS } from './answers/query-signal.js'
import { createKnownStables, type KnownStables } from './answers/stable.js'
import { createKeyUses, type KeyUses } from './callers/keys/key-uses.js'
import { createKnownKeys, type KnownKeys } from './callers/keys/known-keys.js'
import type { Metrics } from './http/metrics.js'

/** The dependencies of the app. */
type Provided = {
  /** May only read. */
  clickhouse: ClickHouseClient
  /** Inserts the API's own records. */
  records: ClickHouseClient
  /** null if none is configured. */
  redis: Redis | null
  now: () => Date
  metrics: Metrics
  /** Aborted when the process is asked to stop: endless answers must end now. */
  draining: AbortSignal
}

declare module 'fastify' {
  interface FastifyInstance extends Provided {
    stables: KnownStables
    history: KnownHistory
    ledger: KnownLedger
    minuteSums: KnownMinuteSums
    keptSamples: KnownSamples
    keptReads: KeptReads
    searches: KnownSearches
    exportSlots: ExportSlots
    keys: KnownKeys
    keyUses: KeyUses
  }
}

/** The minutes of that many stables, in the longest window: 64 MiB for a week. */
const MINUTE_SUMS_BYTES = 90 * STABLE_BYTES
/** Some 18,000 minutes at two blocks a second, of which an answer needs two, and three a window. */
const SAMPLES_BYTES = 64 * 2 ** 20
/** What reads found while their tables stayed as they are: a kilobyte or two for each. */
const READS_BYTES = 64 * 2 ** 20
/** A request with a key waits at most this long for the keys. */
const KEYS_TIMEOUT_MS = 3000

/** Decorates the app with the dependencies of its hooks and routes. */
export function provide(app: FastifyInstance, provided: Provided): void {
  const { clickhouse, records } = provided
  app.decorate('clickhouse', clickhouse)
  app.decorate('records', records)
  app.decorate('redis', provided.redis)
  app.decorate('now', provided.now)
  app.decorate('metrics', provided.metrics)
  app.decorate('draining', provided.draining)
  app.decorate(
    'stables',
    createKnownStables(() => stablecoinCreations(clickhouse)),
  )
  app.decorate(
    'history',
    createKnownHistory((options) => historyStart(clickhouse, options)),
  )
  app.decorate('ledger', createKnownLedger(clickhouse))
  app.decorate('minuteSums', createMinuteSums(MINUTE_SUMS_BYTES))
  app.decorate('keptSamples', createKeptSamples(SAMPLES_BYTES))
  app.decorate(
    'keptReads',
    createKeptReads(clickhouse, { instants: INSTANTS, maxBytes: READS_BYTES, timeoutMs: QUERY_TIMEOUT_MS }),
  )
  app.decorate('searches', createKnownSearches(clickhouse))
  app.decorate('exportSlots', createExportSlots())
  app.decorate(
    'keys',
    createKnownKeys(() => activeApiKeys(clickhouse, { signal: AbortSignal.timeout(KEYS_TIMEOUT_MS) })),
  )
  app.decorate(
    'keyUses',
    createKeyUses((uses) => insertApiKeyUses(records, uses, randomUUID()), app.log),
  )
  app.addHook('onClose', () => app.keyUses.close())
}
