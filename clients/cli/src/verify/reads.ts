import { decodeFunctionResult, encodeFunctionData, type Hex, parseAbi, toFunctionSelector } from 'viem'
import { REFERENCE } from '../../../../oracle/liquidity.js'
import {
  ANCHOR,
  DEPTH_SIZES,
  MOST_BOOKS,
  ONE_TOKEN,
  type Quote,
  type Quotes,
  quoteOf,
  type Sample,
  without,
} from './formulas.js'
import { type Block, type Call, type CallResult, type ChainNode, NodeError } from './node.js'

/** The exchange and the registry of transfer policies: the same addresses on every network of the chain. */
const EXCHANGE = '0xdec0000000000000000000000000000000000000'
const REGISTRY = '0x403c000000000000000000000000000000000000'

const EXCHANGE_ABI = parseAbi([
  'function quoteSwapExactAmountIn(address tokenIn, address tokenOut, uint128 amountIn) view returns (uint128)',
  'function quoteSwapExactAmountOut(address tokenIn, address tokenOut, uint128 amountOut) view returns (uint128)',
])
const TOKEN_ABI = parseAbi([
  'function totalSupply() view returns (uint256)',
  'function supplyCap() view returns (uint256)',
  'function paused() view returns (bool)',
  'function transferPolicyId() view returns (uint64)',
  'function symbol() view returns (string)',
  'function currency() view returns (string)',
  'function quoteToken() view returns (address)',
])
const REGISTRY_ABI = parseAbi(['function policyData(uint64 policyId) view returns (uint8 policyType, address admin)'])

const quoteCalls = (stable: Hex, amount: bigint): Call[] => [
  {
    target: EXCHANGE,
    callData: encodeFunctionData({
      abi: EXCHANGE_ABI,
      functionName: 'quoteSwapExactAmountIn',
      args: [stable, REFERENCE, amount],
    }),
  },
  {
    target: EXCHANGE,
    callData: encodeFunctionData({
      abi: EXCHANGE_ABI,
      functionName: 'quoteSwapExactAmountOut',
      args: [REFERENCE, stable, amount],
    }),
  },
]

type Read = (typeof TOKEN_ABI)[number]['name']
const READS = ['totalSupply', 'supplyCap', 'paused', 'transferPolicyId', 'symbol', 'currency'] as const

const tokenCall = (target: Hex, functionName: Read): Call => ({
  target,
  callData: encodeFunctionData({ abi: TOKEN_ABI, functionName }),
})

/** What a token answered. Throws NodeError if it did not. */
function tokenAnswer(functionName: Read, result: CallResult | undefined, block: Block) {
  if (!result?.success) throw new NodeError(`${functionName} failed at block ${block.number}`)
  try {
    return decodeFunctionResult({ abi: TOKEN_ABI, functionName, data: result.returnData })
  } catch {
    throw new NodeError(`${functionName} has no usable answer at block ${block.number}`)
  }
}

const STATUS_OF_REVERT = new Map([
  [toFunctionSelector('InsufficientLiquidity()'), 'no_liquidity'],
  [toFunctionSelector('PairDoesNotExist()'), 'no_pair'],
  [toFunctionSelector('InvalidCurrency()'), 'not_usd'],
  [toFunctionSelector('ContractPaused()'), 'paused'],
])

const answerOf = (size: bigint, { success, returnData }: CallResult): Quote =>
  success
    ? quoteOf(size, BigInt(returnData))
    : { status: STATUS_OF_REVERT.get(returnData.slice(0, 10) as Hex) ?? 'failed', amount: null }

const sampleOf = (size: bigint, [sell, buy]: readonly CallResult[]): Sample => ({
  sell: answerOf(size, sell as CallResult),
  buy: answerOf(size, buy as CallResult),
})

/** Whether more than eight books lie between a stable and the reference. Every stable has one quote token. */
async function isTooDeep(node: ChainNode, stable: Hex, block: Block): Promise<boolean> {
  let token = stable
  for (let books = 0; token !== REFERENCE; books++) {
    if (books === MOST_BOOKS) return true
    const [result] = await node.run(block, [tokenCall(token, 'quoteToken')])
    if (!result?.success) return false
    token = `${tokenAnswer('quoteToken', result, block)}`.toLowerCase() as Hex
  }
  return false
}

async function readSample(node: ChainNode, stable: Hex, block: Block): Promise<Sample> {
  if (stable === REFERENCE) return ANCHOR
  const [currency, ...quotes] = await node.run(block, [tokenCall(stable, 'currency'), ...quoteCalls(stable, ONE_TOKEN)])
  if (tokenAnswer('currency', currency, block) !== 'USD') return without('not_usd')
  const sample = sampleOf(ONE_TOKEN, quotes)
  return sample.sell.amount !== null && (await isTooDeep(node, stable, block)) ? without('too_deep') : sample
}

/** What the node's exchange quotes, which takes the state of the block. */
export const quotesFromState = (node: ChainNode): Quotes => ({
  sample: (stable, block) => readSample(node, stable, block),
  depth: (stable, block) => readDepth(node, stable, block),
})

async function readDepth(node: ChainNode, stable: Hex, block: Block) {
  const sizes = [ONE_TOKEN, ...DEPTH_SIZES.map((size) => BigInt(size) * ONE_TOKEN)]
  const results = await node.run(
    block,
    sizes.flatMap((size) => quoteCalls(stable, size)),
  )
  const [single, ...depths] = sizes.map((size, i) => sampleOf(size, results.slice(2 * i, 2 * i + 2)))
  return { single: single as Sample, depths: DEPTH_SIZES.map((size, i) => ({ size, ...(depths[i] as Sample) })) }
}

export type TokenState = {
  supply: bigint
  cap: bigint
  paused: boolean
  symbol: string
  currency: string
  policyId: bigint
  /** Of a policy that is not built in. */
  policyType: number | null
  policyAdmin: string | null
}

/** Supply, cap, pause, policy and texts of a token at the end of a block. */
export async function readState(node: ChainNode, stable: Hex, block: Block): Promise<TokenState> {
  const results = await node.run(
    block,
    READS.map((read) => tokenCall(stable, read)),
  )
  const [supply, cap, paused, policyId, symbol, currency] = READS.map((read, i) =>
    tokenAnswer(read, results[i], block),
  ) as [bigint, bigint, boolean, bigint, string, string]
  const state = { supply, cap, paused, policyId, symbol, currency, policyType: null, policyAdmin: null }
  if (policyId <= 1n) return state
  const data = encodeFunctionData({ abi: REGISTRY_ABI, functionName: 'policyData', args: [policyId] })
  const [result] = await node.run(block, [{ target: REGISTRY, callData: data }])
  if (!result?.success) throw new NodeError(`policyData failed at block ${block.number}`)
  const [policyType, policyAdmin] = decodeFunctionResult({
    abi: REGISTRY_ABI,
    functionName: 'policyData',
    data: result.returnData,
  })
  return { ...state, policyType, policyAdmin }
}
