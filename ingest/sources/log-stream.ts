import { numberToHex } from 'viem'
import type { BlockRange } from '../chain/block-ranges.js'
import { RawHeader, type RawLog, RpcAnswerError } from '../chain/rpc-answers.js'
import { type LogFilter, logsSize, requestLogs } from './logs.js'
import type { Rpc } from './rpc.js'

/** A block that has logs; its time in unix seconds. */
type LogBlock = { number: number; hash: string; time: number }

/** The logs of a range of blocks that a filter finds, in order, and the blocks that have them, by number. */
export type LogRange = BlockRange & { logs: RawLog[]; blocks: Map<number, LogBlock> }

export type StreamOptions = {
  /** Requests at once; by default as many as the size of their ranges allows. */
  atOnce?: number
  /** How many blocks to ask for at first, and at most. */
  firstBlocks?: number
  mostBlocks?: number
  /** Reads every block's time from its header, even if its logs give it. */
  doubtsTimes?: boolean
}

/** What a node is asked for at first: the most that many public nodes give. */
const FIRST_BLOCKS = 10_000
const MOST_BLOCKS = 500_000
/** Logs of one answer beyond which fewer blocks are asked for: those that are read ahead are all in memory. */
const MOST_LOGS = 2000
/** Where a node gives few blocks at once, more requests are under way at once, up to so many blocks in all. */
const BLOCKS_AT_ONCE = 160_000
const [FEWEST_AT_ONCE, MOST_AT_ONCE] = [16, 64]
/** Headers that are requested in one turn. */
const HEADERS = 50

const atOnceOf = (blocks: number): number =>
  Math.min(MOST_AT_ONCE, Math.max(FEWEST_AT_ONCE, Math.ceil(BLOCKS_AT_ONCE / blocks)))

/**
 * The logs of the blocks `from` to `to`, both included, as consecutive ranges in order, of which many are requested at
 * once: as many, and as long ones, as the node bears. The time of a block is the one that its logs give
 * (`blockTimestamp`), else its header's. Persists as Rpc does: rejects with RpcError where it gives up.
 */
export async function* streamLogs(
  rpc: Rpc,
  filter: LogFilter,
  { from, to }: BlockRange,
  { atOnce, firstBlocks = FIRST_BLOCKS, mostBlocks = MOST_BLOCKS, doubtsTimes = false }: StreamOptions = {},
): AsyncGenerator<LogRange> {
  const size = logsSize(rpc, filter, { first: firstBlocks, most: mostBlocks, mostResults: MOST_LOGS })
  // Until the node has answered, more requests would only fail with the first.
  const most = (): number => (size.isSettled() ? (atOnce ?? atOnceOf(size.present())) : 1)

  /** The logs of a range in one request; null if fewer blocks are to be requested. */
  const readPart = (range: BlockRange): Promise<LogRange | null> =>
    rpc.persist(`read the logs of blocks ${range.from} to ${range.to}`, async () => {
      const logs = await requestLogs(rpc, filter, range, size)
      if (!logs) return null
      const blocks = await logBlocks(rpc, logs, range, doubtsTimes)
      return { ...range, logs, blocks: new Map(blocks.map((block) => [block.number, block])) }
    })

  /** What remains, in order; `read` is null where nothing is requested yet. The last part is all that follows. */
  const parts: Array<BlockRange & { read: Promise<LogRange | null> | null }> =
    from > to ? [] : [{ from, to, read: null }]
  let [running, isClosed] = [0, false]
  const fill = (): void => {
    while (!isClosed) {
      const place = parts.findIndex(({ read }) => read === null)
      const part = parts[place]
      // What is read ahead waits for what comes before it; the first part always has its turn.
      if (!part || (place > 0 && (running >= most() || place >= 2 * most()))) return
      const last = Math.min(part.to, part.from + size.next() - 1)
      if (last < part.to) parts.splice(place + 1, 0, { from: last + 1, to: part.to, read: null })
      part.to = last
      running++
      part.read = readPart({ from: part.from, to: last })
        .then((range) => {
          if (!range) part.read = null
          return range
        })
        .finally(() => {
          running--
          fill()
        })
      // Without its own handler, a failure would end the process before its turn.
      part.read.catch(() => {})
    }
  }
  try {
    for (fill(); parts.length > 0; fill()) {
      const range = await parts[0]?.read
      if (!range) continue
      parts.shift()
      yield range
    }
  } finally {
    isClosed = true
  }
}

/**
 * The blocks of logs; with `doubtsTimes`, all their times are from headers. Rejects with RpcAnswerError if the logs do
 * not belong to the range or contradict a header.
 */
async function logBlocks(
  rpc: Rpc,
  logs: readonly RawLog[],
  { from, to }: BlockRange,
  doubtsTimes: boolean,
): Promise<LogBlock[]> {
  const hashes = new Map<number, string>()
  const times = new Map<number, number>()
  for (const { blockNumber, blockHash, blockTimestamp } of logs) {
    const hash = hashes.get(blockNumber) ?? blockHash
    if (blockNumber < from || blockNumber > to || blockHash !== hash) {
      throw new RpcAnswerError(`a log of block ${blockNumber} does not belong to blocks ${from} to ${to}`)
    }
    hashes.set(blockNumber, hash)
    if (typeof blockTimestamp === 'number' && !doubtsTimes) times.set(blockNumber, blockTimestamp)
  }
  const untimed = [...hashes.keys()].filter((number) => !times.has(number))
  for (let i = 0; i < untimed.length; i += HEADERS) {
    const part = untimed.slice(i, i + HEADERS)
    for (const header of await Promise.all(part.map((number) => readHeader(rpc, number)))) {
      if (header.hash !== hashes.get(header.number))
        throw new RpcAnswerError(`a log of block ${header.number} names another block hash`)
      times.set(header.number, header.timestamp)
    }
  }
  return [...hashes].map(([number, hash]) => ({ number, hash, time: times.get(number) as number }))
}

/** The header of a block that exists. Tries once. */
export const readHeader = (rpc: Rpc, number: number): Promise<RawHeader> =>
  rpc.request('eth_getBlockByNumber', [numberToHex(number), false], RawHeader)
