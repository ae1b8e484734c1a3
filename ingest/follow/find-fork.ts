import type { ClickHouseClient } from '@clickhouse/client'
import { blockHashes } from '../../clickhouse/chain/blocks.js'
import type { IngestRollback } from '../../clickhouse/chain/rollbacks.js'
import { PlumblineError } from '../../process/errors.js'
import { RawHeader } from '../chain/rpc-answers.js'
import type { BatchLedger } from '../sinks/batch-ledger.js'
import { readHeaders } from '../sources/blocks.js'
import type { Rpc } from '../sources/rpc.js'
import { whyNoState } from '../sources/state-floor.js'

/** The node and the database disagree about blocks that counted as final. */
class ReorgTooDeepError extends PlumblineError {
  constructor(block: { number: number; hash: string }, ours: string, deepest: number) {
    super(
      `block ${block.number} is ${block.hash} at the node and ${ours} in this database: the chain was reorganized by more than the ${deepest} blocks that ingest can roll back, or below its first block. If the node is right, read the chain into a new CLICKHOUSE_DATABASE, or restore a backup from before block ${block.number} (npm run restore); if it is not, set RPC_URL to another node`,
      { retryable: false },
    )
  }
}

/**
 * The last block that the node and the database share, and why later blocks must be removed. `kept_block` is 0 if they
 * share none.
 */
export type Fork = Pick<IngestRollback, 'kept_block' | 'kept_hash' | 'kept_time' | 'reason'>

const NONE = { kept_block: 0, kept_hash: '', kept_time: 0 }

type Options = {
  clickhouse: ClickHouseClient
  rpc: Rpc
  ledger: BatchLedger
  deepest: number
  firstBlock: number
  base: { block: number; hash: string } | null
}

/**
 * Compares the ledger's newest blocks with the node's; null if they are the same, as far as the node has them, and the
 * unfinished batch can be completed as it was planned. Throws
 * ReorgTooDeepError if more than `deepest` committed blocks would have to be removed, or `base`, the block before the
 * first one.
 */
export async function findFork({ clickhouse, rpc, ledger, deepest, firstBlock, base }: Options): Promise<Fork | null> {
  const { last, unfinished, next } = ledger
  const head = await rpc.request('eth_getBlockByNumber', ['latest', false], RawHeader)
  let kept: Omit<Fork, 'reason'> = base ? { kept_block: base.block, kept_hash: base.hash, kept_time: 0 } : NONE
  if (last) {
    const oldest = Math.max(last.block - deepest, base?.block ?? firstBlock)
    const range = { from_block: oldest, to_block: last.block }
    const ours = new Map((await blockHashes(clickhouse, range)).map((row) => [row.block_number, row]))
    ours.set(last.block, { block_time: 0, ...ours.get(last.block), block_number: last.block, block_hash: last.hash })
    if (base) ours.set(base.block, { block_time: 0, block_number: base.block, block_hash: base.hash })
    const theirs = oldest <= head.number ? await readHeaders(rpc, oldest, Math.min(last.block, head.number)) : []
    const top = theirs.at(-1)
    const shared = theirs.findLast(({ number, hash }) => ours.get(number)?.block_hash === hash)
    if (top && shared !== top) {
      const reason = `block ${top.number} is ${top.hash} at the node, not ${ours.get(top.number)?.block_hash}`
      if (shared) {
        return { kept_block: shared.number, kept_hash: shared.hash, kept_time: shared.timestamp, reason }
      }
      // The block before the first one is the genesis block, which is known to be the same.
      if (!base && last.block - firstBlock < deepest) return { ...NONE, reason }
      const oldestKnown = theirs.find(({ number }) => ours.has(number)) ?? top
      throw new ReorgTooDeepError(oldestKnown, ours.get(oldestKnown.number)?.block_hash ?? 'missing', deepest)
    }
    kept = { kept_block: last.block, kept_hash: last.hash, kept_time: ours.get(last.block)?.block_time ?? 0 }
  }
  if (!unfinished) return null
  const [end] = unfinished.to <= head.number ? await readHeaders(rpc, unfinished.to, unfinished.to) : []
  if (end?.hash === unfinished.lastHash && unfinished.from === next) {
    // Part of the batch may be stored, and the rest cannot be read any more.
    const why = unfinished.families.includes('state') ? await whyNoState(rpc, unfinished.from) : null
    return why === null ? null : { ...kept, reason: why }
  }
  const reason = `block ${unfinished.to} is ${end?.hash ?? 'missing'} at the node, not ${unfinished.lastHash} as planned`
  return { ...kept, reason }
}
