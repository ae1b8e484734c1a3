import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { trackStart } from '../../clickhouse/chain/batches.js'
import { PlumblineError } from '../../process/errors.js'
import { FIRST_BLOCK } from '../batch/decode.js'
import type { IngestConfig } from '../config.js'
import { openLedger, TIP } from '../sinks/batch-ledger.js'
import type { RetryDatabase } from '../sinks/retry-database.js'
import { readFinalized } from '../sources/heads.js'
import type { Rpc } from '../sources/rpc.js'
import { CATALOGUE, readCatalogueBeforeTip } from './catalogue-before-tip.js'

/** Ingest cannot begin where it was asked to. */
class StartBlockError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

/** The first block that the tip writes, and the block before it, where that is not the genesis block. */
export type TipStart = { firstBlock: number; base: { block: number; hash: string } | null }

type Options = {
  clickhouse: ClickHouseClient
  config: Pick<IngestConfig, 'START_BLOCK' | 'CHAIN'>
  log: Logger
  rpc: Rpc
  retryDatabase: RetryDatabase
  listed: ReadonlySet<string>
}

/**
 * Where the tip began, or is to begin: then the catalogue of the blocks before is read first. It begins only once, and
 * only at a block that cannot be replaced any more. Throws StartBlockError for a block that is not final yet.
 */
export async function tipStart(options: Options): Promise<TipStart> {
  const { clickhouse, config, rpc, retryDatabase } = options
  const { START_BLOCK: asked = config.CHAIN === 'devnet' ? 'genesis' : 'head', CHAIN } = config
  const begun = await retryDatabase('read where the tip began', () => trackStart(clickhouse, { track: TIP }))
  const known = await retryDatabase('read the ledger', () => openLedger(clickhouse, CATALOGUE, FIRST_BLOCK))
  if (begun !== null) return { firstBlock: begun, base: begun > FIRST_BLOCK ? known.last : null }

  let wanted = FIRST_BLOCK
  if (asked !== 'genesis') {
    const { number } = await readFinalized(rpc, CHAIN)
    if (asked !== 'head' && asked > number) {
      throw new StartBlockError(`START_BLOCK=${asked} is not final yet: the newest block to start from is ${number}`)
    }
    wanted = asked === 'head' ? number : asked
  }
  // A catalogue that was begun before goes further, maybe.
  const firstBlock = Math.max(wanted, known.next, (known.unfinished?.to ?? 0) + 1)
  if (firstBlock <= FIRST_BLOCK) return { firstBlock: FIRST_BLOCK, base: null }
  return { firstBlock, base: await readCatalogueBeforeTip({ ...options, to: firstBlock - 1 }) }
}
