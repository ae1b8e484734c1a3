import { z } from 'zod'

/** Ranges of block numbers, both ends included, as a query's parameter. */
export const BlockRanges = z.array(z.tuple([z.int(), z.int()]))

/** The condition that `block_number` lies in one of the parameter `ranges`. */
export const IN_RANGES = 'arrayExists(r -> block_number BETWEEN r[1] AND r[2], {ranges: Array(Array(UInt64))})'
