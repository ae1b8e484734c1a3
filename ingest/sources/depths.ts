import type { DepthSample } from '../../clickhouse/depth/depth-samples.js'
import { ONE_TOKEN } from '../../clickhouse/peg/peg.js'
import { type BlockId, multicallsFor, runMulticalls } from './multicall.js'
import type { CallResult } from './multicall-answer.js'
import { quoteCalls, quoteOf } from './quote-calls.js'
import type { Rpc } from './rpc.js'

/** The sizes that depth is sampled at, in whole tokens. */
const DEPTH_SIZES = [1_000, 10_000, 100_000, 1_000_000] as const

const depthMulticalls = multicallsFor((stable) =>
  DEPTH_SIZES.flatMap((size) => quoteCalls(stable, BigInt(size) * ONE_TOKEN)),
)

/**
 * What each size of each stable sells for and costs on the DEX at the end of a block: a sample a stable and size, the
 * stables in their order, the sizes ascending. Rejects with StateUnavailableError where the node no longer knows.
 */
export async function readDepths(
  rpc: Rpc,
  stables: readonly string[],
  block: BlockId & { time: number },
): Promise<DepthSample[]> {
  const results = await runMulticalls(rpc, depthMulticalls(stables), block)
  const asked = stables.flatMap((stable) => DEPTH_SIZES.map((size_tokens) => ({ stable, size_tokens })))
  return asked.map(({ stable, size_tokens }, i) => {
    const sell = quoteOf(results[2 * i] as CallResult)
    const buy = quoteOf(results[2 * i + 1] as CallResult)
    return {
      stable,
      size_tokens,
      block_number: block.number,
      block_time: block.time,
      sell_status: sell.status,
      sell_raw: sell.amount?.toString() ?? null,
      buy_status: buy.status,
      buy_raw: buy.amount?.toString() ?? null,
    }
  })
}
