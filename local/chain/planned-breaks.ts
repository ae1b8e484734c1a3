import { isoSeconds } from '../../process/instants.js'
import type { MarketPlan } from './plan.js'

/**
 * The planned breaks of a market's history as CSV, for `npm run backtest -- --labels`: the time in which a stable, or one on its
 * way to pathUSD, is off its peg, by how many basis points, or cannot be sold. `madeAt` is the time of block 0 in unix
 * seconds.
 */
export function plannedBreaks(plan: MarketPlan, madeAt: number): string {
  const { blocks, blockSeconds } = plan.params
  const timeOf = (block: number): string => isoSeconds(new Date((madeAt + block * blockSeconds) * 1000))
  const rows = plan.episodes(0, blocks + 1).flatMap((episode) => {
    const { fromBlock, toBlock, kind } = episode
    if (kind === 'burst' || kind === 'issuance' || toBlock > blocks) return []
    const bps = 'sizeBps' in episode ? episode.sizeBps : ''
    // A paused stable cannot be sold, but others can be sold by way of it.
    const isAffected = ({ symbol, hasPair }: MarketPlan['tokens'][number]): boolean =>
      kind === 'pause'
        ? symbol === episode.stable
        : hasPair && plan.routeToPathUsd(symbol).some((hop) => hop.symbol === episode.stable)
    return plan.tokens
      .filter(isAffected)
      .map(({ address }) => `${address},${timeOf(fromBlock)},${timeOf(toBlock)},${bps}\n`)
  })
  return ['stable,from,to,bps\n', ...rows].join('')
}
