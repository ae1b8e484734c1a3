import { BURST_TOKENS, isOpen, MEAN_SWAP_TOKENS } from './actions.js'
import type { Episode } from './episodes.js'
import type { MarketPlan } from './plan.js'

/** The episodes that lie wholly within a market's history. */
const pastEpisodes = (plan: MarketPlan): Episode[] =>
  plan.episodes(0, plan.params.blocks + 1).filter(({ toBlock }) => toBlock <= plan.params.blocks)

/** ISO 8601 in UTC without a fraction. */
const isoSeconds = (unixSeconds: number): string => `${new Date(unixSeconds * 1000).toISOString().slice(0, -5)}Z`

/** The first and the last time of an episode, as in a CSV file. `madeAt` is the time of block 0 in unix seconds. */
const timesOf = ({ params }: MarketPlan, madeAt: number, { fromBlock, toBlock }: Episode): string =>
  [fromBlock, toBlock].map((block) => isoSeconds(madeAt + block * params.blockSeconds)).join(',')

/**
 * The planned breaks of a market's history as CSV, for `npm run backtest -- --labels`: the time in which a stable, or one on its
 * way to pathUSD, is off its peg, by how many basis points, or cannot be sold. `madeAt` is the time of block 0 in unix
 * seconds.
 */
export function plannedBreaks(plan: MarketPlan, madeAt: number): string {
  const rows = pastEpisodes(plan).flatMap((episode) => {
    const { kind } = episode
    if (kind === 'burst' || kind === 'issuance') return []
    const bps = 'sizeBps' in episode ? episode.sizeBps : ''
    // A paused stable cannot be sold, but others can be sold by way of it.
    const isAffected = ({ symbol, hasPair }: MarketPlan['tokens'][number]): boolean =>
      kind === 'pause'
        ? symbol === episode.stable
        : hasPair && plan.routeToPathUsd(symbol).some((hop) => hop.symbol === episode.stable)
    return plan.tokens.filter(isAffected).map(({ address }) => `${address},${timesOf(plan, madeAt, episode)},${bps}\n`)
  })
  return ['stable,from,to,bps\n', ...rows].join('')
}

/**
 * The planned bursts of trade of a market's history as CSV, for `npm run backtest -- --flows --labels`: the edge, the time, and
 * the planned volume as a multiple of one ordinary swap, as most edges of the market have at most one in 15 minutes. A burst
 * between stables that no route connects does not happen.
 */
export function plannedFlows(plan: MarketPlan, madeAt: number): string {
  const [least, most] = BURST_TOKENS
  const rows = pastEpisodes(plan).flatMap((episode) => {
    if (episode.kind !== 'burst') return []
    const { stable, to, swaps, fromBlock, toBlock } = episode
    if (!isOpen(plan, { tokenIn: stable, tokenOut: to }, fromBlock)) return []
    const multiple = (swaps * (toBlock - fromBlock) * (least + most)) / 2 / MEAN_SWAP_TOKENS
    const edge = [stable, to].map((symbol) => plan.stable(symbol).address).join(',')
    return [`${edge},${timesOf(plan, madeAt, episode)},${multiple.toFixed(1)}\n`]
  })
  return ['from_token,to_token,from,to,multiple\n', ...rows].join('')
}
