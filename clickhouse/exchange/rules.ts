import type { ForkTime } from '../chain/forks.js'

/** What the chain's forks changed in the exchange. */
export type Rules = {
  /** Whether a quote is refused if a token that is sold on its way is paused: since T3. */
  refusesPaused: boolean
  /**
   * Whether a filled flip order stands again under its own id, or a log says that it failed to: since T5. Before, it was
   * placed again under a new id, or was gone without a log.
   */
  flipsInPlace: boolean
  /**
   * Whether a quote rounds at each order, as a swap does: since T12 (TIP-1088). Before, it took each level as one order
   * of the level's total.
   */
  roundsByOrder: boolean
}

/** The exchange's rules in a block of this time, in unix seconds. A fork that is not listed is not active. */
export function rulesAt(forks: readonly ForkTime[], time: number): Rules {
  const isActive = (fork: string): boolean =>
    forks.some(({ name, activation_time }) => name === fork && activation_time <= time)
  return { refusesPaused: isActive('T3'), flipsInPlace: isActive('T5'), roundsByOrder: isActive('T12') }
}
