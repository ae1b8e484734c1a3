import { numberToHex } from 'viem'
import { z } from 'zod'
import { RawHeader, RawLog, RpcAnswerError } from './answers.js'
import { logsBloom } from './logs-bloom.js'
import type { Rpc } from './rpc.js'

/** A block with every log of it, in log order, and the time of the block before. Times are in unix seconds. */
export type BlockWithLogs = {
  number: number
  hash: string
  parentHash: string
  time: number
  parentTime: number
  txCount: number
  logs: RawLog[]
}

const readHeader = (rpc: Rpc, number: number): Promise<RawHeader> =>
  rpc.request('eth_getBlockByNumber', [numberToHex(number), false], RawHeader)

/** Throws unless the headers are the asked ones, each the parent of the next. */
function checkChain(headers: readonly RawHeader[], from: number): void {
  headers.forEach((header, i) => {
    if (header.number !== from + i) throw new RpcAnswerError(`asked for block ${from + i}, got ${header.number}`)
    const parent = headers[i - 1]
    if (parent && header.parentHash !== parent.hash)
      throw new RpcAnswerError(`block ${header.number} is no child of block ${parent.number}`)
    if (parent && header.timestamp < parent.timestamp)
      throw new RpcAnswerError(`block ${header.number} is older than its parent`)
  })
}

/** Throws unless `logs` are the block's logs, all of them. */
function checkLogs(header: RawHeader, logs: readonly RawLog[]): void {
  logs.forEach((log, i) => {
    if (log.blockHash !== header.hash)
      throw new RpcAnswerError(`a log of block ${header.number} names another block hash`)
    if (log.logIndex !== i) throw new RpcAnswerError(`block ${header.number} lacks the log with index ${i}`)
  })
  if (logsBloom(logs) !== header.logsBloom)
    throw new RpcAnswerError(`the logs of block ${header.number} do not fill its logs bloom`)
}

/**
 * The blocks `from` to `to`, both included, oldest first. Checked: they form a chain, and the logs of each are
 * complete, by their indices and by the header's bloom. Rejects with RpcAnswerError when they are not.
 */
export async function readBlocks(rpc: Rpc, from: number, to: number): Promise<BlockWithLogs[]> {
  const first = from - 1
  const [headers, logs] = await Promise.all([
    Promise.all(Array.from({ length: to - first + 1 }, (_, i) => readHeader(rpc, first + i))),
    rpc.request('eth_getLogs', [{ fromBlock: numberToHex(from), toBlock: numberToHex(to) }], z.array(RawLog)),
  ])
  checkChain(headers, first)
  const logsByBlock = new Map<number, RawLog[]>(headers.map(({ number }) => [number, []]))
  for (const log of logs) {
    const own = logsByBlock.get(log.blockNumber)
    if (!own) throw new RpcAnswerError(`asked for logs of blocks ${from} to ${to}, got one of ${log.blockNumber}`)
    own.push(log)
  }
  return headers.slice(1).map((header, i) => {
    const own = (logsByBlock.get(header.number) ?? []).sort((a, b) => a.logIndex - b.logIndex)
    checkLogs(header, own)
    return {
      number: header.number,
      hash: header.hash,
      parentHash: header.parentHash,
      time: header.timestamp,
      parentTime: headers[i]?.timestamp ?? header.timestamp,
      txCount: header.transactions.length,
      logs: own,
    }
  })
}
