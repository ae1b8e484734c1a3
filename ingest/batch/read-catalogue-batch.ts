import { numberToHex } from 'viem'
import { mergeFacts } from '../../clickhouse/facts/facts.js'
import type { Stablecoin } from '../../clickhouse/stablecoins/stablecoins.js'
import type { BlockRange } from '../chain/block-ranges.js'
import type { ChainEvent } from '../chain/event-types.js'
import { decodeLog, topicsOf } from '../chain/events.js'
import { RawHeader, RpcAnswerError } from '../chain/rpc-answers.js'
import type { Registry } from '../knowledge/registry.js'
import { readLogs } from '../sources/logs.js'
import type { Rpc } from '../sources/rpc.js'
import { catalogueRows } from '../stages/catalogue-rows.js'
import type { Batch } from './complete-batch.js'
import { FIRST_BLOCK } from './decode.js'
import { genesisStablecoins } from './genesis-stablecoins.js'
import type { Scope } from './scope.js'

/** Blocks in one batch of the catalogue: they have few logs of the kinds that are requested. */
const CATALOGUE_BLOCKS = 10_000
const TOPICS = topicsOf([
  'TokenCreated',
  'QuoteTokenUpdate',
  'OrderPlaced',
  'OrderFlipped',
  'RoleMembershipUpdated',
  'RoleAdminUpdated',
])
const SCOPE: Scope = { families: ['catalogue'], only: [], except: [] }

export type ReadOptions = {
  rpc: Rpc
  /** The last block to read. */
  to: number
}
/** The ranges in which the catalogue is read. */
export function* catalogueRanges(first: number, to: number, planned: BlockRange | null): Generator<BlockRange> {
  let next = first
  if (planned) {
    yield planned
    next = planned.to + 1
  }
  while (next <= to) {
    const end = Math.min(to, next - (next % CATALOGUE_BLOCKS) + CATALOGUE_BLOCKS - 1)
    yield { from: next, to: end }
    next = end + 1
  }
}

const readHeader = (rpc: Rpc, number: number): Promise<RawHeader> =>
  rpc.request('eth_getBlockByNumber', [numberToHex(number), false], RawHeader)

/** Reads the catalogue of a range of blocks. `registry` knows the blocks before, and learns from these. */
export async function readCatalogueBatch(
  options: ReadOptions,
  registry: Registry,
  { from, to }: BlockRange,
): Promise<Batch> {
  const { rpc } = options
  const logs = await readLogs(rpc, { topics: [TOPICS] }, from, to)
  const numbers = [...new Set([from, to, ...logs.map(({ blockNumber }) => blockNumber)])].sort((a, b) => a - b)
  const headers = await Promise.all(numbers.map((number) => readHeader(rpc, number)))
  const genesis = from === FIRST_BLOCK ? await readGenesis(rpc, headers[0] as RawHeader) : []

  const eventsOf = new Map<number, ChainEvent[]>(numbers.map((number) => [number, []]))
  const hashOf = new Map(headers.map(({ number, hash }) => [number, hash]))
  for (const log of logs) {
    if (log.blockNumber < from || log.blockNumber > to || log.blockHash !== hashOf.get(log.blockNumber)) {
      throw new RpcAnswerError(`a log of block ${log.blockNumber} does not belong to blocks ${from} to ${to}`)
    }
    const event = decodeLog(log)
    if (event) eventsOf.get(log.blockNumber)?.push(event)
  }
  const quoteTokens = new Map(genesis.map(({ stable, quote_token }) => [stable, quote_token]))
  const added = headers.map(({ number, timestamp: time }) => {
    const events = (eventsOf.get(number) ?? []).sort((a, b) => a.logIndex - b.logIndex)
    const rows = catalogueRows({ number, time }, events, (stable) => {
      const quote = quoteTokens.get(stable) ?? registry.quoteTokenOf(stable)
      if (quote === undefined) throw new RpcAnswerError(`an order for ${stable}, whose creation is missing`)
      return quote
    })
    for (const { stable, quote_token } of [...rows.stablecoins, ...rows.quote_token_updates]) {
      quoteTokens.set(stable, quote_token)
    }
    return rows
  })
  // Only after everything is read: a failed read starts again from the beginning.
  for (const { stablecoins } of [{ stablecoins: genesis }, ...added]) {
    for (const stable of stablecoins) registry.add({ ...stable })
  }
  for (const [stable, quoteToken] of quoteTokens) registry.setQuoteToken(stable, quoteToken, to)
  const [first, last] = [headers[0], headers.at(-1)] as [RawHeader, RawHeader]
  return {
    ...SCOPE,
    from,
    to,
    firstHash: first.hash,
    lastHash: last.hash,
    parentHash: first.parentHash,
    firstTime: first.timestamp,
    lastTime: last.timestamp,
    facts: mergeFacts([{ stablecoins: genesis }, ...added]),
    isUnpriced: false,
  }
}

/** The genesis tokens, where `first` is the first block after the genesis block. */
async function readGenesis(rpc: Rpc, first: RawHeader): Promise<Stablecoin[]> {
  const { timestamp: parentTime } = await readHeader(rpc, first.number - 1)
  return genesisStablecoins(rpc, { ...first, parentTime })
}
