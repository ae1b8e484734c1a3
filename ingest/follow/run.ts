import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { TIP } from '../../clickhouse/chain/batches.js'
import { blockAt } from '../../clickhouse/chain/blocks.js'
import type { ForkTime } from '../../clickhouse/chain/forks.js'
import { type IngestGap, insertIngestGaps } from '../../clickhouse/chain/gaps.js'
import type { ChainIdentity } from '../../clickhouse/chain/identity.js'
import { decisiveBooks } from '../../clickhouse/chain/sampling.js'
import { dexOrdersById } from '../../clickhouse/flows/dex.js'
import { issuerRoleChanges } from '../../clickhouse/roles/roles.js'
import { allStablecoins } from '../../clickhouse/stablecoins/stablecoins.js'
import type { Batch } from '../batch/complete-batch.js'
import { completeWithGaps } from '../batch/complete-with-gaps.js'
import { decodeBatch, type OrderedReader } from '../batch/decode.js'
import { type QuotedBatch, quoteBatch } from '../batch/quote-batch.js'
import { moveBatch } from '../batch/read-movements.js'
import { EVERYTHING, familiesRead, type Scope } from '../batch/scope.js'
import { blockRanges } from '../chain/block-ranges.js'
import { NETWORKS } from '../chain/networks.js'
import type { IngestConfig } from '../config.js'
import { checkChainId, claimDatabase, readChainIdentity } from '../knowledge/chain-identity.js'
import type { Exchange } from '../knowledge/exchange.js'
import { noteForks, readForkTimes } from '../knowledge/forks.js'
import { createIssuerRoles } from '../knowledge/issuer-roles.js'
import { createOrders } from '../knowledge/orders.js'
import { createPolicyUses } from '../knowledge/policy-uses.js'
import { createRegistry } from '../knowledge/registry.js'
import { exchangeBefore } from '../knowledge/stored-exchange.js'
import { recordTokenList } from '../knowledge/token-lists.js'
import type { TipMetrics } from '../metrics.js'
import type { BatchLedger } from '../sinks/batch-ledger.js'
import { booksKeeper } from '../sinks/keep-books.js'
import { createAgreementNotes, type NoteAgreement } from '../sinks/note-agreement.js'
import { noteHeads } from '../sinks/note-head.js'
import { type RetryDatabase, retryDatabaseWith } from '../sinks/retry-database.js'
import { writeBatch } from '../sinks/write-batch.js'
import { type BlockWithLogs, readBlocks } from '../sources/blocks.js'
import { ChainChangedError, linkedRanges, persistWhileThere } from '../sources/chain-changed.js'
import { followHead } from '../sources/heads.js'
import { type Rpc, type RpcObserver, rpcOf } from '../sources/rpc.js'
import { readAhead } from '../stages/read-ahead.js'
import { type TokenListWatch, watchTokenList } from '../token-list/watch.js'
import { reconcileWithNode } from './reconcile.js'
import { type TipStart, tipStart } from './tip-start.js'

/** How many ranges are fetched concurrently (blocks and logs), and how many batches (quotes and states). */
const RANGES_IN_WORK = 4
const BATCHES_IN_WORK = 3

async function* quotedBatches(reader: TipReader, ranges: AsyncIterable<BlockWithLogs[]>): AsyncGenerator<QuotedBatch> {
  for await (const blocks of ranges)
    yield quoteBatch(reader.exchange, await moveBatch(reader, await decodeBatch(reader, blocks), EVERYTHING))
}

type TipReader = OrderedReader & { exchange: Exchange }

/** What is read of a batch: these families, but of one that may be partly stored, what was planned. */
const scopeOf = ({ decoded }: QuotedBatch, { unfinished }: BatchLedger, families: Scope['families']): Scope => ({
  ...EVERYTHING,
  families: unfinished && decoded[0]?.block.number === unfinished.from ? unfinished.families : families,
})

export type Ingest = {
  clickhouse: ClickHouseClient
  config: IngestConfig
  log: Logger
  signal: AbortSignal
  rpcObserver?: RpcObserver | undefined
  metrics?:
    | Pick<TipMetrics, 'headSeen' | 'booksUnknown' | 'chainChanged' | 'tokenListCurrent' | 'tokenListRefused'>
    | undefined
  /** How often TOKEN_LIST is checked for changes, in milliseconds; by default as often as its kind needs. */
  tokenListCheckMs?: number | undefined
}

type Written = { block: number; time: number; blocks: number }

/**
 * Follows the chain: yields the last block of each batch once all its facts are written, until `signal` aborts.
 * Continues after the newest stored block. When the chain is reorganized, removes the facts of replaced blocks and
 * resumes after the last block that remains. When the token list changes, records it, and resumes with it. Of blocks whose state the node no longer has, writes the logs, and declares
 * the rest as gaps, which a backfill from another node fills. Rejects when the node or ClickHouse fail for a long time, and at once when
 * the database and the node disagree about the chain itself, or about blocks that were final.
 */
export async function* ingest(options: Ingest): AsyncGenerator<Written> {
  const { clickhouse, config, log, signal, rpcObserver } = options
  const retryDatabase = retryDatabaseWith(log, signal)
  const rpc = rpcOf(config, log, signal, rpcObserver)
  const chain = await readChainIdentity(rpc, config.CHAIN)
  await retryDatabase('claim the database', () => claimDatabase(clickhouse, chain))
  const node = { clickhouse, rpc, network: config.CHAIN }
  let forks: readonly ForkTime[] = await retryDatabase('read the forks', () => readForkTimes(node))
  void noteForks({ ...node, log, signal, onListed: (times) => (forks = times) })
  const tokenList = await watchTokenList({
    location: config.TOKEN_LIST,
    network: config.CHAIN,
    chainId: chain.chain_id,
    log,
    signal,
    metrics: options.metrics,
    checkMs: options.tokenListCheckMs,
  })
  const noteAgreement = createAgreementNotes(clickhouse, log)
  const start = await tipStart({ clickhouse, config, log, signal, rpc, retryDatabase })
  for (;;) {
    // Reads of the old chain end with their round.
    const round = new AbortController()
    const until = AbortSignal.any([signal, round.signal])
    try {
      const ending = yield* followChain({
        ...options,
        signal: until,
        chain,
        start,
        tokenList,
        rpc: rpcOf(config, log, until, rpcObserver),
        retryDatabase,
        forks: () => forks,
        noteAgreement,
      })
      if (ending !== 'list_changed') return
      continue
    } catch (error) {
      if (!(error instanceof ChainChangedError)) throw error
      options.metrics?.chainChanged()
      log.warn({ reason: error.message }, 'the chain has changed: comparing it with the database')
    } finally {
      round.abort()
    }
    // This may repeat while several nodes behind one address disagree for a moment.
    await sleep(config.POLL_INTERVAL_MS, undefined, { signal })
  }
}

type Round = Ingest & {
  chain: ChainIdentity
  start: TipStart
  tokenList: TokenListWatch
  rpc: Rpc
  retryDatabase: RetryDatabase
  /** When each fork came to the chain. */
  forks: () => readonly ForkTime[]
  noteAgreement: NoteAgreement
}

/**
 * Follows the chain as `ingest` does, until it changes: then rejects with ChainChangedError. Returns after a batch when the
 * token list has changed: what was read ahead was read for the stables of the old one.
 */
async function* followChain({
  clickhouse,
  config,
  log,
  signal,
  chain,
  start,
  tokenList,
  rpc,
  retryDatabase,
  forks,
  noteAgreement,
  metrics,
}: Round): AsyncGenerator<Written, 'list_changed' | 'ended'> {
  const { head: tag, deepestReorg: deepest } = NETWORKS[config.CHAIN]
  const ledger = await reconcileWithNode({
    clickhouse,
    rpc,
    track: TIP,
    ...start,
    deepest,
    retryDatabase,
    log,
  })
  const families = familiesRead(config)
  const keepBooks = booksKeeper({ clickhouse, network: config.CHAIN, log, signal })
  const reader = await openReader({ clickhouse, config, log, chain, tokenList, rpc, retryDatabase, forks }, ledger)
  const hashOf = async (number: number): Promise<string | null> => {
    const block = await retryDatabase('read a hash', () => blockAt(clickhouse, number))
    return block?.block_hash ?? null
  }
  const noteHead = noteHeads(clickhouse, tag, log)
  const heads = followHead(rpc, {
    tag,
    checkChainId: (answered) => checkChainId(answered, chain.chain_id),
    wsUrl: config.RPC_WS_URL ?? null,
    onHead: (head) => {
      metrics?.headSeen(head.number)
      noteHead(head)
    },
    pollMs: config.POLL_INTERVAL_MS,
    flushMs: config.TIP_FLUSH_MS,
    hashOf,
    log,
    signal,
  })
  const ranges = blockRanges(heads, ledger.next, config.BATCH_BLOCKS, ledger.unfinished)
  const blocks = readAhead(ranges, RANGES_IN_WORK, ({ from, to }) =>
    persistWhileThere(rpc, `read blocks ${from} to ${to}`, () => readBlocks(rpc, from, to)),
  )
  const quoted = quotedBatches(reader, linkedRanges(blocks, ledger.last ?? start.base, ledger.unfinished))
  for await (const { batch, gaps } of readAhead(quoted, BATCHES_IN_WORK, (next) =>
    completeWithGaps(reader, next, scopeOf(next, ledger, families)),
  )) {
    if (!batch) throw new Error('a batch of the tip always has logs')
    const { unfinished } = ledger
    if (batch.from === unfinished?.from && batch.families.length < unfinished.families.length)
      throw new ChainChangedError(`the node has dropped the state of blocks that were planned: ${gaps[0]?.reason}`)
    if (gaps.length > 0) log.warn({ gaps }, `the node does not have all of blocks ${batch.from} to ${batch.to}`)
    await retryDatabase(`write blocks ${batch.from} to ${batch.to}`, () =>
      writeToTip({ clickhouse, noteAgreement }, ledger, batch, gaps),
    )
    keepBooks(batch.to)
    metrics?.booksUnknown(reader.exchange.unknownCount)
    yield { block: batch.to, time: batch.lastTime, blocks: batch.to - batch.from + 1 }
    if (tokenList.hasChanged()) return 'list_changed'
  }
  return 'ended'
}

/** What decoding the tip's blocks needs, as it was at the end of the ledger's last block. Records the token list. */
async function openReader(
  {
    clickhouse,
    config,
    log,
    chain,
    tokenList,
    rpc,
    retryDatabase,
    forks,
  }: Omit<Round, 'signal' | 'start' | 'noteAgreement'>,
  ledger: BatchLedger,
): Promise<TipReader> {
  const before = { before_block: ledger.next }
  const stables = await retryDatabase('read the stables', () => allStablecoins(clickhouse, before))
  const issuers = await retryDatabase('read the issuers', () => issuerRoleChanges(clickhouse, before))
  log.info({ ...chain, next: ledger.next, unfinished: ledger.unfinished, stables: stables.length }, 'starting')

  const nextBlock = Math.max(ledger.next, (ledger.unfinished?.to ?? 0) + 1)
  const tokens = tokenList.take()
  const periods = await recordTokenList({
    clickhouse,
    retryDatabase,
    rpc,
    config,
    tokens,
    wrong: tokenList.wrong(),
    nextBlock,
    log,
  })
  const books = await retryDatabase('read the books', () => decisiveBooks(clickhouse, periods, ledger.next))
  return {
    rpc,
    quotesCompared: config.QUOTES_COMPARED,
    exchange: await exchangeBefore({ clickhouse, retryDatabase, forks }, ledger.next),
    registry: createRegistry(stables, periods, books),
    issuers: createIssuerRoles(issuers),
    policies: createPolicyUses(),
    orders: createOrders((order_ids) => retryDatabase('read orders', () => dexOrdersById(clickhouse, { order_ids }))),
  }
}

/** Plans, writes and commits a batch of the tip. May be repeated. */
async function writeToTip(
  { clickhouse, noteAgreement }: Pick<Round, 'clickhouse' | 'noteAgreement'>,
  ledger: BatchLedger,
  batch: Batch,
  gaps: readonly IngestGap[],
): Promise<void> {
  // Before the plan, which is repeated without what is a gap, and does not find it again. Writing one twice changes nothing.
  if (gaps.length > 0) await insertIngestGaps(clickhouse, gaps)
  const mayBeThere = await ledger.plan(batch)
  // A block that a rollback removed may come back; writing it then is not a repeat.
  const round = ledger.rollback ? `:r${ledger.rollback.sequence_number}` : ''
  await noteAgreement(batch, round)
  await writeBatch(clickhouse, batch, round, mayBeThere, ledger.rollback)
  await ledger.commit()
}
