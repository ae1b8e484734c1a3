import type { Flow } from '../../clickhouse/tables/flows.js'
import { ONE_TOKEN } from '../../domain/peg.js'
import type { BlockWithLogs } from '../sources/blocks.js'
import type { Swap } from './decode-swaps.js'

/**
 * The flow that a swap is. Its value is what went in, at the token's sell price in this block's own sample (1e-6 USD,
 * rounded down); where that has no price, what came out; null where neither has.
 */
export function swapFlow(
  block: Pick<BlockWithLogs, 'number' | 'time'>,
  swap: Swap,
  priceMicros: ReadonlyMap<string, number | null>,
): Flow {
  const from_token = swap.path[0] as string
  const to_token = swap.path.at(-1) as string
  const value = (token: string, amount: bigint): bigint | null => {
    const price = priceMicros.get(token) ?? null
    return price === null ? null : (amount * BigInt(price)) / ONE_TOKEN
  }
  return {
    kind: 'swap',
    from_token,
    to_token,
    account: swap.account,
    amount_in_raw: swap.amountIn.toString(),
    amount_out_raw: swap.amountOut.toString(),
    usd_micros: (value(from_token, swap.amountIn) ?? value(to_token, swap.amountOut))?.toString() ?? null,
    path: swap.path,
    block_number: block.number,
    log_index: swap.logIndex,
    block_time: block.time,
    tx_hash: swap.txHash,
  }
}
