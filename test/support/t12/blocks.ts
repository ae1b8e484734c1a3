import { bytesToHex, hexToBytes, keccak256, numberToHex, toHex } from 'viem'
import { type BareLog, FEE_MANAGER, logsOf, transferLog } from './actions.js'
import { deedsOf, PATH_USD } from './economy.js'
import { EMPTY_EXCHANGE, type Exchange, rewritten } from './exchange.js'
import { after, afterFee, EMPTY_LEDGER, type Ledger } from './ledger.js'

/** An object of a node's answer. */
export type Json = Record<string, unknown>
/** A block of the local chain as its node answers, with transactions and receipts in full. */
export type LocalBlock = { header: Json & { transactions: Json[] }; receipts: Array<Json & { logs: BareLog[] }> }

export type T12Block = {
  number: number
  hash: string
  localHash: string
  /** Unix milliseconds. */
  time: number
  /** As answered, without transactions. */
  header: Json
  transactions: Json[]
  receipts: Array<Json & { logs: Array<Json & BareLog> }>
  logs: Array<Json & BareLog>
  exchange: Exchange
  ledger: Ledger
}

export type T12Options = {
  /** The seed of what actors do, and of the orders that fail to flip; without one, there are neither. */
  actions?: number | undefined
  /** How many blocks follow each other within a second; one, as by default, leaves the local chain's times as they are. */
  blocksASecond?: 1 | 2 | 3 | undefined
}
/** A log to add to a block, in a transaction of its own. */
export type Injected = { block: number; address: string; topics: readonly string[]; data: string }

/** Above 2^53: from T12 on, a nonce may be any number of 64 bits. */
const FIRST_NONCE = 2n ** 53n + 1n
const GAS = 100_000n
const GAS_PRICE = 20_000_000_000n
/** What the fee of a made transaction is, in base units. */
const feeAt = (price: bigint): bigint => (GAS * price) / 10n ** 12n

/** The filter of a header or receipt for these logs (Ethereum yellow paper, section 4.3.1). */
function bloomOf(logs: readonly BareLog[]): string {
  const filter = new Uint8Array(256)
  for (const item of logs.flatMap(({ address, topics }) => [address, ...topics])) {
    const digest = hexToBytes(keccak256(item as `0x${string}`))
    for (const at of [0, 2, 4]) {
      const bit = (((digest[at] as number) << 8) | (digest[at + 1] as number)) % 2048
      const byte = 255 - Math.floor(bit / 8)
      filter[byte] = (filter[byte] as number) | (1 << (bit % 8))
    }
  }
  return bytesToHex(filter)
}

const hashOf = (...parts: unknown[]): string => keccak256(toHex(JSON.stringify(parts)))

/** A transaction that is made: of one account, with these logs before its fee; `price` is that of gas. */
type Made = { from: string; logs: BareLog[]; price: bigint }

function made(
  number: number,
  { from, logs, price }: Made,
  place: number,
): { transaction: Json; receipt: LocalBlock['receipts'][number] } {
  const hash = hashOf('transaction', number, place, from, logs)
  const nonce = `0x${(FIRST_NONCE + BigInt(number) * 1000n + BigInt(place)).toString(16)}`
  const gas = { gas: numberToHex(2n * GAS), gasPrice: numberToHex(price), maxFeePerGas: numberToHex(price) }
  const used = {
    gasUsed: numberToHex(GAS),
    cumulativeGasUsed: numberToHex(GAS),
    effectiveGasPrice: numberToHex(price),
  }
  const paid = [...logs, transferLog(PATH_USD, from, FEE_MANAGER, feeAt(price))]
  return {
    transaction: { type: '0x76', hash, from, nonce, nonceKey: '0x0', calls: [], value: '0x0', ...gas },
    receipt: { type: '0x76', transactionHash: hash, from, to: null, status: '0x1', ...used, logs: paid },
  }
}

/**
 * The block of T12 that follows `parent`, made of the local chain's: its transactions, whose logs are those of T12, then those
 * of the actors, then one for each injected log.
 */
export function nextBlock(
  parent: T12Block | null,
  { header, receipts }: LocalBlock,
  injected: readonly Injected[],
  { actions: seed, blocksASecond = 1 }: T12Options,
): T12Block {
  const number = Number(header.number)
  const local = Number(header.timestamp) * 1000
  const isFirstOfSecond = parent === null || number % blocksASecond === 0
  const step = Math.floor(1000 / blocksASecond)
  const time = isFirstOfSecond ? Math.max(local, parent?.time ?? 0) : parent.time + step

  const isFailing = (order: bigint): boolean => seed !== undefined && order % 3n === BigInt(seed % 3)
  const before = parent?.exchange ?? EMPTY_EXCHANGE
  const { logs: localLogs, exchange } = rewritten(
    before,
    receipts.map(({ logs }) => logs),
    isFailing,
  )

  let ledger = parent?.ledger ?? EMPTY_LEDGER
  const deeds = seed !== undefined && number > 0 ? deedsOf(seed, number, ledger, before.quotes) : []
  for (const { from, actions } of deeds) {
    ledger = afterFee(actions.reduce(after, ledger), PATH_USD, from, feeAt(GAS_PRICE))
    ledger = { ...ledger, deeds: ledger.deeds + 1 }
  }
  const additions = [
    ...deeds.map(({ from, actions }): Made => ({ from, price: GAS_PRICE, logs: actions.flatMap(logsOf) })),
    ...injected.map(
      ({ address, topics, data }): Made => ({ from: INJECTOR, price: 0n, logs: [{ address, topics, data }] }),
    ),
  ].map((transaction, i) => made(number, transaction, i))

  return assembled(parent, header, {
    time,
    transactions: [...header.transactions, ...additions.map(({ transaction }) => transaction)],
    receipts: [
      ...receipts.map((receipt, i) => ({ ...receipt, logs: localLogs[i] as BareLog[] })),
      ...additions.map(({ receipt }) => receipt),
    ],
    exchange,
    ledger,
  })
}

/** Sends the injected logs, without a price of gas: it has nothing. */
const INJECTOR = `0x${'1e'.repeat(20)}`

type Contents = Pick<T12Block, 'time' | 'exchange' | 'ledger'> & {
  transactions: Json[]
  receipts: LocalBlock['receipts']
}

/** Gives everything in a block its place, and the block its bloom, its hash and its parent. */
function assembled(parent: T12Block | null, header: LocalBlock['header'], contents: Contents): T12Block {
  const { time, exchange, ledger } = contents
  const number = Number(header.number)
  const localHash = header.hash as string
  const bare = contents.receipts.flatMap(({ logs }) => logs)
  const parentHash = parent?.hash ?? (header.parentHash as string)
  const hash = hashOf('block', localHash, parentHash, time, bare)
  const seconds = numberToHex(Math.floor(time / 1000))
  const at = { blockHash: hash, blockNumber: header.number }

  let logIndex = 0
  const receipts = contents.receipts.map((receipt, i) => {
    const place = { ...at, transactionIndex: numberToHex(i), transactionHash: receipt.transactionHash }
    const logs = receipt.logs.map(({ address, topics, data }) => ({
      ...{ address, topics, data, ...place, blockTimestamp: seconds, removed: false },
      logIndex: numberToHex(logIndex++),
    }))
    const fee = logs.at(-1)
    const payer = fee ? `0x${fee.topics[1]?.slice(26)}` : receipt.from
    return { ...receipt, ...place, feePayer: payer, feeToken: fee?.address ?? null, logsBloom: bloomOf(logs), logs }
  })
  const transactions = contents.transactions.map((transaction, i) => ({
    ...transaction,
    ...{ ...at, transactionIndex: numberToHex(i), feeToken: receipts[i]?.feeToken ?? null },
  }))
  const millis = { timestampMillis: numberToHex(time), timestampMillisPart: numberToHex(time % 1000) }
  const { transactions: _, ...rest } = header
  return {
    ...{ number, hash, localHash, time, transactions, receipts, logs: receipts.flatMap(({ logs }) => logs) },
    ...{ exchange, ledger },
    header: { ...rest, hash, parentHash, logsBloom: bloomOf(bare), timestamp: seconds, ...millis },
  }
}
