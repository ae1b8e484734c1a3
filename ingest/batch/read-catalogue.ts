import { EXCHANGE_LOGS } from '../../clickhouse/exchange/events.js'
import { mergeFacts } from '../../clickhouse/facts/facts.js'
import type { Stablecoin } from '../../clickhouse/stablecoins/stablecoins.js'
import type { BlockRange } from '../chain/block-ranges.js'
import type { ChainEvent } from '../chain/event-types.js'
import { decodeLog, topicsOf } from '../chain/events.js'
import { type RawHeader, RpcAnswerError } from '../chain/rpc-answers.js'
import type { Registry } from '../knowledge/registry.js'
import { readLogsOf } from '../sources/blocks.js'
import { type LogRange, readHeader, type StreamOptions, streamLogs } from '../sources/log-stream.js'
import { logsBloom, mayContain } from '../sources/logs.js'
import type { Rpc } from '../sources/rpc.js'
import { catalogueRows } from '../stages/catalogue-rows.js'
import { readAhead } from '../stages/read-ahead.js'
import type { Batch } from './complete-batch.js'
import { FIRST_BLOCK } from './decode.js'
import { genesisStablecoins } from './genesis-stablecoins.js'
import type { Scope } from './scope.js'

const TOPICS = topicsOf([...EXCHANGE_LOGS, 'RoleMembershipUpdated', 'RoleAdminUpdated'])
const FILTER = { topics: [TOPICS] }
/** The bloom filter of a block without logs. */
const NO_LOGS = logsBloom([])
const SCOPE: Scope = { families: ['catalogue'], only: [], except: [] }
/**
 * A batch ends with the range that brings it to so many blocks, logs or ranges. The last bounds what a process that ends
 * has read in vain at a node that gives few blocks at once.
 */
const BATCH_BLOCKS = 500_000
const BATCH_LOGS = 10_000
const BATCH_RANGES = 200
/**
 * Headers of a batch with which its logs are compared, and of the first batch: a node that has dropped old logs leaves
 * them out without an error.
 */
const [SAMPLES, SAMPLES_OF_OLDEST] = [8, 48]
/** Batches whose headers are read ahead. */
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
  const ranges = gathered(streamLogs(rpc, FILTER, range, stream), isOneBatch)
  const again = (read: BlockRange) => rereadLogs(options, read)
  const checked = readAhead(ranges, BATCHES_IN_WORK, (read) =>
    rpc.persist(
      `check the logs of blocks ${read.from} to ${read.to}`,
      rereading(
        read,
        () => again(read),
        (logs) => checkedLogs(rpc, logs),
      ),
    ),
  )
  for await (const read of checked) {
    yield await rpc.persist(
      `read the catalogue of blocks ${read.from} to ${read.to}`,
      rereading(
        read,
        async () => checkedLogs(rpc, await again(read)),
        (logs) => batchOf(rpc, registry, logs),
      ),
    )
  }
}

/**
 * A step on what was read. Run again after RpcAnswerError, it uses what `again` reads, because a node may have left
 * something out.
 */
function rereading<Read, Result>(read: Read, again: () => Promise<Read>, step: (read: Read) => Promise<Result>) {
  let next: Read | null = read
  return async (): Promise<Result> => {
    next ??= await again()
    try {
      return await step(next)
    } catch (error) {
      if (error instanceof RpcAnswerError) next = null
      throw error
    }
  }
}

/** The logs of a batch with the headers of its first and last block. */
type BoundedLogs = LogRange & { first: RawHeader; last: RawHeader }

/** Blocks of a range at equal distances, its first and last among them. */
function samplesOf({ from, to }: BlockRange): number[] {
  const parts = Math.max(1, Math.min(to - from, (from === FIRST_BLOCK ? SAMPLES_OF_OLDEST : SAMPLES) - 1))
  const samples = Array.from({ length: parts + 1 }, (_, i) => from + Math.round((i * (to - from)) / parts))
  return [...new Set(samples)]
}

/**
 * The logs of a batch with its ends. Of some of its blocks the headers are read: where such a block may have a log that
 * the batch lacks, and at the first that has logs at all, all its logs are read. Rejects with RpcAnswerError if the node
 * does not have these, or if they contain one that the batch lacks.
 */
async function checkedLogs(rpc: Rpc, range: LogRange): Promise<BoundedLogs> {
  const headers = await Promise.all(samplesOf(range).map((number) => readHeader(rpc, number)))
  const withLogs = headers.filter(({ logsBloom }) => logsBloom !== NO_LOGS)
  const doubtful = withLogs.filter(
    ({ number, logsBloom }, i) =>
      i === 0 || (!range.blocks.has(number) && TOPICS.some((topic) => mayContain(logsBloom, topic))),
  )
  await Promise.all(doubtful.map((header) => checkBlock(rpc, range, header)))
  return { ...range, first: headers[0] as RawHeader, last: headers.at(-1) as RawHeader }
}

async function checkBlock(rpc: Rpc, { from, to, logs }: LogRange, header: RawHeader): Promise<void> {
  const all = await readLogsOf(rpc, header)
  const wanted = all.filter(({ topics }) => TOPICS.includes(topics[0] ?? ''))
  const lacking = wanted.filter(
    ({ logIndex }) => !logs.some((log) => log.blockNumber === header.number && log.logIndex === logIndex),
  )
  if (lacking.length > 0) {
    throw new RpcAnswerError(
      `the logs of blocks ${from} to ${to} lack ${lacking.length} of block ${header.number}, as if the node had dropped old ones`,
    )
  }
}

/** The logs of a batch, read again, with all times from headers. */
async function rereadLogs({ rpc, stream }: ReadOptions, { from, to }: BlockRange): Promise<LogRange> {
  const again = streamLogs(rpc, FILTER, { from, to }, { ...stream, doubtsTimes: true })
  for await (const range of gathered(again, true)) return range
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
    agreement: null,
    contradictions: [],
  }
}

/** The genesis tokens, where `first` is the first block after the genesis block. */
async function readGenesis(rpc: Rpc, first: RawHeader): Promise<Stablecoin[]> {
  const { timestamp: parentTime } = await readHeader(rpc, first.number - 1)
  return genesisStablecoins(rpc, { ...first, parentTime })
}
