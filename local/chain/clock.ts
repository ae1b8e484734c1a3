/** Blocks that create the market: tokens, then roles and supply, then approvals, then the first orders. */
export const SETUP = { tokens: 1, supply: 2, approvals: 3, books: 4 } as const
/** First block with weather and trade. */
export const FIRST_TRADING_BLOCK = 5

export type MarketClock = {
  /** Cell of a block, or null before trade begins and in the rest of history that fills no whole cell. */
  cellAt: (block: number) => Cell | null
  cellNumber: (index: number) => Cell
  /** Position of a block on the lattice of the drift: whole numbers are lattice points. */
  latticeAt: (block: number) => number
}

/** A stretch [from, to) of blocks with weather of its own. Cells are numbered from 0 and never end. */
export type Cell = { index: number; from: number; to: number; blockSeconds: number }

const CELL_SECONDS = 600
const MIN_CELL_BLOCKS = 6
/** A round of weather is this many cells; a short history is cut into smaller cells so that it still holds a round. */
export const CELLS_PER_ROUND = 12

/**
 * Divides block numbers into cells of ten minutes, on two scales: history (`blocks` of `blockSeconds`) and, after it,
 * live (`liveBlockSeconds`) without end.
 */
export function marketClock(params: { blocks: number; blockSeconds: number; liveBlockSeconds: number }): MarketClock {
  const { blocks, blockSeconds, liveBlockSeconds } = params
  const trading = Math.max(0, blocks - FIRST_TRADING_BLOCK + 1)
  const wanted = Math.round(CELL_SECONDS / blockSeconds)
  const historyCell = Math.max(MIN_CELL_BLOCKS, Math.min(wanted, Math.floor(trading / CELLS_PER_ROUND)))
  const historyCells = Math.floor(trading / historyCell)
  const liveStart = Math.max(blocks + 1, FIRST_TRADING_BLOCK)
  const liveCell = Math.max(MIN_CELL_BLOCKS, Math.round(CELL_SECONDS / liveBlockSeconds))
  // A lattice point every three hours of history and every quarter of an hour live: few enough order moves that the
  // node's state, which it copies and hashes for every block, stays small.
  const historyStep = Math.max(10, Math.min(Math.round(10_800 / blockSeconds), Math.floor(trading / 8)))
  const liveStep = Math.max(10, Math.round(900 / liveBlockSeconds))

  const cellNumber = (index: number): Cell => {
    const live = index >= historyCells
    const length = live ? liveCell : historyCell
    const from = live ? liveStart + (index - historyCells) * liveCell : FIRST_TRADING_BLOCK + index * historyCell
    return { index, from, to: from + length, blockSeconds: live ? liveBlockSeconds : blockSeconds }
  }
  return {
    cellNumber,
    cellAt: (block) => {
      if (block >= liveStart) return cellNumber(historyCells + Math.floor((block - liveStart) / liveCell))
      const index = Math.floor((block - FIRST_TRADING_BLOCK) / historyCell)
      return index >= 0 && index < historyCells ? cellNumber(index) : null
    },
    latticeAt: (block) => (block <= blocks ? block / historyStep : blocks / historyStep + (block - blocks) / liveStep),
  }
}
