import { LRUCache } from 'lru-cache'
import { type Hex, toFunctionSelector } from 'viem'
import type { DepthSample } from '../../clickhouse/depth/depth.js'
import { type SideQuote, type Sides, sideQuote } from '../../clickhouse/exchange/stable-quotes.js'
import { DEPTH_SIZES, ONE_TOKEN, type QuoteStatus, REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { STABLECOIN_DEX } from '../chain/addresses.js'
import { RpcAnswerError } from '../chain/rpc-answers.js'
import { type BlockId, type Call, type CallResult, isExhausted, runCalls, runOfStrangers } from './multicall.js'
import { partsOf } from './parts.js'
import type { Rpc } from './rpc.js'

const AMOUNT_IN = toFunctionSelector('quoteSwapExactAmountIn(address,address,uint128)')
const AMOUNT_OUT = toFunctionSelector('quoteSwapExactAmountOut(address,address,uint128)')

const wordOf = (digits: string): string => digits.padStart(64, '0')

/** The data of a quote. viem would hash the function's signature for each: a block may ask for hundreds. */
const quoteData = (selector: Hex, tokenIn: string, tokenOut: string, amount: bigint): Hex =>
  `${selector}${wordOf(tokenIn.slice(2))}${wordOf(tokenOut.slice(2))}${wordOf(amount.toString(16))}`

/** The DEX's reverts, and the status of the quote that each means. */
const STATUS_OF_REVERT = new Map<string, QuoteStatus>([
  [toFunctionSelector('InsufficientLiquidity()'), 'no_liquidity'],
  [toFunctionSelector('PairDoesNotExist()'), 'no_pair'],
  [toFunctionSelector('InvalidCurrency()'), 'not_usd'],
  [toFunctionSelector('ContractPaused()'), 'paused'],
])

/**
 * Asks what `amount` base units of a stable sell for, and what they cost, in the reference stable. If need be, the DEX
 * routes through other books.
 */
const quoteCalls = (stable: string, amount: bigint): [sell: Call, buy: Call] => [
  { target: STABLECOIN_DEX, callData: quoteData(AMOUNT_IN, stable, REFERENCE_STABLE, amount) },
  { target: STABLECOIN_DEX, callData: quoteData(AMOUNT_OUT, REFERENCE_STABLE, stable, amount) },
]

/** The node's answer about one side of `size` base units. A refused quote is a valid answer. */
function sideOf(size: bigint, result: CallResult | undefined): SideQuote {
  const answer = result as CallResult
  const amount = amountOf(answer)
  const refusal = STATUS_OF_REVERT.get(answer.returnData.slice(0, 10)) ?? 'failed'
  return sideQuote(size, { status: amount === null ? refusal : 'quoted', amount })
}

/** The one uint128 that a quote returns, whichever side was asked for; null if it was refused. */
function amountOf({ success, returnData }: CallResult): bigint | null {
  if (!success) return null
  if (returnData.length !== '0x'.length + 64)
    throw new RpcAnswerError(`a quote is not a number: ${returnData.slice(0, 80)}`)
  return BigInt(returnData)
}

/** Quotes of one token in micro-units of the reference stable. `status` is that of the sell quote. */
export type Quote = { status: QuoteStatus; sellMicros: number | null; buyMicros: number | null }

/** A thousand stables in each of the sizes that are asked for. */
const MOST_SHARED_CALLS = 5000
const sharedCalls = new LRUCache<string, ReturnType<typeof quoteCalls>>({ max: MOST_SHARED_CALLS })

/** The two calls of `quoteCalls`, encoded once for a size that is quoted in every block. */
function sharedQuoteCalls(stable: string, size: bigint): ReturnType<typeof quoteCalls> {
  const key = `${stable} ${size}`
  const calls = sharedCalls.get(key) ?? quoteCalls(stable, size)
  sharedCalls.set(key, calls)
  return calls
}

/** The calls that ask for both quotes of each stable. */
export const quoteCallsOf = (stables: readonly string[]): Call[] =>
  stables.flatMap((stable) => sharedQuoteCalls(stable, ONE_TOKEN))

const micros = (amount: bigint | null): number | null => (amount === null ? null : Number(amount))

/** Both sides of one token as a quote. */
export const quoteOf = ({ sell, buy }: Sides<SideQuote>): Quote => ({
  status: sell.status,
  sellMicros: micros(sell.amount),
  buyMicros: micros(buy.amount),
})

/** Both sides of a size as a sample of depth. */
export const depthSample = (
  { stable, size_tokens }: Pick<DepthSample, 'stable' | 'size_tokens'>,
  block: { number: number; time: number },
  { sell, buy }: Sides<SideQuote>,
): DepthSample => ({
  stable,
  size_tokens,
  block_number: block.number,
  block_time: block.time,
  sell_status: sell.status,
  sell_raw: sell.amount?.toString() ?? null,
  buy_status: buy.status,
  buy_raw: buy.amount?.toString() ?? null,
})

/**
 * What one token of each stable sells for and costs on the DEX at the end of a block: one quote per stable, in their
 * order. Rejects with StateUnavailableError if the node no longer has the state.
 */
export async function readQuotes(rpc: Rpc, stables: readonly string[], block: BlockId): Promise<Quote[]> {
  return (await readAnswers(rpc, stables, block)).map(({ quote }) => quote)
}

/** As `readQuotes`, with whether the gas that the node gives sufficed: if not, a quote that `failed` says nothing. */
export async function readAnswers(
  rpc: Rpc,
  stables: readonly string[],
  block: BlockId,
): Promise<Array<{ quote: Quote; isAnswered: boolean }>> {
  const results = await runCalls(rpc, quoteCallsOf(stables), block)
  return stables.map((_, i) => {
    const [selling, buying] = [results[2 * i], results[2 * i + 1]]
    const quote = quoteOf({ sell: sideOf(ONE_TOKEN, selling), buy: sideOf(ONE_TOKEN, buying) })
    return { quote, isAnswered: !hasRunOut(selling) && !hasRunOut(buying) }
  })
}

const hasRunOut = (result: CallResult | undefined): boolean => result !== undefined && isExhausted(result)

/** Both quotes of a stable in each size, sizes ascending. */
const depthCalls = (stable: string): Call[] =>
  DEPTH_SIZES.flatMap((size_tokens) => sharedQuoteCalls(stable, BigInt(size_tokens) * ONE_TOKEN))
const CALLS_OF_DEPTH = 2 * DEPTH_SIZES.length

type DepthOptions = { unlisted?: ReadonlySet<string>; onlyAnswered?: boolean }

/**
 * What each size of each stable sells for and costs on the DEX at the end of a block: one sample per stable and size,
 * in the order of the stables, sizes ascending. Those of the `unlisted` are read apart, with a limit of gas: whoever made
 * such a token may have filled its books. If `onlyAnswered`, without those for which the gas did not suffice. Rejects with StateUnavailableError if the node no longer has the state.
 */
export async function readDepths(
  rpc: Rpc,
  stables: readonly string[],
  block: BlockId & { time: number },
  { unlisted = new Set(), onlyAnswered = false }: DepthOptions = {},
): Promise<DepthSample[]> {
  const sizes = stables.flatMap((stable) => DEPTH_SIZES.map((size_tokens) => ({ stable, size_tokens })))
  const listed = stables.filter((stable) => !unlisted.has(stable))
  const others = stables.filter((stable) => unlisted.has(stable))
  const [ofListed, ofOthers] = await Promise.all([
    runCalls(rpc, listed.flatMap(depthCalls), block),
    runOfStrangers(rpc, others.map(depthCalls), block),
  ])
  const resultsOf = new Map(
    [...listed, ...others].map((stable, i) => {
      const first = CALLS_OF_DEPTH * i
      return [stable, ofOthers[i - listed.length] ?? ofListed.slice(first, first + CALLS_OF_DEPTH)] as const
    }),
  )
  return sizes.flatMap(({ stable, size_tokens }) => {
    const size = BigInt(size_tokens) * ONE_TOKEN
    const at = 2 * DEPTH_SIZES.indexOf(size_tokens)
    const ofStable = resultsOf.get(stable)
    const [selling, buying] = [ofStable?.[at], ofStable?.[at + 1]]
    if (onlyAnswered && (hasRunOut(selling) || hasRunOut(buying))) return []
    const sides = { sell: sideOf(size, selling), buy: sideOf(size, buying) }
    return depthSample({ stable, size_tokens }, block, sides)
  })
}

/** Most amounts whose book values strangers can make read in one block: as many calls as fit one request. */
const MOST_BOOK_VALUES = 250
/** How many of a token are read in one eth_call, and of how many such eth_calls the gas may run out in one block. */
const [BOOK_VALUES_AT_ONCE, MOST_DEAR_GROUPS] = [8, 10]

/**
 * What the DEX pays for each of these amounts at the end of a block, in base units of the reference stable; null where
 * it would not take the whole amount. If it `isLimited`, the result ends after MOST_BOOK_VALUES: the others are not asked for, because
 * anybody can fill a block with amounts of tokens of their own; nor are those that take more gas than is allowed to
 * strangers. Rejects with StateUnavailableError if the node no longer has the state.
 */
export async function readBookValues(
  rpc: Rpc,
  amounts: readonly { token: string; amount: bigint }[],
  block: BlockId,
  { isLimited = true }: { isLimited?: boolean } = {},
): Promise<Array<bigint | null>> {
  const sale = ({ token, amount }: { token: string; amount: bigint }): Call => quoteCalls(token, amount)[0]
  if (!isLimited) return (await runCalls(rpc, amounts.map(sale), block)).map(amountOf)
  const wanted = amounts.slice(0, MOST_BOOK_VALUES)
  // Of each token apart, so that one whose books are full takes nothing from the others.
  const groups = [...new Set(wanted.map(({ token }) => token))].flatMap((token) =>
    partsOf(wanted.filter((amount) => amount.token === token).map(sale), BOOK_VALUES_AT_ONCE),
  )
  const results = await runOfStrangers(rpc, groups, block, { mostDear: MOST_DEAR_GROUPS })
  const resultOf = new Map(
    groups.flatMap((calls, g) => calls.map((call, i) => [call.callData, results[g]?.[i]] as const)),
  )
  return wanted.map((amount) => amountOf(resultOf.get(sale(amount).callData) as CallResult))
}
