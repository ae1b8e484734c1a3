import { needsState } from '../../clickhouse/chain/batches.js'
import type { IngestGap } from '../../clickhouse/chain/gaps.js'
import type { BlockRange } from '../chain/block-ranges.js'
import { StateUnavailableError } from '../sources/state-unavailable.js'
import { type Batch, completeBatch } from './complete-batch.js'
import type { BatchReader, DecodedBatch, DecodedBlock } from './decode.js'
import { EVERYTHING, type Scope } from './scope.js'

/** What a node has of a batch. `batch` is null if it has nothing; `gaps` lists what it does not have, and why. */
export type Completed = { batch: Batch | null; gaps: IngestGap[] }

/** The gaps of a range whose state the node does not have. */
export const gapsOf = ({ from, to }: BlockRange, { families }: Scope, reason: string): IngestGap[] =>
  families.filter(needsState).map((family) => ({ family, from_block: from, to_block: to, reason }))

/**
 * Completes a batch as far as the node can: if it no longer has the state of one of the blocks, without pegs and state,
 * which become gaps. Then flows are without a value too, which is a gap of the logs. Batches may be completed concurrently.
 */
export async function completeWithGaps(
  reader: BatchReader,
  decodedBatch: DecodedBatch,
  scope: Scope = EVERYTHING,
): Promise<Completed> {
  const { decoded } = decodedBatch
  const range = { from: (decoded[0] as DecodedBlock).block.number, to: (decoded.at(-1) as DecodedBlock).block.number }
  try {
    return withUnpriced(range, await completeBatch(reader, decodedBatch, scope), [])
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error
    const gaps = gapsOf(range, scope, error.message)
    const families = scope.families.filter((family) => !needsState(family))
    if (families.length === 0) return { batch: null, gaps }
    return withUnpriced(range, await completeBatch(reader, decodedBatch, { families, only: [], except: [] }), gaps)
  }
}

function withUnpriced({ from, to }: BlockRange, batch: Batch, gaps: IngestGap[]): Completed {
  const reason = 'the flows are stored without a value: the node no longer has the prices'
  const unpriced: IngestGap[] = batch.isUnpriced ? [{ family: 'logs', from_block: from, to_block: to, reason }] : []
  return { batch, gaps: [...gaps, ...unpriced] }
}
