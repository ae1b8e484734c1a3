import { encodeFunctionData, type Hex, multicall3Abi, numberToHex, toFunctionSelector } from 'viem'
import { z } from 'zod'
import { type ExchangeLog, OrderBooks } from '../../clickhouse/exchange/books.js'
import { isExchangeLog } from '../../clickhouse/exchange/events.js'
import { type Question, quote } from '../../clickhouse/exchange/quote.js'
import type { Rules } from '../../clickhouse/exchange/rules.js'
import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { GENESIS_TOKENS, MULTICALL3, STABLECOIN_DEX } from '../../ingest/chain/addresses.js'
import { decodeLog } from '../../ingest/chain/events.js'
import { RawLog } from '../../ingest/chain/rpc-answers.js'
import { decodeResults } from '../../ingest/sources/multicall.js'
import type { Rpc } from '../../local/chain/rpc.js'

/** Blocks that are read in one request. */
const RANGE = 200

/** The logs of each block up to `head` that change what the exchange quotes. */
export async function exchangeLogs(rpc: Rpc, head: number): Promise<Map<number, ExchangeLog[]>> {
  const byBlock = new Map<number, ExchangeLog[]>()
  for (let from = 0; from <= head; from += RANGE) {
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(Math.min(from + RANGE - 1, head)) }
    for (const log of z.array(RawLog).parse(await rpc.call('eth_getLogs', [range]))) {
      const event = decodeLog(log)
      if (!event || !isExchangeLog(event)) continue
      const logs = byBlock.get(log.blockNumber)
      if (logs) logs.push(event)
      else byBlock.set(log.blockNumber, [event])
    }
  }
  return byBlock
}

/** The books before the first block: no logs tell of the tokens that exist then. */
export async function genesisBooks(rpc: Rpc): Promise<OrderBooks> {
  const data = toFunctionSelector('quoteToken()')
  const answers = await rpc.batch(GENESIS_TOKENS.map((to) => ['eth_call', [{ to, data }, '0x0']] as const))
  return new OrderBooks(GENESIS_TOKENS.map((token, i) => ({ token, quoteToken: `0x${(answers[i] as Hex).slice(26)}` })))
}

const SELECTORS = {
  in: toFunctionSelector('quoteSwapExactAmountIn(address,address,uint128)'),
  out: toFunctionSelector('quoteSwapExactAmountOut(address,address,uint128)'),
}
/** The exchange's reverts, and what a quote from logs says instead. */
const REFUSALS = new Map<string, string>([
  [toFunctionSelector('InsufficientLiquidity()'), 'no_liquidity'],
  [toFunctionSelector('PairDoesNotExist()'), 'no_pair'],
  [toFunctionSelector('ContractPaused()'), 'paused'],
  [toFunctionSelector('InvalidToken()'), 'no_token'],
  [toFunctionSelector('IdenticalTokens()'), 'same_token'],
  [toFunctionSelector('Panic(uint256)'), 'overflow'],
])
const wordOf = (digits: string): string => digits.padStart(64, '0')
/** Questions that fit one call of the local node. */
const AT_ONCE = 500

/** What the node's exchange answers at the end of a block: an amount, or why it refuses. */
export async function askedOfNode(
  rpc: Rpc,
  block: number,
  questions: readonly Question[],
): Promise<Array<bigint | string>> {
  const calls = questions.map(({ from, to, exact, amount }) => ({
    target: STABLECOIN_DEX as Hex,
    allowFailure: true,
    callData: `${SELECTORS[exact]}${[from.slice(2), to.slice(2), amount.toString(16)].map(wordOf).join('')}` as Hex,
  }))
  const parts = Array.from({ length: Math.ceil(calls.length / AT_ONCE) }, (_, i) =>
    calls.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  )
  const answers = await rpc.batch(
    parts.map((part) => {
      const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [part] })
      return ['eth_call', [{ to: MULTICALL3, data }, numberToHex(block)]] as const
    }),
  )
  return answers
    .flatMap((answer) => decodeResults(answer as string))
    .map(({ success, returnData }) =>
      success ? BigInt(returnData) : (REFUSALS.get(returnData.slice(0, 10)) ?? returnData),
    )
}

/** The largest amount that the exchange can express. */
const MOST = 2n ** 128n - 1n
/** The tokens of each size, from one to ten million. */
const SIZES = [1, 100, 10_000, 100_000, 1_000_000, 10_000_000]

/**
 * Questions about every token: in both directions and both ways of six sizes and the largest amount of all against the
 * reference stable, and of three sizes against the next token. `odd` is added to the sizes, in base units, so that they are
 * not round.
 */
export function questionsAbout(tokens: readonly string[], odd: number): Question[] {
  const about = (from: string, to: string, sizes: readonly number[]): Question[] =>
    sizes.flatMap((size) =>
      (['in', 'out'] as const).map((exact) => ({ from, to, exact, amount: BigInt(size) * 1_000_000n + BigInt(odd) })),
    )
  return tokens.flatMap((token, i) => [
    ...about(token, REFERENCE_STABLE, SIZES),
    ...about(REFERENCE_STABLE, token, SIZES),
    ...[token, REFERENCE_STABLE].flatMap((from) => {
      const to = from === token ? REFERENCE_STABLE : token
      return (['in', 'out'] as const).map((exact) => ({ from, to, exact, amount: MOST }))
    }),
    ...about(token, tokens[(i + 1) % tokens.length] as string, SIZES.slice(0, 3)),
  ])
}

export type Comparison = { asked: number; answers: Map<string, number>; differences: object[] }

/**
 * Replays the exchange's logs up to `head`, and at the end of each of the `blocks` compares what the books quote for every
 * token with what the node's exchange does.
 */
export async function compareQuotes(
  rpc: Rpc,
  head: number,
  { rules, compares }: { rules: Rules; compares: (block: number) => boolean },
): Promise<Comparison & { books: OrderBooks }> {
  const byBlock = await exchangeLogs(rpc, head)
  const books = await genesisBooks(rpc)
  const comparison: Comparison = { asked: 0, answers: new Map(), differences: [] }
  for (let number = 0; number <= head; number++) {
    books.apply({ number, rules, logs: byBlock.get(number) ?? [] })
    if (!compares(number)) continue
    const questions = questionsAbout([...books.tokens.keys()].slice(1), (number * 7919) % 1000)
    const node = await askedOfNode(rpc, number, questions)
    for (const [i, question] of questions.entries()) {
      const { status, amount } = quote(books, question, rules)
      comparison.asked++
      comparison.answers.set(status, (comparison.answers.get(status) ?? 0) + 1)
      if ((amount ?? status) !== node[i])
        comparison.differences.push({ number, ...question, books: amount ?? status, node: node[i] })
    }
  }
  return { ...comparison, books }
}
