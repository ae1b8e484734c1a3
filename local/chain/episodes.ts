import { CELLS_PER_ROUND, type Cell } from './clock.js'
import { type Random, randomFor, shuffled } from './random.js'
import type { PlannedStable } from './stables.js'

/**
 * An event of one stable (or pair of stables) in the blocks [fromBlock, toBlock), visible in the state at the end of
 * each block. `sizeBps` is the signed deviation of the sell quote from 1, in the stable's own quote token.
 */
export type Episode = { stable: string; fromBlock: number; toBlock: number } & (
  | { kind: 'mild_break' | 'severe_break' | 'blip'; sizeBps: number }
  /** The side of the book that is empty: without bids there is no sell quote, without asks no buy quote. */
  | { kind: 'dry'; side: 'bids' | 'both' }
  /** `swaps` swaps a block from `stable` to `to`. */
  | { kind: 'burst'; to: string; swaps: number }
  /** Mints `amount` micro-units up to twelve times in the first half, and burns it as often in the second. */
  | { kind: 'issuance'; amount: bigint }
  | { kind: 'pause' }
)

type Kind = Episode['kind'] | 'calm'

/**
 * The kinds of one round of cells. The first round has this order, so that a short history has the most important ones.
 */
const ROUND: readonly Kind[] = [
  'mild_break',
  'dry',
  'severe_break',
  'burst',
  'issuance',
  'pause',
  'blip',
  'mild_break',
  'calm',
  'burst',
  'issuance',
  'calm',
]

/**
 * Duration of an episode in seconds, [shortest, longest]. A mild break is detected after five minutes, a severe one
 * after one.
 */
const SECONDS: Record<Exclude<Kind, 'calm'>, readonly [number, number]> = {
  mild_break: [360, 480],
  severe_break: [120, 300],
  blip: [60, 180],
  dry: [120, 360],
  burst: [120, 300],
  issuance: [240, 420],
  pause: [180, 420],
}

/** The episodes of a cell: none if it is calm, otherwise one, with a calm block before and after it within the cell. */
export function cellEpisodes(seed: number, stables: readonly PlannedStable[], cell: Cell): Episode[] {
  const round = Math.floor(cell.index / CELLS_PER_ROUND)
  const order = round === 0 ? ROUND : shuffled(ROUND, randomFor(seed, 'round', round))
  const kind = order[cell.index % CELLS_PER_ROUND] as Kind
  if (kind === 'calm') return []
  const random = randomFor(seed, 'cell', cell.index)
  const span = place(kind, cell, random)
  const volatile = stables.filter((s) => s.temperament === 'volatile')
  const listed = stables.filter((s) => s.hasPair)
  switch (kind) {
    case 'mild_break':
      return [{ kind, stable: random.pick(volatile).symbol, ...span, sizeBps: signed(random.int(14, 45), random) }]
    case 'severe_break':
      return [{ kind, stable: random.pick(volatile).symbol, ...span, sizeBps: signed(random.int(60, 140), random) }]
    case 'blip':
      return [{ kind, stable: random.pick(volatile).symbol, ...span, sizeBps: signed(random.int(14, 30), random) }]
    case 'dry':
      return [{ kind, stable: random.pick(volatile).symbol, ...span, side: random.chance(0.5) ? 'bids' : 'both' }]
    case 'burst': {
      const steady = listed.filter((s) => s.temperament === 'steady' && !s.pausable)
      const [from, to] = shuffled(steady, random) as [PlannedStable, PlannedStable]
      return [{ kind, stable: from.symbol, ...span, to: to.symbol, swaps: random.int(5, 8) }]
    }
    case 'issuance':
      return [
        { kind, stable: random.pick(stables).symbol, ...span, amount: BigInt(random.int(50_000, 600_000)) * 10n ** 6n },
      ]
    case 'pause':
      return [{ kind, stable: random.pick(stables.filter((s) => s.pausable)).symbol, ...span }]
  }
}

function place(kind: Exclude<Kind, 'calm'>, cell: Cell, random: Random): { fromBlock: number; toBlock: number } {
  const room = cell.to - cell.from - 2
  const blocks = (seconds: number): number => Math.max(1, Math.ceil(seconds / cell.blockSeconds))
  const [shortest, longest] = SECONDS[kind]
  const length = Math.min(room, Math.max(2, random.int(blocks(shortest), blocks(longest))))
  const fromBlock = cell.from + 1 + random.int(0, room - length)
  return { fromBlock, toBlock: fromBlock + length }
}

/** Most breaks are below the peg, as in reality. */
const signed = (size: number, random: Random): number => (random.chance(0.75) ? -size : size)
