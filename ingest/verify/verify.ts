import type { ClickHouseClient } from '@clickhouse/client'
import { allStablecoins } from '../../clickhouse/queries/all-stablecoins.js'
import { blockHashes } from '../../clickhouse/queries/block-hashes.js'
import { mergeFacts } from '../../clickhouse/tables/facts.js'
import { PlumblineError } from '../../domain/errors.js'
import { type Batch, FIRST_BLOCK } from '../batch.js'
import { compareFacts } from './compare-facts.js'
import type { Finding } from './finding.js'
import { checkFees, checkSupply } from './invariants/chain-amounts.js'
import { checkDoubleEntry, checkLinks, checkMinutes, checkPlaces, checkSampleCounts } from './invariants/own-rows.js'
import { type RereadOptions, rereadAll, rereadSome } from './reread.js'
import { sampleBlocks } from './sample-blocks.js'

export type VerifyOptions = RereadOptions & {
  /** A client with a session, for temporary tables. */
  session: ClickHouseClient
  /** The newest block whose facts are to be there. */
  last: number
  /** How many blocks to read again; null for all of them. */
  blocks: number | null
  seed: number
  onProgress: (done: number, of: number) => void
}

/** There is nothing that could be verified. */
class NothingToVerifyError extends PlumblineError {
  constructor() {
    super('the database has no blocks', { retryable: false })
  }
}

/** Blocks that are compared in one go. */
const COMPARED_TOGETHER = 100

/** Facts of several batches as those of one, at least so many blocks at a time. */
async function* together(batches: AsyncIterable<Batch>): AsyncGenerator<Pick<Batch, 'facts'>> {
  let facts = mergeFacts([])
  for await (const batch of batches) {
    facts = mergeFacts([facts, batch.facts])
    if (facts.blocks.length < COMPARED_TOGETHER) continue
    yield { facts }
    facts = mergeFacts([])
  }
  if (facts.blocks.length > 0) yield { facts }
}

/**
 * Reads blocks again from the node and compares all of their facts with the database, then checks what has to hold for
 * the database as a whole: one finding for each. Ingest may run meanwhile, as nothing after `last` is looked at.
 */
export async function verify(options: VerifyOptions): Promise<Finding[]> {
  const { clickhouse, session, rpc, last, blocks, seed, onProgress } = options
  const hashes = await blockHashes(clickhouse, { from_block: FIRST_BLOCK, to_block: FIRST_BLOCK })
  const newest = await blockHashes(clickhouse, { from_block: last, to_block: last })
  const [firstHash, lastHash] = [hashes[0]?.block_hash, newest[0]?.block_hash]
  if (firstHash === undefined || lastHash === undefined) throw new NothingToVerifyError()

  const numbers = blocks === null ? null : sampleBlocks(FIRST_BLOCK, last, blocks, seed)
  const reread = numbers === null ? rereadAll(options, FIRST_BLOCK, last) : rereadSome(options, numbers)
  const comparison = compareFacts(session)
  let done = 0
  for await (const batch of together(reread)) {
    await comparison.compare(batch)
    done += batch.facts.blocks.length
    onProgress(done, numbers?.length ?? last - FIRST_BLOCK + 1)
  }

  const stretch = {
    clickhouse,
    rpc,
    stables: await allStablecoins(clickhouse, { before_block: last + 1 }),
    first: { number: FIRST_BLOCK, hash: firstHash },
    last: { number: last, hash: lastHash },
  }
  return [
    ...comparison.findings(),
    await checkLinks(clickhouse),
    await checkPlaces(clickhouse),
    await checkSampleCounts(clickhouse, last),
    await checkMinutes(clickhouse),
    await checkDoubleEntry(clickhouse, new Date(0), new Date(4_000_000_000_000)),
    await checkSupply(stretch),
    await checkFees(stretch),
  ]
}
