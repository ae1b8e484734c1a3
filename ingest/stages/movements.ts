import type { Swap } from './decode-swaps.js'
import type { Exchange } from './exchanges.js'
import type { Movement } from './price-flow.js'

const ofSwap = ({ path, ...swap }: Swap): Movement => ({
  ...swap,
  kind: 'swap',
  from_token: path[0] as string,
  to_token: path.at(-1) as string,
  path,
  remote_chain: null,
})

const ofExchange = ({ tokenIn, tokenOut, counterparty: _, ...exchange }: Exchange): Movement => ({
  ...exchange,
  kind: 'transfer',
  from_token: tokenIn,
  to_token: tokenOut,
  path: [tokenIn, tokenOut],
  remote_chain: null,
})

/** Whether an exchange hands on what a swap of one of the two accounts moved, as routers do: it is counted by the swap. */
const isHandedOn = (exchange: Exchange, swap: Swap): boolean =>
  swap.txHash === exchange.txHash &&
  (swap.account === exchange.account || swap.account === exchange.counterparty) &&
  swap.path[0] === exchange.tokenIn &&
  swap.path.at(-1) === exchange.tokenOut

/** What moved between stables in a block, and between it and other chains (`bridged`), in log order. */
export function movementsOf(
  swaps: readonly Swap[],
  exchanges: readonly Exchange[],
  bridged: readonly Movement[],
): Movement[] {
  const own = exchanges.filter((exchange) => !swaps.some((swap) => isHandedOn(exchange, swap)))
  return [...swaps.map(ofSwap), ...own.map(ofExchange), ...bridged].sort((a, b) => a.logIndex - b.logIndex)
}
