import type { BlockWithLogs } from '../sources/blocks.js'

/** Times in unix seconds. */
type BlockTimes = Pick<BlockWithLogs, 'time' | 'parentTime'>

const MINUTE = 60
const FIVE_MINUTES = 5 * MINUTE

/** Whether a block is the first of its aligned period. The block and its parent say so, whenever it is read. */
const isFirstOf = (period: number, { time, parentTime }: BlockTimes): boolean =>
  Math.floor(time / period) > Math.floor(parentTime / period)

/** Whether the state of every sampled stable is read at a block: at the first one of each aligned five minutes. */
export const isStateDue = (block: BlockTimes): boolean => isFirstOf(FIVE_MINUTES, block)

/**
 * Whether depth is sampled at a block: at the first one of each aligned minute, and where blocks are a minute or more
 * apart, so that every block would be one, at the first of each aligned five minutes.
 */
export const isDepthDue = (block: BlockTimes): boolean =>
  isFirstOf(FIVE_MINUTES, block) || (isFirstOf(MINUTE, block) && block.time - block.parentTime < MINUTE)
