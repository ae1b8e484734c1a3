import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { isByStable, needsState, TIP, trackStart } from '../../clickhouse/chain/batches.js'
import { type CoveredRange, coveredRanges } from '../../clickhouse/chain/covered-ranges.js'
import { type IngestGap, insertIngestGaps } from '../../clickhouse/chain/gaps.js'
import { decisiveBooks } from '../../clickhouse/chain/sampling.js'
import { listPeriods, tokenLists } from '../../clickhouse/chain/token-lists.js'
import { keepBooks } from '../../clickhouse/exchange/stored-books.js'
import { factTables } from '../../clickhouse/facts/facts.js'
import { feesLetGoUntil } from '../../clickhouse/facts/retention.js'
import { dexOrdersById } from '../../clickhouse/flows/dex.js'
import { issuerRoleChanges } from '../../clickhouse/roles/roles.js'
import { allStablecoins, quoteTokenHistory } from '../../clickhouse/stablecoins/stablecoins.js'
import { PlumblineError } from '../../process/errors.js'
import type { Batch } from '../batch/complete-batch.js'
import { gapsOf } from '../batch/complete-with-gaps.js'
import { FIRST_BLOCK } from '../batch/decode.js'
import type { IngestConfig } from '../config.js'
import { claimDatabase, readChainIdentity } from '../knowledge/chain-identity.js'
import { readForkTimes } from '../knowledge/forks.js'
import { createIssuerRoles } from '../knowledge/issuer-roles.js'
import { createOrders } from '../knowledge/orders.js'
import { createRegistry } from '../knowledge/registry.js'
import { createExchanges } from '../knowledge/stored-exchange.js'
import { createAgreementNotes } from '../sinks/note-agreement.js'
import { type RetryDatabase, retryDatabaseWith } from '../sinks/retry-database.js'
import { writeBatch } from '../sinks/write-batch.js'
import { readFinalized } from '../sources/heads.js'
import { type Rpc, type RpcObserver, rpcOf } from '../sources/rpc.js'
import { readStateFloor } from '../sources/state-floor.js'

import { readAhead } from '../stages/read-ahead.js'
import { isOfAgain, openBackfillLedger } from './ledger.js'
import { type FactRequest, type Missing, missingRanges, segmentsOf } from './missing.js'
import { needsBooks, type ReadSegment, readSegment } from './read-segment.js'

/** Segments that are read concurrently; they are written one after the other. */
const SEGMENTS_AT_ONCE = 4

/** The backfill cannot run as requested. */
export class BackfillError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

export type BackfillOptions = {
  clickhouse: ClickHouseClient
  config: IngestConfig
  log: Logger
  signal: AbortSignal
  rpcObserver?: RpcObserver | undefined
}
export type BackfillRequest = FactRequest & { newestFirst: boolean }

/** The work of a backfill, known once the ledger and the node have been checked. */
export type Backfill = {
  /** Number of blocks that it reads. */
  blocks: number
  /** What it cannot read because the node does not have it. */
  gaps: IngestGap[]
  /**
   * Runs the backfill. Yields after each segment that is stored or found to be unavailable. Ends early when `signal`
   * aborts.
   */
  run: () => AsyncGenerator<{ blocks: number; rows: number; gaps: IngestGap[] }>
}

/**
 * Prepares to read the missing part of a range of blocks before the tip. Skips blocks that are stored already, blocks
 * that may still be replaced, and blocks that the tip writes. Throws BackfillError if the tip has not started, and
 * LedgerError if another backfill is running.
 */
export async function prepareBackfill(options: BackfillOptions, request: BackfillRequest): Promise<Backfill> {
  const { clickhouse, config, log, signal } = options
  const rpc = rpcOf(config, log, signal, options.rpcObserver)
  // A write that is running when the signal arrives is finished first, so that no batch is left unfinished.
  const retryDatabase = retryDatabaseWith(log, new AbortController().signal)
  const chain = await readChainIdentity(rpc, config.CHAIN)
  await retryDatabase('claim the database', () => claimDatabase(clickhouse, chain))
  const forks = await retryDatabase('read the forks', () => readForkTimes({ clickhouse, rpc, network: config.CHAIN }))
  const ledger = await openBackfillLedger({ clickhouse, retryDatabase, log, signal })
  if (ledger.unfinished && isOfAgain(ledger.unfinished))
    throw new BackfillError('a run with --again was interrupted: run npm run backfill -- --again first')
  const covered = await retryDatabase('read the coverage', () => coveredRanges(clickhouse))
  const last = await lastBlock(options, rpc, covered)

  const reader = {
    ...(await openReader({ clickhouse, retryDatabase, rpc }, request.stables, last)),
    quotesCompared: config.QUOTES_COMPARED,
    withExchange: createExchanges({ clickhouse, retryDatabase, forks: () => forks }),
  }
  const repeated = ledger.unfinished ? [repeatOf(ledger.unfinished, covered)] : []
  const afterRepeat = [...covered, ...repeated.flatMap(coveredBy)]
  const { missing, gaps } = await missingAtNode(rpc, { ...request, to: Math.min(request.to, last) }, afterRepeat)
  const segments = [...repeated, ...segmentsOf(missing, config.BATCH_BLOCKS, request.newestFirst)]
  // One pass over the orders, so that no segment is far from books that are kept.
  if (missing.some(({ scope }) => needsBooks(scope)))
    await retryDatabase('keep the books', () => keepBooks(clickhouse, last, forks))
  log.info({ from: request.from, to: request.to, last, segments: segments.length }, 'found the missing segments')
  const letGoUntil = await retryDatabase('read how long fees are kept', () => feesLetGoUntil(clickhouse))
  if (letGoUntil > 0)
    log.info(
      { until: new Date(letGoUntil * 1000).toISOString() },
      'RETAIN_FEES_PAID_DAYS: fees paid up to this time are neither written nor compared',
    )

  const noteAgreement = createAgreementNotes(clickhouse, log)
  async function* run(): ReturnType<Backfill['run']> {
    if (gaps.length > 0) await retryDatabase('write the gaps', () => insertIngestGaps(clickhouse, gaps))
    for await (const { segment, batch, gaps } of readAhead(each(segments), SEGMENTS_AT_ONCE, (next) =>
      readSegment(reader, next),
    )) {
      await retryDatabase(`write blocks ${segment.from} to ${segment.to}`, () => write(segment, batch, gaps))
      yield { blocks: segment.to - segment.from + 1, rows: batch ? rowsOf(batch) : 0, gaps }
      if (signal.aborted) return
    }
  }

  async function write(segment: Missing, batch: Batch | null, gaps: ReadSegment['gaps']): Promise<void> {
    // Part of it may be stored; reading it again under another plan would store that part twice.
    if (segment === repeated[0] && gaps.some(({ family }) => family !== 'logs')) {
      throw new BackfillError(
        `blocks ${segment.from} to ${segment.to} are only partly written, and the node no longer has their state: set RPC_URL to a node that has it`,
      )
    }
    if (batch) {
      const { from, to, lastHash, families, only, except } = batch
      const mayBeThere = await ledger.plan({ from, to, lastHash, families, stables: only })
      // Gaps are written before the facts that they describe: stored blocks are not checked again, and writing a gap
      // twice changes nothing.
      await insertIngestGaps(clickhouse, gaps)
      const round = `:${[families, only, except].join(':')}`
      await noteAgreement(batch, round)
      await writeBatch(clickhouse, batch, round, mayBeThere)
      await ledger.commit()
    } else await insertIngestGaps(clickhouse, gaps)
  }

  return { blocks: segments.reduce((sum, { from, to }) => sum + to - from + 1, 0), gaps, run }
}

type Clients = { clickhouse: ClickHouseClient; retryDatabase: RetryDatabase; rpc: Rpc }

/** What reading blocks up to `last` needs, from the stored catalogue. Throws BackfillError if it lacks one of `stables`. */
async function openReader({ clickhouse, retryDatabase, rpc }: Clients, stables: readonly string[], last: number) {
  const before = { before_block: last + 1 }
  const [created, quotedFrom, issuers, lists] = await Promise.all([
    retryDatabase('read the stables', () => allStablecoins(clickhouse, before)),
    retryDatabase('read the quote tokens', () => quoteTokenHistory(clickhouse, before)),
    retryDatabase('read the issuers', () => issuerRoleChanges(clickhouse, before)),
    retryDatabase('read the token lists', () => tokenLists(clickhouse)),
  ])
  const unknown = stables.filter((address) => !created.some(({ stable }) => stable === address))
  if (unknown.length > 0) throw new BackfillError(`no such stable before block ${last + 1}: ${unknown.join(', ')}`)
  const periods = listPeriods(lists)
  const books = await retryDatabase('read the books', () => decisiveBooks(clickhouse, periods, last + 1))
  return {
    clickhouse,
    retryDatabase,
    rpc,
    registry: createRegistry(created, periods, books, quotedFrom),
    issuers: createIssuerRoles(issuers),
    orders: createOrders((order_ids) => retryDatabase('read orders', () => dexOrdersById(clickhouse, { order_ids }))),
  }
}

async function* each<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items
}

const rowsOf = ({ facts }: Batch): number => factTables.reduce((sum, table) => sum + facts[table].length, 0)

/**
 * The last block that a backfill reads: the newest final block that the tip has stored, because the tip may have stored
 * the logs of a block whose state its node no longer had. The blocks before the tip's first must be final, and the
 * catalogue must reach them.
 */
export async function lastBlock(
  { clickhouse, config }: BackfillOptions,
  rpc: Rpc,
  covered: readonly CoveredRange[],
): Promise<number> {
  const tipStart = await trackStart(clickhouse, { track: TIP })
  const byTip = covered.find(({ family, to_block }) => family === 'logs' && tipStart !== null && to_block >= tipStart)
  if (tipStart === null || !byTip)
    throw new BackfillError(
      'there is nothing to backfill before ingest has stored its first blocks: start ingest first',
    )
  const { number } = await readFinalized(rpc, config.CHAIN)
  if (number < tipStart - 1)
    throw new BackfillError(`the node is behind: its newest final block is ${number}, not ${tipStart - 1}`)
  const last = Math.min(number, byTip.to_block)
  const isKnown = covered.some(
    ({ family, from_block, to_block }) => family === 'catalogue' && from_block <= FIRST_BLOCK && to_block >= last,
  )
  if (last >= FIRST_BLOCK && !isKnown) throw new BackfillError(`the catalogue does not reach block ${last}`)
  return last
}

/** An unfinished batch, exactly as it was planned: what was stored at that time has not changed since. */
function repeatOf({ from, to, families, stables }: BlockPlan, covered: readonly CoveredRange[]): Missing {
  const covering = covered.filter(
    ({ family, from_block, to_block }) => families.includes(family) && from_block <= from && to_block >= to,
  )
  const except = stables.length > 0 ? [] : [...new Set(covering.flatMap((range) => range.stables))].sort()
  return { from, to, scope: { families, only: stables, except } }
}
type BlockPlan = { from: number; to: number; families: FactRequest['families']; stables: readonly string[] }

const coveredBy = ({ from, to, scope }: Missing): CoveredRange[] =>
  scope.families.map((family) => ({
    family,
    stables: isByStable(family) ? [...scope.only] : [],
    from_block: from,
    to_block: to,
  }))

/** What is missing and can be read, and what is missing but cannot be read because the node has dropped the state. */
async function missingAtNode(
  rpc: Rpc,
  request: FactRequest,
  covered: readonly CoveredRange[],
): Promise<{ missing: Missing[]; gaps: IngestGap[] }> {
  const missing = missingRanges(request, covered)
  const ofStates = missing.filter(({ scope }) => scope.families.some(needsState))
  const [first, last] = [ofStates[0], ofStates.at(-1)]
  if (!first || !last) return { missing, gaps: [] }
  const { floor, reason } = await readStateFloor(rpc, { from: first.from, to: last.to })
  const below = { ...request, to: Math.min(request.to, floor - 1) }
  const stateless = missingRanges({ ...below, families: request.families.filter(needsState) }, covered)
  return {
    missing: [
      ...missingRanges({ ...below, families: request.families.filter((family) => !needsState(family)) }, covered),
      ...missingRanges({ ...request, from: Math.max(request.from, floor) }, covered),
    ],
    gaps: stateless.flatMap((range) => gapsOf(range, range.scope.families, reason)),
  }
}
