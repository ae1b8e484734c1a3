import { numberToHex, pad, toEventSelector } from 'viem'
import { FEE_MANAGER } from '../chain/addresses.js'
import type { BlockRange } from '../chain/block-ranges.js'
import {
  BlockMissingError,
  RawHeader,
  type RawLog,
  RawReceipt,
  RawSigners,
  RpcAnswerError,
} from '../chain/rpc-answers.js'
import { logsBloom, readLogs } from './logs.js'
import type { Rpc } from './rpc.js'

/** A block with all its logs, in log order, and the time of the block before. Times are in unix seconds. */
export type BlockWithLogs = {
  number: number
  hash: string
  parentHash: string
  time: number
  parentTime: number
  txCount: number
  logs: RawLog[]
}

const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const FEE_MANAGER_TOPIC = pad(FEE_MANAGER)

async function readHeader(rpc: Rpc, number: number): Promise<RawHeader> {
  const header = await rpc.request('eth_getBlockByNumber', [numberToHex(number), false], RawHeader.nullable())
  if (!header) throw new BlockMissingError(`the node does not have block ${number}`)
  return header
}

/** Throws unless the headers are the requested ones, each the parent of the next. */
function checkChain(headers: readonly RawHeader[], from: number): void {
  headers.forEach((header, i) => {
    if (header.number !== from + i) throw new RpcAnswerError(`asked for block ${from + i}, got ${header.number}`)
    const parent = headers[i - 1]
    if (parent && header.parentHash !== parent.hash)
      throw new RpcAnswerError(`block ${header.number} is not a child of block ${parent.number}`)
    if (parent && header.timestamp < parent.timestamp)
      throw new RpcAnswerError(`block ${header.number} is older than its parent`)
  })
}

/**
 * The headers of the blocks `from` to `to`, both included, oldest first. Checked: they form a chain. Rejects with
 * RpcAnswerError when they do not, with BlockMissingError when one is not there.
 */
export async function readHeaders(rpc: Rpc, from: number, to: number): Promise<RawHeader[]> {
  const headers = await Promise.all(Array.from({ length: to - from + 1 }, (_, i) => readHeader(rpc, from + i)))
  checkChain(headers, from)
  return headers
}

/** A transfer to the fee manager, whatever the token. */
const isFee = ({ topics }: RawLog): boolean => topics[0] === TRANSFER && topics[2] === FEE_MANAGER_TOPIC

/**
 * Throws unless `logs` are all of the block's logs. A gap shows in the indices, and most truncations in the header's
 * bloom filter, except truncated logs that repeat others. But every transaction, also a reverted one, ends with its
 * fee, so a complete list ends with a fee, and the receipts of the transactions after it must have no logs.
 */
async function checkLogs(rpc: Rpc, header: RawHeader, logs: readonly RawLog[]): Promise<void> {
  const block = `block ${header.number}`
  logs.forEach((log, i) => {
    if (log.blockHash !== header.hash) throw new RpcAnswerError(`a log of ${block} names another block hash`)
    if (log.logIndex !== i) throw new RpcAnswerError(`${block} lacks the log with index ${i}`)
  })
  if (logsBloom(logs) !== header.logsBloom) throw new RpcAnswerError(`the logs of ${block} do not fill its logs bloom`)
  const last = logs.at(-1)
  if (last && !isFee(last)) throw new RpcAnswerError(`the logs of ${block} do not end with a fee`)
  const silent = header.transactions.slice(last ? header.transactions.indexOf(last.transactionHash) + 1 : 0)
  for (const receipt of await Promise.all(
    silent.map((hash) => rpc.request('eth_getTransactionReceipt', [hash], RawReceipt)),
  )) {
    if (receipt.logs.length > 0) throw new RpcAnswerError(`the logs of ${block} lack those of its last transactions`)
  }
}

/**
 * The blocks `from` to `to`, both included, oldest first. Checked: they form a chain, and the logs of each are
 * complete. Rejects with RpcAnswerError when they are not, with BlockMissingError when one is not there.
 */
export async function readBlocks(rpc: Rpc, from: number, to: number): Promise<BlockWithLogs[]> {
  const reading = readHeaders(rpc, from - 1, to)
  const logsByBlock = new Map<number, RawLog[]>()
  const check = async (logs: readonly RawLog[], range: BlockRange): Promise<void> => {
    const logsOfRange = new Map<number, RawLog[]>()
    for (let number = range.from; number <= range.to; number++) logsOfRange.set(number, [])
    for (const log of logs) {
      const blockLogs = logsOfRange.get(log.blockNumber)
      if (!blockLogs)
        throw new RpcAnswerError(`asked for logs of blocks ${range.from} to ${range.to}, got one of ${log.blockNumber}`)
      blockLogs.push(log)
    }
    // Without headers the whole read fails, which says nothing of the logs.
    const headers = await reading.catch(() => [])
    const asked = headers.filter(({ number }) => number >= range.from && number <= range.to)
    await Promise.all(asked.map((header) => checkLogs(rpc, header, logsOfRange.get(header.number) ?? [])))
    for (const [number, blockLogs] of logsOfRange) logsByBlock.set(number, blockLogs)
  }
  const [headers] = await Promise.all([reading, readLogs(rpc, {}, from, to, check)])
  return headers.slice(1).map((header, i) => ({
    number: header.number,
    hash: header.hash,
    parentHash: header.parentHash,
    time: header.timestamp,
    parentTime: headers[i]?.timestamp ?? header.timestamp,
    txCount: header.transactions.length,
    logs: logsByBlock.get(header.number) ?? [],
  }))
}

/** All logs of a block, by its header. Checked to be complete: rejects with RpcAnswerError if they are not. */
export const readLogsOf = (rpc: Rpc, header: RawHeader): Promise<RawLog[]> =>
  readLogs(rpc, {}, header.number, header.number, (logs) => checkLogs(rpc, header, logs))

/**
 * Who signed each transaction of a block, by its hash. Rejects with BlockMissingError if the node does not have the
 * block, and with RpcAnswerError if it answers about another.
 */
export async function readSigners(
  rpc: Rpc,
  { number, hash }: Pick<BlockWithLogs, 'number' | 'hash'>,
): Promise<Map<string, string>> {
  const block = await rpc.request('eth_getBlockByHash', [hash, true], RawSigners.nullable())
  if (!block) throw new BlockMissingError(`the node does not have block ${number}`)
  if (block.hash !== hash) throw new RpcAnswerError(`asked for block ${hash}, got ${block.hash}`)
  return new Map(block.transactions.map((transaction) => [transaction.hash, transaction.from]))
}
