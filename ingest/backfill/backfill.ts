import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { trackStart } from '../../clickhouse/chain/batches.js'
import { type CoveredRange, coveredRanges } from '../../clickhouse/chain/covered-ranges.js'
import { type IngestGap, insertIngestGaps } from '../../clickhouse/chain/gaps.js'
import { factTables } from '../../clickhouse/facts/facts.js'
import { dexOrdersById } from '../../clickhouse/flows/dex.js'
import { issuerRoleChanges } from '../../clickhouse/roles/roles.js'
import { allStablecoins } from '../../clickhouse/stablecoins/stablecoins.js'
import { PlumblineError } from '../../process/errors.js'
import type { Batch } from '../batch/complete-batch.js'
import { FIRST_BLOCK } from '../batch/decode.js'
import { listedTokens } from '../chain/networks.js'
import type { IngestConfig } from '../config.js'
import { claimDatabase, readChainIdentity } from '../knowledge/chain-identity.js'
import { createIssuerRoles } from '../knowledge/issuer-roles.js'
import { createOrders } from '../knowledge/orders.js'
import { createRegistry } from '../knowledge/registry.js'
import { TIP } from '../sinks/batch-ledger.js'
import { retryDatabaseWith } from '../sinks/retry-database.js'
import { writeBatch } from '../sinks/write-batch.js'
import { readFinalized } from '../sources/heads.js'
import { type Rpc, rpcOf } from '../sources/rpc.js'
import { readStateFloor } from '../sources/state-floor.js'

import { readAhead } from '../stages/read-ahead.js'
import { openBackfillLedger } from './ledger.js'
import { type Missing, missingRanges, segmentsOf, type Wanted } from './missing.js'
import { gapsOf, type ReadSegment, readSegment } from './read-segment.js'

/** Segments that are read at the same time; they are written one after the other. */
const SEGMENTS_AHEAD = 4

/** A backfill cannot do what it was asked to. */
class BackfillError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

export type BackfillOptions = { clickhouse: ClickHouseClient; config: IngestConfig; log: Logger; signal: AbortSignal }
export type BackfillRequest = Wanted & { newestFirst: boolean }

/** What a backfill has to do: known once it has looked at the ledger and at the node. */
export type Backfill = {
  /** The blocks that it reads. */
  blocks: number
  /** What it will not read, as the node does not have it. */
  gaps: IngestGap[]
  /** Does it: yields once a segment is in, or is known not to be there. Ends early when `signal` aborts. */
  run: () => AsyncGenerator<{ blocks: number; rows: number; gaps: IngestGap[] }>
}

/**
 * Prepares to read what is missing of a range of blocks behind the tip: nothing that is in already, nothing that may
 * still be replaced, and nothing that is the tip's to write. Throws BackfillError where the tip has not begun, and
 * LedgerError where another backfill is at work.
 */
export async function prepareBackfill(options: BackfillOptions, request: BackfillRequest): Promise<Backfill> {
  const { clickhouse, config, log, signal } = options
  const rpc = rpcOf(config, log, signal)
  // What is being written when the signal comes is finished first, so that nothing is left half-done.
  const retryDatabase = retryDatabaseWith(log, new AbortController().signal)
  const chain = await readChainIdentity(rpc, config.CHAIN)
  await retryDatabase('claim the database', () => claimDatabase(clickhouse, chain))
  const ledger = await openBackfillLedger({ clickhouse, retryDatabase, log, signal })
  const covered = await retryDatabase('read the coverage', () => coveredRanges(clickhouse))
  const last = await lastBlock(options, rpc, covered)

  const stables = await retryDatabase('read the stables', () => allStablecoins(clickhouse, { before_block: last + 1 }))
  const issuers = await retryDatabase('read the issuers', () =>
    issuerRoleChanges(clickhouse, { before_block: last + 1 }),
  )
  const unknown = request.stables.filter((address) => !stables.some(({ stable }) => stable === address))
  if (unknown.length > 0) throw new BackfillError(`no such stable before block ${last + 1}: ${unknown.join(', ')}`)
  const track = config.TRACK ?? (config.CHAIN === 'devnet' ? 'all' : 'listed')
  const reader = {
    clickhouse,
    retryDatabase,
    rpc,
    registry: createRegistry(stables, track),
    issuers: createIssuerRoles(issuers),
    orders: createOrders((order_ids) => retryDatabase('read orders', () => dexOrdersById(clickhouse, { order_ids }))),
    listed: listedTokens(chain.chain_id),
  }

  const repeated = ledger.unfinished ? [repeatOf(ledger.unfinished, covered)] : []
  const afterRepeat = [...covered, ...repeated.flatMap(coveredBy)]
  const { missing, gaps } = await missingAtNode(rpc, { ...request, to: Math.min(request.to, last) }, afterRepeat)
  const segments = [...repeated, ...segmentsOf(missing, config.BATCH_BLOCKS, request.newestFirst)]
  log.info({ from: request.from, to: request.to, last, segments: segments.length }, 'looked for what is missing')

  async function* run(): ReturnType<Backfill['run']> {
    if (gaps.length > 0) await retryDatabase('write the gaps', () => insertIngestGaps(clickhouse, gaps))
    for await (const { segment, batch, gaps } of readAhead(each(segments), SEGMENTS_AHEAD, (next) =>
      readSegment(reader, next),
    )) {
      await retryDatabase(`write blocks ${segment.from} to ${segment.to}`, () => write(segment, batch, gaps))
      yield { blocks: segment.to - segment.from + 1, rows: batch ? rowsOf(batch) : 0, gaps }
      if (signal.aborted) return
    }
  }

  async function write(segment: Missing, batch: Batch | null, gaps: ReadSegment['gaps']): Promise<void> {
    // Some of it may be in, which would be doubled by whoever reads it another time.
    if (segment === repeated[0] && gaps.some(({ family }) => family !== 'logs')) {
      throw new BackfillError(
        `blocks ${segment.from} to ${segment.to} are half-written, and the node has dropped their state: name another RPC_URL`,
      )
    }
    if (batch) {
      const { from, to, lastHash, families, only, except } = batch
      const mayBeThere = await ledger.plan({ from, to, lastHash, families, stables: only })
      // Before the facts that they tell of: nobody looks again at what is in, and a repeat leaves a gap as it is.
      await insertIngestGaps(clickhouse, gaps)
      await writeBatch(clickhouse, batch, `:${[families, only, except].join(':')}`, mayBeThere)
      await ledger.commit()
    } else await insertIngestGaps(clickhouse, gaps)
  }

  return { blocks: segments.reduce((sum, { from, to }) => sum + to - from + 1, 0), gaps, run }
}

async function* each<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items
}

const rowsOf = ({ facts }: Batch): number => factTables.reduce((sum, table) => sum + facts[table].length, 0)

/** The last block that is a backfill's: before the tip's first one, final, and with the catalogue up to it. */
async function lastBlock({ clickhouse, config }: BackfillOptions, rpc: Rpc, covered: CoveredRange[]): Promise<number> {
  const tipStart = await trackStart(clickhouse, { track: TIP })
  const hasTip = covered.some(({ family, to_block }) => family === 'logs' && tipStart !== null && to_block >= tipStart)
  if (tipStart === null || !hasTip)
    throw new BackfillError('nothing is behind the tip before it has begun: start ingest first')
  const last = tipStart - 1
  const { number } = await readFinalized(rpc, config.CHAIN)
  if (number < last) throw new BackfillError(`the node is behind: its newest final block is ${number}, not ${last}`)
  const isKnown = covered.some(
    ({ family, from_block, to_block }) => family === 'catalogue' && from_block <= FIRST_BLOCK && to_block >= last,
  )
  if (last >= FIRST_BLOCK && !isKnown) throw new BackfillError(`the catalogue does not go up to block ${last}`)
  return last
}

/** A batch that was left half-done, as it was planned: what was in by then has not changed. */
function repeatOf({ from, to, families, stables }: BlockPlan, covered: readonly CoveredRange[]): Missing {
  const here = covered.filter(
    ({ family, from_block, to_block }) => families.includes(family) && from_block <= from && to_block >= to,
  )
  const except = stables.length > 0 ? [] : [...new Set(here.flatMap((range) => range.stables))].sort()
  return { from, to, scope: { families, only: stables, except } }
}
type BlockPlan = { from: number; to: number; families: Wanted['families']; stables: readonly string[] }

const coveredBy = ({ from, to, scope }: Missing): CoveredRange[] =>
  scope.families.map((family) => ({
    family,
    stables: family === 'logs' ? [] : [...scope.only],
    from_block: from,
    to_block: to,
  }))

/** What is missing and can be read, and what is missing where the node has dropped the state. */
async function missingAtNode(
  rpc: Rpc,
  wanted: Wanted,
  covered: readonly CoveredRange[],
): Promise<{ missing: Missing[]; gaps: IngestGap[] }> {
  const missing = missingRanges(wanted, covered)
  const needsState = missing.filter(({ scope }) => scope.families.some((family) => family !== 'logs'))
  const [first, last] = [needsState[0], needsState.at(-1)]
  if (!first || !last) return { missing, gaps: [] }
  const { floor, reason } = await readStateFloor(rpc, { from: first.from, to: last.to })
  const below = { ...wanted, to: Math.min(wanted.to, floor - 1) }
  const stateless = missingRanges(
    { ...below, families: wanted.families.filter((family) => family !== 'logs') },
    covered,
  )
  return {
    missing: [
      ...missingRanges({ ...below, families: wanted.families.filter((family) => family === 'logs') }, covered),
      ...missingRanges({ ...wanted, from: Math.max(wanted.from, floor) }, covered),
    ],
    gaps: stateless.flatMap((range) => gapsOf(range, reason)),
  }
}
