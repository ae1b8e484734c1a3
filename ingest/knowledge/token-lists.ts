import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { numberToHex } from 'viem'
import {
  insertTokenList,
  type ListPeriod,
  listPeriods,
  type TokenListRow,
  tokenLists,
} from '../../clickhouse/chain/token-lists.js'
import { PlumblineError } from '../../process/errors.js'
import { RawHeader } from '../chain/rpc-answers.js'
import type { IngestConfig } from '../config.js'
import type { RetryDatabase } from '../sinks/retry-database.js'
import type { Rpc } from '../sources/rpc.js'
import type { BadTokenListError, ListedTokens } from '../token-list/format.js'

/** Another process has recorded a list at the same moment. */
class TokenListError extends PlumblineError {
  constructor() {
    super('another ingest has recorded its token list at the same moment: run one ingest per database', {
      retryable: false,
    })
  }
}

/** Without a list, it is unknown whose pegs to sample. */
class NoTokenListError extends PlumblineError {
  constructor() {
    super('TOKEN_LIST cannot be read, and no earlier list is recorded', { retryable: true })
  }
}

type Options = {
  clickhouse: ClickHouseClient
  retryDatabase: RetryDatabase
  rpc: Rpc
  config: Pick<IngestConfig, 'CHAIN' | 'TRACK'>
  /** The list to use; null if it cannot be read now. */
  tokens: ListedTokens | null
  /** What is wrong in it, if that is why. */
  wrong: BadTokenListError | null
  /** The first block that may be read with another list: those before are written or planned. */
  nextBlock: number
  log: Logger
}

const isSame = (list: TokenListRow | undefined, track: string, stables: readonly string[]): boolean =>
  list?.track === track &&
  list.stables.length === stables.length &&
  list.stables.every((stable, i) => stable === stables[i])

/**
 * The stretches of history with one list each. If the list or `TRACK` differs from what was recorded last, it is recorded
 * now, and holds from `nextBlock` on; the first one holds from the beginning. While the list cannot be read, the recorded
 * one stays.
 */
export async function recordTokenList(options: Options): Promise<ListPeriod[]> {
  const { clickhouse, retryDatabase, rpc, config, tokens, wrong, nextBlock, log } = options
  const track = config.TRACK ?? (config.CHAIN === 'devnet' ? 'all' : 'paired')
  const read = () => retryDatabase('read the token lists', () => tokenLists(clickhouse))

  const lists = await read()
  const newest = lists.at(-1)
  const stables = tokens ? [...tokens.addresses].sort() : newest?.stables
  if (!stables) throw wrong ?? new NoTokenListError()
  const source = tokens?.source ?? 'as recorded before'
  if (isSame(newest, track, stables)) return listPeriods(lists)
  const sequence_number = (newest?.sequence_number ?? 0) + 1
  const [from_block, holds_from] = newest ? [nextBlock, await timeAfter(rpc, nextBlock - 1)] : [0, 0]
  const list = { sequence_number, from_block, holds_from, track, stables, source }
  await retryDatabase('write the token list', () => insertTokenList(clickhouse, list))
  log.info({ sequence_number, from_block, track, stables: stables.length, source }, 'recorded a token list')
  const recorded = await read()
  if (!isSame(recorded.at(-1), track, stables)) throw new TokenListError()
  return listPeriods(recorded)
}

/** The first second after a block, in unix seconds. */
async function timeAfter(rpc: Rpc, block: number): Promise<number> {
  const { timestamp } = await rpc.persist(`read block ${block}`, () =>
    rpc.request('eth_getBlockByNumber', [numberToHex(block), false], RawHeader),
  )
  return timestamp + 1
}
