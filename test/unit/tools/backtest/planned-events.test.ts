import { expect, test } from 'vitest'
import { traderActions } from '../../../../local/chain/actions.js'
import type { Episode } from '../../../../local/chain/episodes.js'
import { planMarket } from '../../../../local/chain/plan.js'
import { plannedFlows } from '../../../../local/chain/planned-events.js'
import { parseFlowLabels } from '../../../../tools/backtest/flow-labels.js'

const MADE_AT = 1_780_000_000
const plan = planMarket({ seed: 3, blocks: 1440, blockSeconds: 60, liveBlockSeconds: 1, stables: 10 })

/** The volume of the planned swaps on an edge in blocks [from, to), in tokens. */
function volumeOf(from: string, to: string, fromBlock: number, toBlock: number): { swaps: number; tokens: number } {
  let [swaps, tokens] = [0, 0]
  for (let block = fromBlock; block < toBlock; block++)
    for (const action of traderActions(plan, block))
      if (action.kind === 'swap' && action.swap.tokenIn === from && action.swap.tokenOut === to) {
        swaps++
        tokens += Number(action.swap.amount) / 1e6
      }
  return { swaps, tokens }
}

test('the planned flows of a market are its bursts, with their edge, time and size', () => {
  const bursts = plan.episodes(0, 1441).filter((e): e is Episode & { kind: 'burst' } => e.kind === 'burst')
  const labels = parseFlowLabels(plannedFlows(plan, MADE_AT))
  // Some are between stables that no route connects: nothing is traded then.
  const traded = bursts.filter(
    ({ stable, to, fromBlock, toBlock }) => volumeOf(stable, to, fromBlock, toBlock).swaps > 1,
  )
  expect(labels).toHaveLength(traded.length)
  expect(traded.length).toBeGreaterThan(15)
  expect(traded.length).toBeLessThan(bursts.length)
  const ordinary = volumeOf('INUSD', 'pathUSD', 5, 1440)
  const usual = ordinary.tokens / ordinary.swaps
  expect(ordinary.swaps).toBeGreaterThan(50)
  for (const { stable, to, fromBlock, toBlock } of traded) {
    const [from_token, to_token] = [plan.stable(stable).address, plan.stable(to).address]
    const from = MADE_AT + 60 * fromBlock
    const label = labels.find((one) => one.from === from && one.from_token === from_token && one.to_token === to_token)
    expect(label?.to, `${stable} to ${to}`).toBe(MADE_AT + 60 * toBlock)
    // Both are random draws: of ten swaps or more here, of dozens there.
    const ratio = volumeOf(stable, to, fromBlock, toBlock).tokens / usual / (label?.multiple as number)
    expect(ratio, `${stable} to ${to}`).toBeGreaterThan(0.5)
    expect(ratio, `${stable} to ${to}`).toBeLessThan(2)
  }
})
