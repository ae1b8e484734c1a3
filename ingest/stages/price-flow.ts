import type { Flow } from '../../clickhouse/flows/flows.js'
import { ONE_TOKEN } from '../../clickhouse/peg/peg.js'
import type { PegSample } from '../../clickhouse/peg/peg-samples.js'
import type { BlockWithLogs } from '../sources/blocks.js'

/** A flow without its value and its block's place. Amounts in base units; the token is '' on the side that is off this chain. */
export type Movement = Pick<Flow, 'kind' | 'from_token' | 'to_token' | 'account' | 'path' | 'remote_chain'> & {
  amountIn: bigint
  amountOut: bigint
  logIndex: number
  txHash: string
}

/**
 * The flow that a movement is. Its value is what went in, at the token's sell price in this block's own sample (1e-6
 * USD, rounded down); where that has no price, what came out; null where neither has.
 */
export function priceFlow(
  block: Pick<BlockWithLogs, 'number' | 'time'>,
  { amountIn, amountOut, logIndex, txHash, ...flow }: Movement,
  priceMicros: ReadonlyMap<string, number | null>,
): Flow {
  const value = (token: string, amount: bigint): bigint | null => {
    const price = priceMicros.get(token) ?? null
    return price === null ? null : (amount * BigInt(price)) / ONE_TOKEN
  }
  return {
    ...flow,
    amount_in_raw: amountIn.toString(),
    amount_out_raw: amountOut.toString(),
    usd_micros: (value(flow.from_token, amountIn) ?? value(flow.to_token, amountOut))?.toString() ?? null,
    block_number: block.number,
    log_index: logIndex,
    block_time: block.time,
    tx_hash: txHash,
  }
}

/** The movements of a block as flows, valued at the block's own samples. */
export function flowsOf(
  block: Pick<BlockWithLogs, 'number' | 'time'>,
  movements: readonly Movement[],
  samples: readonly PegSample[],
): Flow[] {
  if (movements.length === 0) return []
  const prices = new Map(samples.map(({ stable, sell_micros }) => [stable, sell_micros]))
  return movements.map((movement) => priceFlow(block, movement, prices))
}
