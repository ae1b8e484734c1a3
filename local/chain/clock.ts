/** Blocks that create the market: tokens, then roles and supply, then approvals, then the first orders. */
export const SETUP = { tokens: 1, supply: 2, approvals: 3, books: 4 } as const
/** First block with episodes and trade. */
export const FIRST_TRADING_BLOCK = 5

export type MarketClock = {
  /** The cell of a block; null before trade begins and in the last blocks of history, which do not fill a cell. */
  cellAt: (block: number) => Cell | null
  cellNumber: (index: number) => Cell
  /** Position of a block among the points between which prices drift; whole numbers are such points. */
  latticeAt: (block: number) => number
}

/** A range [from, to) of blocks that has at most one episode. Cells are numbered from 0 without end. */
export type Cell = { index: number; from: number; to: number; blockSeconds: number }

const CELL_SECONDS = 600
const MIN_CELL_BLOCKS = 6
/** Number of cells in a round of episodes. A short history has smaller cells, so that it still holds one round. */
export const CELLS_PER_ROUND = 12

/**
 * Divides blocks into cells of ten minutes: first history (`blocks` of `blockSeconds` each), then live blocks
 * (`liveBlockSeconds`) without end.
 */
export function marketClock(params: { blocks: number; blockSeconds: number; liveBlockSeconds: number }): MarketClock {
  const { blocks, blockSeconds, liveBlockSeconds } = params
  const trading = Math.max(0, blocks - FIRST_TRADING_BLOCK + 1)
  const wanted = Math.round(CELL_SECONDS / blockSeconds)
  const historyCell = Math.max(MIN_CELL_BLOCKS, Math.min(wanted, Math.floor(trading / CELLS_PER_ROUND)))
  const historyCells = Math.floor(trading / historyCell)
  const liveStart = Math.max(blocks + 1, FIRST_TRADING_BLOCK)
  const liveCell = Math.max(MIN_CELL_BLOCKS, Math.round(CELL_SECONDS / liveBlockSeconds))
  // One point every three hours of history and every quarter of an hour live. Orders move so rarely that the node's
  // state, which it copies and hashes for every block, stays small.
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
