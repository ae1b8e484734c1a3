import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { z } from 'zod'
import { TIP20 } from '../chain/abis.js'
import { type BlockId, runCalls } from './multicall.js'
import type { Rpc } from './rpc.js'

const READS = ['symbol', 'name', 'currency', 'quoteToken'] as const
const Description = z.tuple([z.string(), z.string(), z.string(), z.string()])

export type TokenDescription = { stable: string; symbol: string; name: string; currency: string; quoteToken: string }

/** Those of `candidates` that are tokens at the end of a block, with their own descriptions. */
export async function describeTokens(
  rpc: Rpc,
  candidates: readonly string[],
  block: BlockId,
): Promise<TokenDescription[]> {
  const calls = candidates.flatMap((target) =>
    READS.map((functionName) => ({ target, callData: encodeFunctionData({ abi: TIP20, functionName }) })),
  )
  const results = await runCalls(rpc, calls, block)
  return candidates.flatMap((stable, i) => {
    const tokenResults = results.slice(i * READS.length, (i + 1) * READS.length)
    // A call to an address without a token succeeds and returns nothing.
    if (!tokenResults.every(({ success, returnData }) => success && returnData !== '0x')) return []
    const answers = READS.map((functionName, j) =>
      decodeFunctionResult({ abi: TIP20, functionName, data: tokenResults[j]?.returnData ?? '0x' }),
    )
    const [symbol, name, currency, quoteToken] = Description.parse(answers)
    return [{ stable, symbol, name, currency, quoteToken: quoteToken.toLowerCase() }]
  })
}
