import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { TIP, trackStart } from '../../clickhouse/chain/batches.js'
import { insertChainHead } from '../../clickhouse/chain/heads.js'
import { PlumblineError } from '../../process/errors.js'
import { FIRST_BLOCK } from '../batch/decode.js'
import { NETWORKS } from '../chain/networks.js'
import type { IngestConfig } from '../config.js'
import { openLedger } from '../sinks/batch-ledger.js'
import type { RetryDatabase } from '../sinks/retry-database.js'
import { readFinalized } from '../sources/heads.js'
import type { Rpc } from '../sources/rpc.js'
import { CATALOGUE, readCatalogueBeforeTip } from './catalogue-before-tip.js'

/** Ingest cannot start at the requested block. */
class StartBlockError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

/** The first block that the tip writes, and the block before it; null if that is the genesis block. */
export type TipStart = { firstBlock: number; base: { block: number; hash: string } | null }

type Options = {
  clickhouse: ClickHouseClient
  config: Pick<IngestConfig, 'START_BLOCK' | 'CHAIN'>
  log: Logger
  signal: AbortSignal
  rpc: Rpc
  retryDatabase: RetryDatabase
}

/**
 * Where the tip started or is to start; in the second case the catalogue of the earlier blocks is read first. It starts
 * only once, and only at a block that can no longer be replaced. Throws StartBlockError for a block that is not final
 * yet.
 */
export async function tipStart(options: Options): Promise<TipStart> {
  const { clickhouse, config, rpc, retryDatabase } = options
  const { START_BLOCK: requested = config.CHAIN === 'devnet' ? 'genesis' : 'head', CHAIN } = config
  const begun = await retryDatabase('read where the tip started', () => trackStart(clickhouse, { track: TIP }))
  const catalogue = await retryDatabase('read the ledger', () => openLedger(clickhouse, CATALOGUE, FIRST_BLOCK))
  if (begun !== null) return { firstBlock: begun, base: begun > FIRST_BLOCK ? catalogue.last : null }

  let requestedBlock = FIRST_BLOCK
  if (requested !== 'genesis') {
    const { number, timestamp } = await readFinalized(rpc, CHAIN)
    const { head: tag, deepestReorg } = NETWORKS[CHAIN]
    // Says how much there is to read.
    if (deepestReorg === 0)
      await retryDatabase('record the head', () =>
        insertChainHead(clickhouse, { tag, block_number: number, block_time: timestamp }),
      )
    if (requested !== 'head' && requested > number) {
      throw new StartBlockError(
        `START_BLOCK=${requested} is not final yet: the newest block to start from is ${number}`,
      )
    }
    requestedBlock = requested === 'head' ? number : requested
  }
  // A catalogue that was started earlier may reach further.
  const firstBlock = Math.max(requestedBlock, catalogue.next, (catalogue.unfinished?.to ?? 0) + 1)
  if (firstBlock <= FIRST_BLOCK) return { firstBlock: FIRST_BLOCK, base: null }
  return { firstBlock, base: await readCatalogueBeforeTip({ ...options, to: firstBlock - 1 }) }
}
