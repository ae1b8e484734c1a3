import { mergeFacts } from '../../clickhouse/facts/facts.js'
import type { Stablecoin } from '../../clickhouse/stablecoins/stablecoins.js'
import type { BlockRange } from '../chain/block-ranges.js'
import type { ChainEvent } from '../chain/event-types.js'
import { decodeLog, topicsOf } from '../chain/events.js'
import { type RawHeader, RpcAnswerError } from '../chain/rpc-answers.js'
import type { Registry } from '../knowledge/registry.js'
import { type LogRange, readHeader, type StreamOptions, streamLogs } from '../sources/log-stream.js'
import type { Rpc } from '../sources/rpc.js'
import { catalogueRows } from '../stages/catalogue-rows.js'
import { readAhead } from '../stages/read-ahead.js'
import type { Batch } from './complete-batch.js'
import { FIRST_BLOCK } from './decode.js'
import { genesisStablecoins } from './genesis-stablecoins.js'
import type { Scope } from './scope.js'

const TOPICS = topicsOf([
  'TokenCreated',
  'QuoteTokenUpdate',
  'PairCreated',
  'OrderPlaced',
  'OrderFlipped',
  'RoleMembershipUpdated',
  'RoleAdminUpdated',
])
const SCOPE: Scope = { families: ['catalogue'], only: [], except: [] }
/**
 * A batch ends with the range that brings it to so many blocks, logs or ranges. The last bounds what a process that ends
 * has read in vain at a node that gives few blocks at once.
 */
const BATCH_BLOCKS = 500_000
const BATCH_LOGS = 10_000
const BATCH_RANGES = 200
/** Batches whose ends are read ahead. */
const BATCHES_IN_WORK = 4

export type ReadOptions = {
  rpc: Rpc
  stream?: StreamOptions
}

/** Consecutive ranges as fewer, larger ones; as a single one if the whole is a batch. */
async function* gathered(ranges: AsyncIterable<LogRange>, isOneBatch: boolean): AsyncGenerator<LogRange> {
  let batch: LogRange | null = null
  let count = 0
  for await (const range of ranges) {
    if (batch) {
      for (const log of range.logs) batch.logs.push(log)
      for (const [number, block] of range.blocks) batch.blocks.set(number, block)
      batch.to = range.to
    } else batch = { ...range }
    count++
    const isFull: boolean =
      batch.to - batch.from + 1 >= BATCH_BLOCKS || batch.logs.length >= BATCH_LOGS || count >= BATCH_RANGES
    if (isOneBatch || !isFull) continue
    yield batch
    batch = null
    count = 0
  }
  if (batch) yield batch
}

/**
 * The catalogue of a range of blocks in batches, in order; in one batch if the range was planned as one. `registry` knows
 * the blocks before, and learns from these. Rejects with RpcError where the node fails for a long time.
 */
export async function* readCatalogue(
  options: ReadOptions,
  registry: Registry,
  range: BlockRange,
  isOneBatch = false,
): AsyncGenerator<Batch> {
  const { rpc, stream } = options
  const filter = { topics: [TOPICS] }
  const ranges = gathered(streamLogs(rpc, filter, range, stream), isOneBatch)
  const bounded = readAhead(ranges, BATCHES_IN_WORK, (read) =>
    rpc.persist(`read the ends of blocks ${read.from} to ${read.to}`, () => withEnds(rpc, read)),
  )
  for await (const read of bounded) {
    let firstRead: BoundedLogs | null = read
    yield await rpc.persist(`read the catalogue of blocks ${read.from} to ${read.to}`, async () => {
      // A failure may be the node's, which has left something out.
      const logs = firstRead ?? (await rereadLogs(options, read))
      firstRead = null
      return batchOf(rpc, registry, logs)
    })
  }
}

/** The logs of a batch with the headers of its first and last block. */
type BoundedLogs = LogRange & { first: RawHeader; last: RawHeader }

async function withEnds(rpc: Rpc, range: LogRange): Promise<BoundedLogs> {
  const [first, last] = await Promise.all([readHeader(rpc, range.from), readHeader(rpc, range.to)])
  return { ...range, first, last }
}

/** The logs of a batch, read again, with all times from headers. */
async function rereadLogs({ rpc, stream }: ReadOptions, { from, to }: BlockRange): Promise<BoundedLogs> {
  const again = streamLogs(rpc, { topics: [TOPICS] }, { from, to }, { ...stream, doubtsTimes: true })
  for await (const range of gathered(again, true)) return withEnds(rpc, range)
  throw new Error(`blocks ${from} to ${to} are none`)
}

/** Throws RpcAnswerError unless the blocks of the logs may lie between the first and the last of the batch. */
function checkBlocks({ first, last, blocks }: BoundedLogs): void {
  for (const { number, hash, time } of blocks.values()) {
    const end = [first, last].find((header) => header.number === number)
    if (end && end.hash !== hash) throw new RpcAnswerError(`a log of block ${number} names another block hash`)
    if (time < first.timestamp || time > last.timestamp)
      throw new RpcAnswerError(`the logs of block ${number} give a time that is not between those of its neighbours`)
  }
}

/** The facts of the logs. `registry` learns only once all are made. */
async function batchOf(rpc: Rpc, registry: Registry, read: BoundedLogs): Promise<Batch> {
  const { from, to, first, last, logs, blocks } = read
  checkBlocks(read)
  const genesis = from === FIRST_BLOCK ? await readGenesis(rpc, first) : []
  const eventsOf = new Map<number, ChainEvent[]>([...blocks.keys()].map((number) => [number, []]))
  for (const log of logs) {
    const event = decodeLog(log)
    if (event) eventsOf.get(log.blockNumber)?.push(event)
  }
  const quoteTokens = new Map(genesis.map(({ stable, quote_token }) => [stable, quote_token]))
  const ordered = [...blocks.values()].sort((a, b) => a.number - b.number)
  const added = ordered.map(({ number, time }) => {
    const events = (eventsOf.get(number) ?? []).sort((a, b) => a.logIndex - b.logIndex)
    const { unplaced: _, ...rows } = catalogueRows({ number, time }, events, (stable) => {
      const quote = quoteTokens.get(stable) ?? registry.quoteTokenOf(stable)
      if (quote === undefined) throw new RpcAnswerError(`an order for ${stable}, whose creation is missing`)
      return quote
    })
    for (const { stable, quote_token } of [...rows.stablecoins, ...rows.quote_token_updates]) {
      quoteTokens.set(stable, quote_token)
    }
    return rows
  })
  for (const { stablecoins } of [{ stablecoins: genesis }, ...added]) {
    for (const stable of stablecoins) registry.add({ ...stable })
  }
  for (const [stable, quoteToken] of quoteTokens) registry.setQuoteToken(stable, quoteToken, to)
  return {
    ...SCOPE,
    from,
    to,
    firstHash: first.hash,
    lastHash: last.hash,
    parentHash: first.parentHash,
    firstTime: first.timestamp,
    lastTime: last.timestamp,
    facts: mergeFacts([{ stablecoins: genesis }, ...added]),
    isUnpriced: false,
  }
}

/** The genesis tokens, where `first` is the first block after the genesis block. */
async function readGenesis(rpc: Rpc, first: RawHeader): Promise<Stablecoin[]> {
  const { timestamp: parentTime } = await readHeader(rpc, first.number - 1)
  return genesisStablecoins(rpc, { ...first, parentTime })
}
