import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { remembered } from './remembered.js'

/** The node's answer violates the protocol: garbage, truncated, or about another block. */
export class RpcAnswerError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: true })
  }
}

/** The node does not have a block, or no longer has it. */
export class BlockMissingError extends RpcAnswerError {}

const HASH = /^0x[0-9a-fA-F]{64}$/
const HEX = /^0x[0-9a-fA-F]*$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
/** A quantity that fits a double. Some nodes write leading zeros. */
const QUANTITY = /^0x0*[0-9a-fA-F]{1,14}$/

/** Digits in upper case mean the same; they are read as lower case, because they are compared. */
const digits = (form: RegExp) =>
  z
    .string()
    .regex(form)
    .transform((text) => text.toLowerCase())
const hex = digits(HEX)
const hash = digits(HASH)
const address = digits(ADDRESS)
export const Quantity = z.string().regex(QUANTITY).transform(Number)

export const RawHeader = z.object({
  number: Quantity,
  hash,
  parentHash: hash,
  timestamp: Quantity,
  logsBloom: digits(/^0x[0-9a-fA-F]{512}$/),
  transactions: z
    .array(hash)
    .nullable()
    .transform((hashes) => hashes ?? []),
})
export type RawHeader = z.infer<typeof RawHeader>

export const RawLog = z.object({
  address,
  topics: z.array(hash).max(4),
  data: hex,
  blockNumber: Quantity,
  blockHash: hash,
  transactionHash: hash,
  logIndex: Quantity,
  /** Unix seconds of its block; newer nodes say it. */
  blockTimestamp: Quantity.nullish().catch(null),
})
export type RawLog = z.infer<typeof RawLog>

type RawFields = { [Field in keyof RawLog]?: unknown }
const isText = (value: unknown, form: RegExp): value is string => typeof value === 'string' && form.test(value)

/** Texts as they are read, undefined if they are not valid; one that repeats is checked once, and kept in memory once. */
const topicOf = remembered((text) => (isText(text, HASH) ? text.toLowerCase() : undefined))
const addressOf = remembered((text) => (isText(text, ADDRESS) ? text.toLowerCase() : undefined))

/**
 * Checks logs field by field, as `RawLog` does. Adjacent logs share most of their other fields too, so these are checked
 * once, and kept in memory once. Returns the field that is not valid, with its log's place, instead of the logs.
 */
function decodeLogs(answers: readonly unknown[]): RawLog[] | [place: number, field: string] {
  const logs: RawLog[] = []
  let before: RawFields = {}
  let last: RawLog | undefined
  for (const [i, answer] of answers.entries()) {
    if (typeof answer !== 'object' || answer === null) return [i, '']
    const fields = answer as RawFields & { removed?: unknown }
    // A log of a block that a reorganization has removed.
    if (fields.removed === true) continue
    const { data, topics, logIndex } = fields
    const isSame = (field: keyof RawLog): boolean => last !== undefined && fields[field] === before[field]
    const address = addressOf(fields.address as string)
    if (address === undefined) return [i, 'address']
    if (!isSame('blockHash') && !isText(fields.blockHash, HASH)) return [i, 'blockHash']
    if (!isSame('transactionHash') && !isText(fields.transactionHash, HASH)) return [i, 'transactionHash']
    if (!isSame('blockNumber') && !isText(fields.blockNumber, QUANTITY)) return [i, 'blockNumber']
    if (!isText(data, HEX)) return [i, 'data']
    if (!isText(logIndex, QUANTITY)) return [i, 'logIndex']
    if (!Array.isArray(topics) || topics.length > 4) return [i, 'topics']
    for (let j = 0; j < topics.length; j++) {
      const topic = topicOf(topics[j] as string)
      if (topic === undefined) return [i, 'topics']
      topics[j] = topic
    }
    const time = fields.blockTimestamp
    const isSameTime = last !== undefined && time === before.blockTimestamp
    last = {
      address,
      topics,
      data: data.toLowerCase(),
      blockNumber: last && isSame('blockNumber') ? last.blockNumber : Number(fields.blockNumber),
      blockHash: last && isSame('blockHash') ? last.blockHash : (fields.blockHash as string).toLowerCase(),
      transactionHash:
        last && isSame('transactionHash') ? last.transactionHash : (fields.transactionHash as string).toLowerCase(),
      logIndex: Number(logIndex),
      blockTimestamp: isSameTime && last ? last.blockTimestamp : isText(time, QUANTITY) ? Number(time) : null,
    }
    before = fields
    logs.push(last)
  }
  return logs
}

const inOrder = (a: RawLog, b: RawLog): number => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex

const isRepeat = (log: RawLog, before: RawLog | undefined): boolean =>
  before !== undefined &&
  (Object.keys(log) as (keyof RawLog)[]).every((field) => String(log[field]) === String(before[field]))

/** Logs in their order, each once: nodes that assemble an answer from parts may return neither. */
function orderLogs(logs: RawLog[]): RawLog[] {
  if (logs.every((log, i) => i === 0 || inOrder(logs[i - 1] as RawLog, log) < 0)) return logs
  const ordered = logs.toSorted(inOrder)
  return ordered.filter((log, i) => !isRepeat(log, ordered[i - 1]))
}

/**
 * The answer of eth_getLogs: many logs, which are checked several times as fast as one by one with `RawLog`. They are in
 * order, without repeats and without those of removed blocks; null, as some nodes write it, is none.
 */
export const RawLogs = z
  .array(z.unknown())
  .nullable()
  .transform((answers, context): RawLog[] => {
    const read = decodeLogs(answers ?? [])
    const [place, field] = read
    if (typeof place !== 'number') return orderLogs(read as RawLog[])
    context.addIssue({ code: 'custom', path: [place, `${field}`], message: 'is not valid' })
    return z.NEVER
  })

/** A block with its transactions, of which only who signed each is read. */
export const RawSigners = z.object({
  hash,
  transactions: z.array(z.object({ hash, from: address })),
})

export const RawReceipt = z.object({ logs: z.array(z.unknown()) })

export const Bytes = hex
