import { type Family, isByStable, needsState } from '../../clickhouse/chain/batches.js'
import type { IngestGap } from '../../clickhouse/chain/gaps.js'
import type { BlockRange } from '../chain/block-ranges.js'
import { StateUnavailableError } from '../sources/state-unavailable.js'
import { type Batch, completeBatch } from './complete-batch.js'
import type { BatchReader, DecodedBlock } from './decode.js'
import type { QuotedBatch } from './quote-batch.js'
import { EVERYTHING, type Scope } from './scope.js'

/** What a node has of a batch. `batch` is null if it has nothing; `gaps` lists what it does not have, and why. */
export type Completed = { batch: Batch | null; gaps: IngestGap[] }

/** The gaps of families of a range, for a reason. */
export const gapsOf = ({ from, to }: BlockRange, families: readonly Family[], reason: string): IngestGap[] =>
  families.map((family) => ({ family, from_block: from, to_block: to, reason }))

/** What is left out of a batch if the node lacks a state: what always needs it, and then the quotes that the books do not know. */
function lostWithState(families: readonly Family[]): readonly Family[] {
  const states = families.filter(needsState)
  return states.length > 0 ? states : families.filter((family) => family === 'pegs')
}

/**
 * Completes a batch as far as the node can: if it no longer has the state of one of the blocks, without the families that need
 * it, which become gaps. Then values of flows may be missing too, which is a gap of the logs. Batches may be completed
 * concurrently.
 */
export async function completeWithGaps(
  reader: BatchReader,
  quoted: QuotedBatch,
  scope: Scope = EVERYTHING,
): Promise<Completed> {
  const { decoded } = quoted
  const range = { from: (decoded[0] as DecodedBlock).block.number, to: (decoded.at(-1) as DecodedBlock).block.number }
  const gaps: IngestGap[] = []
  for (let { families } = scope; families.length > 0; ) {
    try {
      return withUnpriced(range, await completeBatch(reader, quoted, scopeWith(scope, families)), gaps)
    } catch (error) {
      const lost = lostWithState(families)
      if (!(error instanceof StateUnavailableError) || lost.length === 0) throw error
      gaps.push(...gapsOf(range, lost, error.message))
      families = families.filter((family) => !lost.includes(family))
    }
  }
  return { batch: null, gaps }
}

/** A scope with some of its families. */
const scopeWith = ({ only, except }: Scope, families: readonly Family[]): Scope =>
  families.some(isByStable) ? { families, only, except } : { families, only: [], except: [] }

/** The gap of a range of which some flows have no value. */
export const unpricedGap = (range: BlockRange): IngestGap[] =>
  gapsOf(range, ['logs'], 'some flows are stored without a value: the node no longer has the prices')

const withUnpriced = (range: BlockRange, batch: Batch, gaps: IngestGap[]): Completed => ({
  batch,
  gaps: [...gaps, ...(batch.isUnpriced ? unpricedGap(range) : [])],
})
