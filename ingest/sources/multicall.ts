import DataLoader from 'dataloader'
import pLimit from 'p-limit'
import { BaseError, type Hex, numberToHex, toFunctionSelector } from 'viem'
import { BLOCK_HASHES, BLOCK_HASHES_HELD, MULTICALL3 } from '../chain/addresses.js'
import { Bytes, Quantity, RpcAnswerError } from '../chain/rpc-answers.js'
import { partsOf } from './parts.js'
import type { Rpc } from './rpc.js'
import { isStateUnavailable, StateUnavailableError } from './state-unavailable.js'

/** `returnData` is the call's result, or the revert's data if `success` is false. */
export type CallResult = { success: boolean; returnData: Hex }

const WORD = 64

/**
 * Decodes the answer of Multicall3's aggregate3: an array of (bool success, bytes returnData) in ABI encoding. Throws
 * RangeError for anything else, a truncated answer included. Reads the digits in place, several times as fast as viem
 * and with the same result: a thousand stables have two thousand results a block.
 */
export function decodeResults(answer: string): CallResult[] {
  /** The word at a digit, as a number; it must be possible as a length or an offset within the answer. */
  const numberAt = (at: number): number => {
    const digits = answer.slice(at, at + WORD)
    const value = Number.parseInt(digits, 16)
    if (digits.length < WORD || !(value <= answer.length))
      throw new RangeError(`no valid length or offset at digit ${at}`)
    return value
  }
  // Offsets are in bytes, from the start of the enclosing part.
  const list = '0x'.length + 2 * numberAt('0x'.length)
  const count = numberAt(list)
  const results: CallResult[] = []
  for (let i = 0; i < count; i++) {
    const result = list + WORD + 2 * numberAt(list + WORD + i * WORD)
    const success = numberAt(result)
    const bytes = result + 2 * numberAt(result + WORD)
    const returnData = answer.slice(bytes + WORD, bytes + WORD + 2 * numberAt(bytes))
    if (success > 1 || returnData.length !== 2 * numberAt(bytes)) throw new RangeError(`result ${i} is malformed`)
    results.push({ success: success === 1, returnData: `0x${returnData}` })
  }
  return results
}

/**
 * A step that runs all `reads` concurrently and returns their results in order. It rejects with the first failure once
 * all have ended; when run again, it repeats only those that failed. This way a thousand reads succeed on a node that
 * fails one in a hundred, where all of them at once never would.
 */
export function allOf<Result>(reads: ReadonlyArray<() => Promise<Result>>): () => Promise<Result[]> {
  const done = new Map<number, Result>()
  return async () => {
    const ended = await Promise.allSettled(
      reads.map(async (read, i) => {
        if (!done.has(i)) done.set(i, await read())
      }),
    )
    for (const end of ended) if (end.status === 'rejected') throw end.reason
    return reads.map((_, i) => done.get(i) as Result)
  }
}

export type Call = { target: string; callData: Hex }

/** A block with its hash, because another block may have its number by the time the node is asked. */
export type BlockId = { number: number; hash: string }

/**
 * Most calls in one eth_call, for which nodes allow 50 million gas (the default of Reth and Geth). A quote takes some 15,000
 * gas, and since fork T12 some more for each order that it passes: one of a token passes one order a book, unless what is
 * left of orders is less, since they are placed with at least a hundred; one of a million may pass ten thousand. Such a
 * request has 150 kB; anvil accepts 2 MB. More calls at once are hardly faster, and nodes answer several requests concurrently.
 */
export const MOST_CALLS = 250

/** How much gas an eth_call may take whose cost a stranger decides: enough to pass hundreds of orders. */
const STRANGER_GAS = 2_000_000
/** After so many calls of a group that take more, the rest of it is not made. */
const MOST_EXHAUSTED = 4

/** About so many calls are encoded at a time, some 600 bytes each: two hundred blocks of a thousand stables have 400,000. */
const MOST_ENCODED = 20_000

const AGGREGATE3 = toFunctionSelector('aggregate3((address,bool,bytes)[])')
const wordOf = (value: number): string => value.toString(16).padStart(WORD, '0')
/** Where a call's list of three fields puts its bytes, behind them. */
const BYTES_AT = wordOf(3 * 32)
const TRUE = wordOf(1)

/** The ABI encoding of a call that may fail by itself, as Multicall3 takes it: (address, bool, bytes). */
function encodedCall({ target, callData }: Call): string {
  const bytes = callData.slice(2)
  const padding = '0'.repeat((WORD - (bytes.length % WORD)) % WORD)
  return `${target.slice(2).padStart(WORD, '0')}${TRUE}${BYTES_AT}${wordOf(bytes.length / 2)}${bytes}${padding}`
}

/** The request that makes all `calls` in one. Writes the digits itself: several times as fast as viem, with the same result. */
export function multicallOf(calls: readonly Call[]): { to: string; data: Hex } {
  const encoded = calls.map(encodedCall)
  let at = calls.length * 32
  let offsets = ''
  for (const call of encoded) {
    offsets += wordOf(at)
    at += call.length / 2
  }
  const data: Hex = `${AGGREGATE3}${wordOf(32)}${wordOf(calls.length)}${offsets}${encoded.join('')}`
  return { to: MULTICALL3, data }
}

/** Calls on the state at the end of a block. */
type CallGroup = { calls: readonly Call[]; block: BlockId }

/** Of each client, what gathers the calls that are made in the same turn of the event loop. */
const gathering = new WeakMap<Rpc, DataLoader<CallGroup, CallResult[]>>()

/**
 * Runs `calls`, each of which may fail by itself, on the state at the end of a block. Returns one result per call, in their
 * order. All that are made on a block in one turn of the event loop share an eth_call: nodes take more time to begin one
 * than to run it (anvil 0.9 ms, whether it has 4 calls or 12), and providers charge for each.
 */
export async function runCalls(rpc: Rpc, calls: readonly Call[], block: BlockId): Promise<CallResult[]> {
  if (calls.length === 0) return []
  const gathered =
    gathering.get(rpc) ?? new DataLoader((groups: readonly CallGroup[]) => runGathered(rpc, groups), { cache: false })
  gathering.set(rpc, gathered)
  return gathered.load({ calls, block })
}

/** The results of each of `asked`, or why they failed. */
async function runGathered(rpc: Rpc, groups: readonly CallGroup[]): Promise<Array<CallResult[] | Error>> {
  const byBlock = new Map<string, CallGroup[]>()
  for (const group of groups) {
    const groupsOfBlock = byBlock.get(group.block.hash)
    if (groupsOfBlock) groupsOfBlock.push(group)
    else byBlock.set(group.block.hash, [group])
  }
  const callsOfABlock = groups.reduce((sum, { calls }) => sum + calls.length, 0) / byBlock.size
  const inTurn = pLimit(Math.max(1, Math.floor(MOST_ENCODED / callsOfABlock)))
  const resultsOf = new Map<CallGroup, CallResult[] | Error>()
  const runAt = async (blockGroups: readonly CallGroup[]): Promise<void> => {
    const { block } = blockGroups[0] as CallGroup
    const calls = blockGroups.flatMap((group) => group.calls)
    const read = () => settleParts(rpc, calls, block)
    const results = await (rpc.followsNewest ? unlessMined(rpc, block, read) : read()).catch((error: Error) =>
      calls.map(() => error),
    )
    let at = 0
    for (const group of blockGroups) {
      const ended = results.slice(at, at + group.calls.length)
      at += group.calls.length
      resultsOf.set(group, ended.find((end) => end instanceof Error) ?? (ended as CallResult[]))
    }
  }
  await Promise.all([...byBlock.values()].map((blockGroups) => inTurn(() => runAt(blockGroups))))
  return groups.map((group) => resultsOf.get(group) as CallResult[] | Error)
}

/** The result of each call, or why the part with it failed: of a thousand stables' depths, a few parts may. */
async function settleParts(rpc: Rpc, calls: readonly Call[], block: BlockId): Promise<Array<CallResult | Error>> {
  const parts = partsOf(calls, MOST_CALLS)
  const outcomes = await Promise.allSettled(parts.map((part) => run(rpc, part, block)))
  return outcomes.flatMap(
    (end, i): Array<CallResult | Error> =>
      end.status === 'fulfilled' ? end.value : (parts[i] ?? []).map(() => end.reason as Error),
  )
}

/** Runs calls in parts of `size`. */
const runParts = async (rpc: Rpc, calls: readonly Call[], block: BlockId, size: number): Promise<CallResult[]> =>
  (await Promise.all(partsOf(calls, size).map((part) => run(rpc, part, block)))).flat()

/**
 * A `read` of a block's state, repeated if the block was the newest and the next one came meanwhile. Anvil answers for
 * its newest block from its live state, even when asked by hash: while it mines the next block, and during the whole
 * replay after a restart, that is the state of another block. Of older blocks it keeps the states. The number of the
 * newest block grows only a moment after the live state has changed, so the state itself is asked whether the next block
 * has begun.
 */
async function unlessMined<Result>(rpc: Rpc, { number, hash }: BlockId, read: () => Promise<Result>): Promise<Result> {
  const isNewest = async (): Promise<boolean> => (await rpc.request('eth_blockNumber', [], Quantity)) <= number
  const slot = numberToHex(number % BLOCK_HASHES_HELD)
  const hasNextBegun = async (): Promise<boolean> =>
    (await rpc.request('eth_getStorageAt', [BLOCK_HASHES, slot, 'latest'], Bytes)) === hash
  for (;;) {
    const wasNewest = await isNewest()
    const result = await read()
    if (!wasNewest) return result
    const [isOfNext, isStillNewest] = await Promise.all([hasNextBegun(), isNewest()])
    if (!isOfNext && isStillNewest) return result
  }
}

/** A revert returns its reason. A call that ran out of gas returns nothing; one before it may have used the gas up. */
export const isExhausted = ({ success, returnData }: CallResult): boolean => !success && returnData === '0x'

/** Runs calls in one eth_call; null if they are too many for the node, or for the gas that it may use. */
async function callOnce(rpc: Rpc, calls: readonly Call[], block: BlockId, gas?: number): Promise<CallResult[] | null> {
  const request = gas === undefined ? multicallOf(calls) : { ...multicallOf(calls), gas: numberToHex(gas) }
  const answer = await rpc.request('eth_call', [request, { blockHash: block.hash }], Bytes).catch((error: unknown) => {
    if (isStateUnavailable(error)) throw new StateUnavailableError(block.number, error)
    if (calls.length > 1 ? isTooMuch(error) : gas !== undefined && isOutOfGas(error)) return null
    throw error
  })
  if (answer === null) return null
  let results: CallResult[]
  try {
    results = decodeResults(answer)
  } catch {
    throw new RpcAnswerError(`the multicall at block ${block.number} returned an unexpected answer`)
  }
  if (results.length !== calls.length)
    throw new RpcAnswerError(`made ${calls.length} calls at block ${block.number}, got ${results.length} results`)
  return results
}

/**
 * Runs calls in one eth_call. If they are too many for the node, runs each half of them. If the gas ran out, the first call
 * without a result is the one that used it up, or was the last that it was enough for: it is run alone, and the others
 * again. So each call that takes all there is costs the node two eth_calls, however many are beside it.
 */
async function run(rpc: Rpc, calls: readonly Call[], block: BlockId): Promise<CallResult[]> {
  const results = await callOnce(rpc, calls, block)
  if (results === null) return runParts(rpc, calls, block, Math.ceil(calls.length / 2))
  const [first, ...others] = calls.filter((_, i) => isExhausted(results[i] as CallResult))
  if (first === undefined || calls.length === 1) return results
  const [alone, again] = await Promise.all([
    run(rpc, [first], block),
    others.length === 0 ? [] : run(rpc, others, block),
  ])
  const rest = [...alone, ...again]
  return results.map((result) => (isExhausted(result) ? (rest.shift() as CallResult) : result))
}

/** Whether the gas of a multicall was not enough. */
const isOutOfGas = (error: unknown): boolean =>
  error instanceof BaseError && /out ?of ?gas|intrinsic gas|gas (required )?exceeds|gas limit/i.test(error.details)

/** Whether the node refused a multicall because of its gas, its size or its duration. */
const isTooMuch = (error: unknown): boolean =>
  isOutOfGas(error) ||
  (error instanceof BaseError &&
    (/too large|execution (timeout|aborted)/i.test(error.details) || ('status' in error && error.status === 413)))

const EXHAUSTED: CallResult = { success: false, returnData: '0x' }

/** Whether a group of calls had gas enough, and the result of each of them. */
type LimitedGroup = { isWhole: boolean; results: CallResult[] }

/**
 * A group in one eth_call; if the gas is not enough for all, one by one, because where it ran out tells nothing of those
 * after it.
 */
async function runLimited(rpc: Rpc, calls: readonly Call[], block: BlockId): Promise<LimitedGroup> {
  const together = await callOnce(rpc, calls, block, STRANGER_GAS)
  if (together && !together.some(isExhausted)) return { isWhole: true, results: together }
  const results: CallResult[] = []
  for (const call of calls.length === 1 ? [] : calls) {
    if (results.filter(isExhausted).length >= MOST_EXHAUSTED) break
    const [alone = EXHAUSTED] = (await callOnce(rpc, [call], block, STRANGER_GAS)) ?? []
    results.push(alone)
  }
  return { isWhole: false, results: calls.map((_, i) => results[i] ?? EXHAUSTED) }
}

/**
 * Runs calls whose cost a stranger decides, as of quotes through books that he has filled: the results of each group, in
 * their order. Each group has eth_calls of its own, so that what a call returns does not depend on other groups; one that
 * takes more than STRANGER_GAS fails without data. With `mostDear`, the groups are run one after the other, and none any more
 * once so many have lacked gas.
 */
export async function runOfStrangers(
  rpc: Rpc,
  groups: ReadonlyArray<readonly Call[]>,
  block: BlockId,
  { mostDear }: { mostDear?: number } = {},
): Promise<CallResult[][]> {
  const inTurn = async (most: number): Promise<CallResult[][]> => {
    const ended: LimitedGroup[] = []
    for (const calls of groups) {
      if (ended.filter(({ isWhole }) => !isWhole).length >= most) break
      ended.push(await runLimited(rpc, calls, block))
    }
    return groups.map((calls, i) => ended[i]?.results ?? calls.map(() => EXHAUSTED))
  }
  const atOnce = () => Promise.all(groups.map(async (calls) => (await runLimited(rpc, calls, block)).results))
  const read = () => (mostDear === undefined ? atOnce() : inTurn(mostDear))
  return rpc.followsNewest && groups.length > 0 ? unlessMined(rpc, block, read) : read()
}
