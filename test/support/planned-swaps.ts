import type { Flow } from '../../clickhouse/flows/flows.js'
import { traderActions } from '../../local/chain/actions.js'
import type { MarketPlan } from '../../local/chain/plan.js'
import { PATH_USD } from '../../local/chain/stables.js'

/**
 * The planned swaps of a market's history, as if all were executed, each as one flow, and each action as one transaction.
 * `madeAt` is the time of block 0 in unix seconds.
 */
export function plannedSwaps(plan: MarketPlan, madeAt: number): Flow[] {
  const addressOf = (symbol: string): string => (symbol === PATH_USD.symbol ? PATH_USD : plan.stable(symbol)).address
  const flows: Flow[] = []
  for (let block_number = 1; block_number <= plan.params.blocks; block_number++)
    for (const [i, action] of traderActions(plan, block_number).entries()) {
      const swaps = action.kind === 'swap' ? [action.swap] : action.kind === 'batch' ? action.swaps : []
      for (const { tokenIn, tokenOut, amount } of swaps)
        flows.push({
          ...{ kind: 'swap', from_token: addressOf(tokenIn), to_token: addressOf(tokenOut), account: '', path: [] },
          ...{ amount_in_raw: '0', amount_out_raw: '0', usd_micros: `${amount}`, remote_chain: null },
          ...{ block_time: madeAt + block_number * plan.params.blockSeconds, tx_hash: `${block_number} ${i}` },
          ...{ block_number, log_index: flows.length },
        })
    }
  return flows
}
