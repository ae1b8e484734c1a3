import { numberToHex } from 'viem'
import type { BlockRange } from '../chain/block-ranges.js'
import { RawHeader, type RawLog, RpcAnswerError } from '../chain/rpc-answers.js'
import { type LogFilter, requestLogs } from './logs.js'
import { createRangeSize } from './range-size.js'
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
  const size = createRangeSize({ first: firstBlocks, most: mostBlocks, mostResults: MOST_LOGS })
  const most = (): number => atOnce ?? atOnceOf(size.blocks())

  /** All logs of a range, in as many requests as the node demands. */
  async function readRange(range: BlockRange): Promise<LogRange> {
    const logs: RawLog[] = []
    const blocks = new Map<number, LogBlock>()
    for (let next = range.from; next <= range.to; ) {
      const last = Math.min(range.to, next + size.blocks() - 1)
      const bounds = { from: next, to: last }
      const part = await rpc.persist(`read the logs of blocks ${next} to ${last}`, async () => {
        const answer = await requestLogs(rpc, filter, bounds, size)
        return answer && { logs: answer, blocks: await logBlocks(rpc, answer, bounds, doubtsTimes) }
      })
      if (!part) continue
      for (const log of part.logs) logs.push(log)
      for (const block of part.blocks) blocks.set(block.number, block)
      next = last + 1
    }
    return { ...range, logs, blocks }
  }

  const queue: Promise<LogRange>[] = []
  let [next, running, isClosed] = [from, 0, false]
  const fill = (): void => {
    // What is read ahead waits for what comes before it.
    while (!isClosed && next <= to && running < most() && queue.length < 2 * most()) {
      const range = { from: next, to: Math.min(to, next + size.blocks() - 1) }
      next = range.to + 1
      running++
      const read = readRange(range).finally(() => {
        running--
        fill()
      })
      // Without its own handler, a failure would end the process before its turn.
      read.catch(() => {})
      queue.push(read)
    }
  }
  try {
    for (fill(); queue.length > 0; fill()) yield await (queue.shift() as Promise<LogRange>)
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
