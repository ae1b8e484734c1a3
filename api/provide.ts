import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import type { FastifyInstance } from 'fastify'
import type { Redis } from 'ioredis'
import { historyStart } from '../clickhouse/chain/history.js'
import { activeApiKeys, insertApiKeyUses } from '../clickhouse/keys/api-keys.js'
import { createEdgeSamples } from '../clickhouse/peg/edge-samples.js'
import { createMinuteSums, STABLE_BYTES } from '../clickhouse/peg/minute-sums.js'
import { stablecoinCreations } from '../clickhouse/stablecoins/stablecoins.js'
import { createReadMemory, type ReadMemory } from '../clickhouse/store/read-memory.js'
import { memoriesOf } from '../clickhouse/store/replicas.js'
import { INSTANTS } from '../clickhouse/tables.js'
import { Memories, memoriesOfProcess } from '../process/memory.js'
import { createHistoryStart, type HistoryStart } from './answers/as-of.js'
import { createExportSlots, type ExportSlots } from './answers/export.js'
import { createLedger, type LedgerMemory } from './answers/ledger.js'
import { QUERY_TIMEOUT_MS } from './answers/query-signal.js'
import { createSearches, type Searches } from './answers/searches.js'
import { createStables, type Stables } from './answers/stable.js'
import { createWholeExports, type WholeExports } from './answers/whole-exports.js'
import { type ActiveKeys, createActiveKeys } from './callers/keys/active-keys.js'
import { createKeyUses, type KeyUses } from './callers/keys/key-uses.js'
import type { Metrics } from './http/metrics.js'
import { createExchangeBooks, type ExchangeBooks } from './stablecoins/exchange-books.js'

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
    /** What may be found without asking ClickHouse. */
    memories: Memories
    stables: Stables
    history: HistoryStart
    ledger: LedgerMemory
    minuteSums: ReturnType<typeof createMinuteSums>
    edgeSamples: ReturnType<typeof createEdgeSamples>
    reads: ReadMemory
    searches: Searches
    exportSlots: ExportSlots
    wholeExports: WholeExports
    exchangeBooks: ExchangeBooks
    keys: ActiveKeys
    keyUses: KeyUses
  }
}

/** The minutes of that many stables, in the longest window: 64 MiB for a week. */
const MINUTE_SUMS_BYTES = 90 * STABLE_BYTES
/** Some 18,000 minutes at two blocks a second, of which an answer needs two, and three a window. */
const SAMPLES_BYTES = 64 * 2 ** 20
/** What reads found while their tables stayed as they are: a kilobyte or two for each. */
const READS_BYTES = 64 * 2 ** 20
/** Two of the largest, which a reader may join. */
const EXPORTS_BYTES = 128 * 2 ** 20
/** A hundred thousand orders, once. */
const BOOKS_BYTES = 64 * 2 ** 20
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
  const memories = new Memories([memoriesOfProcess, ...[...new Set([clickhouse, records])].map(memoriesOf)])
  app.decorate('memories', memories)
  app.decorate(
    'stables',
    createStables(() => stablecoinCreations(clickhouse), memories),
  )
  app.decorate(
    'history',
    createHistoryStart((options) => historyStart(clickhouse, options), memories),
  )
  app.decorate('ledger', createLedger(clickhouse, memories))
  app.decorate('minuteSums', createMinuteSums(memories, MINUTE_SUMS_BYTES))
  app.decorate('edgeSamples', createEdgeSamples(memories, SAMPLES_BYTES))
  app.decorate(
    'reads',
    createReadMemory(clickhouse, memories, { instants: INSTANTS, maxBytes: READS_BYTES, timeoutMs: QUERY_TIMEOUT_MS }),
  )
  app.decorate('searches', createSearches(clickhouse, memories))
  app.decorate('exportSlots', createExportSlots())
  app.decorate('exchangeBooks', createExchangeBooks(clickhouse, memories, BOOKS_BYTES))
  app.decorate('wholeExports', createWholeExports(memories, EXPORTS_BYTES))
  app.decorate(
    'keys',
    createActiveKeys(() => activeApiKeys(clickhouse, { signal: AbortSignal.timeout(KEYS_TIMEOUT_MS) }), memories),
  )
  app.decorate(
    'keyUses',
    createKeyUses((uses) => insertApiKeyUses(records, uses, randomUUID()), app.log),
  )
  app.addHook('onClose', () => app.keyUses.close())
}
