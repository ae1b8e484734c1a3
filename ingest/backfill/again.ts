import { createHash, randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { blockAt, blockUntil } from '../../clickhouse/chain/blocks.js'
import { type CoveredRange, coveredRanges } from '../../clickhouse/chain/covered-ranges.js'
import { type IngestGap, insertIngestGaps } from '../../clickhouse/chain/gaps.js'
import { decisiveBooks } from '../../clickhouse/chain/sampling.js'
import { listPeriods, tokenLists } from '../../clickhouse/chain/token-lists.js'
import { removeUnknownEvents, unknownTopics } from '../../clickhouse/chain/unknown-events.js'
import { type Facts, factTables, insertFacts } from '../../clickhouse/facts/facts.js'
import { feesLetGoUntil } from '../../clickhouse/facts/retention.js'
import { addFeeChoices } from '../../clickhouse/fees/choices.js'
import { rebuildFlowBuckets, windowOf } from '../../clickhouse/flows/buckets.js'
import { dexOrdersById } from '../../clickhouse/flows/dex.js'
import { issuerRoleChanges } from '../../clickhouse/roles/roles.js'
import { allStablecoins } from '../../clickhouse/stablecoins/stablecoins.js'
import { TABLES } from '../../clickhouse/tables.js'
import { type Batch, completeBatch } from '../batch/complete-batch.js'
import { unpricedGap } from '../batch/complete-with-gaps.js'
import { type DecodedBatch, decodeBatch, FIRST_BLOCK, type OrderedReader } from '../batch/decode.js'
import { unquoted } from '../batch/quote-batch.js'
import { moveBatch } from '../batch/read-movements.js'
import type { BlockRange } from '../chain/block-ranges.js'
import { chainContract } from '../chain/contracts.js'
import { claimDatabase, readChainIdentity } from '../knowledge/chain-identity.js'
import { createIssuerRoles } from '../knowledge/issuer-roles.js'
import { createOrders } from '../knowledge/orders.js'
import { createPolicyUses } from '../knowledge/policy-uses.js'
import { createRegistry } from '../knowledge/registry.js'
import { retryDatabaseWith } from '../sinks/retry-database.js'
import { readBlocks } from '../sources/blocks.js'
import { rpcOf } from '../sources/rpc.js'
import { readAhead } from '../stages/read-ahead.js'
import { type Backfill, BackfillError, type BackfillOptions, lastBlock } from './backfill.js'
import { DifferingFactsError, type Lacking, lackingFacts } from './lacking.js'
import { isOfAgain, openBackfillLedger } from './ledger.js'
import { type Missing, segmentsOf } from './missing.js'

/** Segments that are read ahead of the one that is compared. */
const DEPTH = 3

/**
 * The blocks to read again. Without `from`: from the first to the last with an event that is known by now; without `to` but with
 * `from`: up to the newest that may be read.
 */
export type AgainRequest = { from: number | null; to: number | null }

type AgainOptions = BackfillOptions & {
  /** A client with a session, for temporary tables. */
  session: ClickHouseClient
}

/**
 * Prepares to read blocks again that are stored, of which an older version did not know all events, and to add the rows of
 * logs that it left out. What is stored already must be the same. Of the last blocks of the chain, those whose window of flows
 * the tip may still write to are left. Throws BackfillError and LedgerError as `prepareBackfill`; both never run at once.
 */
export async function prepareAgain(options: AgainOptions, request: AgainRequest): Promise<Backfill> {
  const { clickhouse, session, config, log, signal } = options
  const rpc = rpcOf(config, log, signal, options.rpcObserver)
  const retryDatabase = retryDatabaseWith(log, new AbortController().signal)
  const read = <Result>(what: string, work: () => Promise<Result>) => retryDatabase(`read ${what}`, work)
  const chain = await readChainIdentity(rpc, config.CHAIN)
  await retryDatabase('claim the database', () => claimDatabase(clickhouse, chain))
  const ledger = await openBackfillLedger({ clickhouse, retryDatabase, log, signal })
  if (ledger.unfinished && !isOfAgain(ledger.unfinished))
    throw new BackfillError('a backfill was interrupted: run npm run backfill without --again first')
  const covered = await read('the coverage', () => coveredRanges(clickhouse))
  const newest = await lastBlock(options, rpc, covered)
  const last = await read('the last window', () => lastBeforeWindowOf(clickhouse, newest))
  const known = (await read('the unknown events', () => unknownTopics(clickhouse))).filter(isKnown)
  const range = rangeOf(request, known, last)
  const late = known.filter(({ last_block }) => last_block > range.to)
  if (late.length > 0)
    log.warn(
      { to: range.to, last },
      'events after these blocks stay unknown: run it again, for the newest blocks 15 minutes later',
    )
  const letGoUntil = await read('how long fees are kept', () => feesLetGoUntil(clickhouse))
  const periods = listPeriods(await read('the token lists', () => tokenLists(clickhouse)))

  const repeated: Missing | null = ledger.unfinished && {
    from: ledger.unfinished.from,
    to: ledger.unfinished.to,
    scope: { families: ledger.unfinished.families, only: [], except: [] },
  }
  const runs = runsOf(range, covered, config.BATCH_BLOCKS)
  const lastSegment = runs.at(-1)?.at(-1)

  /** What was known before a block, as the tip knew it. */
  async function openReader(from: number): Promise<OrderedReader> {
    const before_block = from === FIRST_BLOCK ? 0 : from
    const [stables, books, issuers] = await Promise.all([
      read('the stables', () => allStablecoins(clickhouse, { before_block })),
      read('the books', () => decisiveBooks(clickhouse, periods, from)),
      read('the issuers', () => issuerRoleChanges(clickhouse, { before_block })),
    ])
    return {
      rpc,
      registry: createRegistry(stables, periods, books),
      quotesCompared: 0,
      readsAtAnyCost: true,
      issuers: createIssuerRoles(issuers),
      policies: createPolicyUses(),
      orders: createOrders((order_ids) => read('orders', () => dexOrdersById(clickhouse, { order_ids }))),
    }
  }

  /** Reads segments that follow each other. */
  async function* reread(segments: readonly Missing[]): AsyncGenerator<{ segment: Missing; batch: Batch }> {
    const reader = await openReader((segments[0] as Missing).from)
    async function* each(): AsyncGenerator<Missing> {
      yield* segments
    }
    async function* decoded(): AsyncGenerator<{ segment: Missing; decoded: DecodedBatch }> {
      const blocks = readAhead(each(), DEPTH, async (segment) => {
        const { from, to } = segment
        return { segment, blocks: await rpc.persist(`read blocks ${from} to ${to}`, () => readBlocks(rpc, from, to)) }
      })
      for await (const { segment, blocks: ofSegment } of blocks)
        yield { segment, decoded: await decodeBatch(reader, ofSegment) }
    }
    yield* readAhead(decoded(), DEPTH, async ({ segment, decoded: batch }) => ({
      segment,
      // The values of what is stored were the node's where it did not agree with the books.
      batch: await completeBatch(reader, unquoted(await moveBatch(reader, batch, segment.scope)), segment.scope),
    }))
  }

  async function* run(): ReturnType<Backfill['run']> {
    /** The contracts of events that are understood now, and of those that are not. */
    const [understood, still] = [new Set<string>(), new Set<string>()]
    for (const segments of repeated ? [[repeated], ...runs] : runs) {
      for await (const { segment, batch } of reread(segments)) {
        const what = `blocks ${segment.from} to ${segment.to}`
        const { from, to, lastHash, families } = batch
        const plan = () => ledger.plan({ from, to, lastHash, families, stables: [] })
        const lacking = await retryDatabase(`compare ${what}`, () => lackingFacts(session, batch, letGoUntil)).catch(
          async (error: unknown) => {
            // It adds no coverage, and left open it would keep every other backfill away.
            if (segment === repeated && error instanceof DifferingFactsError)
              await retryDatabase(`commit ${what}`, async () => {
                await plan()
                await ledger.commit()
              })
            throw error
          },
        )
        for (const contract of lacking.understood) understood.add(contract)
        for (const { contract } of batch.facts.unknown_events) still.add(contract)
        const catalogue = catalogueOf(lacking.facts)
        if (catalogue.length > 0) throw new CatalogueLacksError(what, catalogue)
        const gaps = unvaluedOf(batch, lacking.facts)
        const isLast = segment === lastSegment
        if (lacking.rows > 0 || isLast || segment === repeated) {
          await retryDatabase(`plan ${what}`, plan)
          const token = randomUUID()
          let isRepeated = segment === repeated
          await retryDatabase(`write ${what}`, async () => {
            const mayBeThere = isRepeated
            isRepeated = true
            await add(batch, lacking, { gaps, mayBeThere, token })
          })
          // Last, so that answers are partial until everything is there.
          if (isLast) {
            const contracts = [...understood].filter((contract) => !still.has(contract))
            const removed = { from_block: range.from, to_block: range.to, contracts }
            await retryDatabase('remove what is understood', () => removeUnknownEvents(clickhouse, removed))
            log.info(removed, 'these events are understood now')
          }
          await retryDatabase(`commit ${what}`, () => ledger.commit())
        }
        yield { blocks: segment.to - segment.from + 1, rows: lacking.rows, gaps }
        if (signal.aborted) return
      }
    }
  }

  /** Adds what is lacking. Repeating it changes nothing. With `mayBeThere`, an earlier attempt may have added all or part of it. */
  async function add(
    batch: Batch,
    lacking: Lacking,
    { gaps, mayBeThere, token }: { gaps: readonly IngestGap[]; mayBeThere: boolean; token: string },
  ): Promise<void> {
    await insertIngestGaps(clickhouse, gaps)
    await insertAll(
      clickhouse,
      lacking.facts,
      `again:${batch.from}-${batch.to}:${batch.lastHash}:${hashOf(lacking.facts)}`,
    )
    // An engine that was killed can have the token without the rows, as can one whose rows were removed since.
    if (lacking.rows > 0 || mayBeThere) {
      const { facts } = await lackingFacts(session, batch, letGoUntil)
      // The token is the same if this is repeated, because an insert that was given up may still arrive.
      await insertAll(clickhouse, facts, `${token}:${hashOf(facts)}`)
    }
    if (lacking.facts.flows.length > 0 || mayBeThere) {
      // A transaction of which one flow was there before would count twice.
      await rebuildFlowBuckets(clickhouse, { first: windowOf(batch.firstTime), last: windowOf(batch.lastTime) })
    }
    if (mayBeThere) await addFeeChoices(clickhouse, { first: batch.firstTime, last: batch.lastTime })
  }

  const segments = [...(repeated ? [repeated] : []), ...runs.flat()]
  log.info({ ...range, last, segments: segments.length }, 'found the segments to read again')
  return { blocks: segments.reduce((sum, { from, to }) => sum + to - from + 1, 0), gaps: [], run }
}

/** Whether this version knows an event that was unknown when it was read. */
const isKnown = ({ contract, topic }: { contract: string; topic: string }): boolean =>
  chainContract(contract)?.topics.has(topic) === true

type Blocks = { first_block: number; last_block: number }

/** Empty, with `from` after `to`, if no event was unknown that is known now. */
function rangeOf({ from, to }: AgainRequest, known: readonly Blocks[], last: number): BlockRange {
  const lastKnown = Math.max(0, ...known.map(({ last_block }) => last_block))
  return {
    from: from ?? Math.min(Number.MAX_SAFE_INTEGER, ...known.map(({ first_block }) => first_block)),
    to: Math.min(last, to ?? (from === null ? lastKnown : last)),
  }
}

/**
 * The last block before the window of flows that this block lies in. The tip writes no block of it any more, so its buckets can be
 * made again.
 */
async function lastBeforeWindowOf(clickhouse: ClickHouseClient, block: number): Promise<number> {
  const time = (await blockAt(clickhouse, block))?.block_time ?? 0
  return (await blockUntil(clickhouse, { at: new Date((windowOf(time) - 1) * 1000) })) ?? 0
}

/** The stored part of a range, in segments: lists of those that follow each other. */
function runsOf({ from, to }: BlockRange, covered: readonly CoveredRange[], size: number): Missing[][] {
  const ofFamily = (family: CoveredRange['family']) => covered.filter((stored) => stored.family === family)
  const transfers = ofFamily('transfers')
  const hasTransfers = (block: number): boolean =>
    transfers.some(({ from_block, to_block }) => from_block <= block && block <= to_block)
  return ofFamily('logs')
    .map(({ from_block, to_block }) => ({ from: Math.max(from, from_block), to: Math.min(to, to_block) }))
    .filter((stored) => stored.from <= stored.to)
    .map((stored) => {
      const edges = transfers.flatMap(({ from_block, to_block }) => [from_block, to_block + 1])
      const inside = edges.filter((block) => block > stored.from && block <= stored.to)
      const starts = [...new Set([stored.from, ...inside])].sort((a, b) => a - b)
      const parts = starts.map((start, i): Missing => {
        const families: CoveredRange['family'][] = ['catalogue', 'logs']
        if (hasTransfers(start)) families.push('transfers')
        return { from: start, to: (starts[i + 1] ?? stored.to + 1) - 1, scope: { families, only: [], except: [] } }
      })
      return segmentsOf(parts, size, false)
    })
}

/** The tables of the catalogue that have rows. */
const catalogueOf = (facts: Facts): string[] =>
  factTables.filter((table) => TABLES[table].family === 'catalogue' && facts[table].length > 0)

const hashOf = (facts: Facts): string => createHash('sha256').update(JSON.stringify(facts)).digest('hex')

/** Where the flows that are added have no value, because the node no longer has the prices. */
function unvaluedOf({ isUnpriced }: Batch, { flows }: Facts): IngestGap[] {
  const blocks = flows.map(({ block_number }) => block_number)
  if (!isUnpriced || blocks.length === 0) return []
  return unpricedGap({ from: Math.min(...blocks), to: Math.max(...blocks) })
}

/** The meaning of later logs, and whose quotes and states were read, depend on rows of the catalogue that are missing. */
class CatalogueLacksError extends BackfillError {
  constructor(what: string, tables: readonly string[]) {
    super(
      `${what} lack rows of the catalogue (${tables.join(', ')}), on which all later blocks depend, so nothing of them is written: read the chain into a new CLICKHOUSE_DATABASE`,
    )
  }
}

async function insertAll(clickhouse: ClickHouseClient, facts: Facts, token: string): Promise<void> {
  await Promise.all(factTables.map((table) => insertFacts(clickhouse, table, facts[table], token)))
}
