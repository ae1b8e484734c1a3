import { type AbiEvent, BaseError, decodeEventLog, encodeAbiParameters, toEventSelector } from 'viem'
import { PlumblineError } from '../../process/errors.js'
import { remembered } from './remembered.js'
import type { RawLog } from './rpc-answers.js'

type Args = Record<string, unknown>
/**
 * Reads a log's arguments by name: addresses and bytes as lower-case hex, integers up to 48 bits as numbers, larger
 * ones as bigint.
 */
export type LogDecoder = (log: RawLog) => Args

/** A log does not fit the event that its topic names, so the chain's contracts differ from the known ones. */
class LogDataError extends PlumblineError {
  constructor(event: AbiEvent, log: RawLog, reason: string) {
    super(`log ${log.logIndex} of block ${log.blockNumber} is not a valid ${event.name}: ${reason}`, {
      retryable: false,
    })
  }
}

const WORD = 64
const ZEROS = '0'.repeat(WORD)
const FALSE = `0x${ZEROS}`
const TRUE = `0x${ZEROS.slice(1)}1`
const HEAD = '0x'.length

/** Decodes a 32-byte word, given as 0x and 64 hex digits; null if the word is not a valid value of the type. */
type WordReader = (word: string) => unknown

const addressOf = remembered((word) =>
  word.startsWith(ZEROS.slice(0, 24), HEAD) ? `0x${word.slice(HEAD + 24)}` : null,
)

function wordReader(type: string): WordReader | undefined {
  if (type === 'address') return addressOf
  if (type === 'bool') return (word) => (word === FALSE ? false : word === TRUE ? true : null)
  const [, kind, digits] = /^(uint|int|bytes)(\d+)$/.exec(type) ?? []
  const size = Number(digits)
  if (kind === 'bytes') return (word) => (word.endsWith(ZEROS.slice(size * 2)) ? word.slice(0, HEAD + size * 2) : null)
  if (kind === 'uint') {
    const padding = ZEROS.slice(size / 4)
    return (word) => {
      if (!word.startsWith(padding, HEAD)) return null
      return size <= 48 ? Number.parseInt(word, 16) : BigInt(word)
    }
  }
  if (kind === 'int') {
    return (word) => {
      const value = BigInt.asIntN(256, BigInt(word))
      if (BigInt.asIntN(size, value) !== value) return null
      return size <= 48 ? Number(value) : value
    }
  }
  return undefined
}

/** A word of data. Most data has only one. */
const wordAt = (data: string, at: number): string =>
  data.length === HEAD + WORD ? data : `0x${data.slice(at, at + WORD)}`

/**
 * viem's decoder, for the few events that have strings and arrays. Strings are read as bytes, which have the same
 * encoding, because viem would drop a byte order mark, by which names may differ.
 */
function viemDecoder(event: AbiEvent): LogDecoder {
  const isText = ({ type, indexed }: AbiEvent['inputs'][number]): boolean => type === 'string' && !indexed
  const inBytes = {
    ...event,
    inputs: event.inputs.map((input) => (isText(input) ? { ...input, type: 'bytes' } : input)),
  }
  const topic = toEventSelector(inBytes)
  const argsOf = (log: RawLog): Args => {
    const topics = [topic, ...(log.topics.slice(1) as `0x${string}`[])] as [`0x${string}`, ...`0x${string}`[]]
    try {
      return decodeEventLog({ abi: [inBytes], topics, data: log.data as `0x${string}` }).args as unknown as Args
    } catch (error) {
      throw new LogDataError(event, log, error instanceof BaseError ? error.shortMessage : `${error}`)
    }
  }
  const unindexed = inBytes.inputs.filter(({ indexed }) => !indexed)
  return (log) => {
    const args = argsOf(log)
    // viem ignores what follows, which an event with the same name may have from a later fork on.
    const length = encodeAbiParameters(
      unindexed,
      unindexed.map(({ name }) => args[name as string]),
    ).length
    if (length !== log.data.length)
      throw new LogDataError(event, log, `it has ${log.data.length / 2 - 1} bytes of data`)
    for (const input of event.inputs) {
      const value = args[input.name as string] as string
      if (input.type === 'address') args[input.name as string] = value.toLowerCase()
      if (isText(input)) args[input.name as string] = Buffer.from(value.slice(2), 'hex').toString()
    }
    return args
  }
}

/**
 * A decoder for logs whose first topic is `event`'s. Events with only static types, which nearly all logs are, are read
 * word by word: several times as fast as viem, with the same values. Throws when the log's topics or data do not fit.
 */
export function logDecoder(event: AbiEvent): LogDecoder {
  let topicCount = 1
  let dataLength = HEAD
  const inputs: Array<{ name: string; type: string; topic: number; at: number; read: WordReader }> = []
  for (const { name, type, indexed } of event.inputs) {
    const read = wordReader(type)
    if (!read) return viemDecoder(event)
    inputs.push({ name: name as string, type, topic: indexed ? topicCount++ : 0, at: dataLength, read })
    if (!indexed) dataLength += WORD
  }
  return (log) => {
    const { topics, data } = log
    if (topics.length !== topicCount) throw new LogDataError(event, log, `it has ${topics.length} topics`)
    if (data.length !== dataLength) throw new LogDataError(event, log, `it has ${data.length / 2 - 1} bytes of data`)
    const args: Args = {}
    for (const { name, type, topic, at, read } of inputs) {
      const value = read(topic === 0 ? wordAt(data, at) : (topics[topic] as string))
      if (value === null) throw new LogDataError(event, log, `${name} is not a valid ${type}`)
      args[name] = value
    }
    return args
  }
}
