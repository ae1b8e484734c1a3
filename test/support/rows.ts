import type { ClickHouseClient } from '@clickhouse/client'
import { FAMILIES } from '../../clickhouse/chain/batches.js'
import { insertChainHead } from '../../clickhouse/chain/heads.js'
import { insertTokenList, type TokenListRow } from '../../clickhouse/chain/token-lists.js'
import type { DepthSample } from '../../clickhouse/depth/depth.js'
import { insertFacts } from '../../clickhouse/facts/facts.js'
import type { DexPair } from '../../clickhouse/flows/dex.js'
import type { Flow } from '../../clickhouse/flows/flows.js'
import type { Transfer } from '../../clickhouse/holders/transfers.js'
import { MAX_SAMPLE_SECONDS, type QuoteStatus, REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import type { PegSample } from '../../clickhouse/peg/samples.js'
import type { Stablecoin } from '../../clickhouse/stablecoins/stablecoins.js'
import type { StateRead } from '../../clickhouse/stablecoins/states.js'
import { insertRows } from '../../clickhouse/store/insert.js'
import type { SupplyEvent } from '../../clickhouse/supply/supply.js'

/** The address of the i-th fictitious stable. */
export const stableAddress = (i: number): string => `0x20c1${i.toString(16).padStart(36, '0')}`

/** A transaction hash derived from a number. */
export const txHash = (i: number): string => `0x${i.toString(16).padStart(64, '0')}`

export const stablecoin = (i: number, changes: Partial<Stablecoin> = {}): Stablecoin => ({
  stable: stableAddress(i),
  symbol: `S${i}`,
  name: `Stable ${i}`,
  currency: 'USD',
  truncated: [],
  quote_token: REFERENCE_STABLE,
  admin: stableAddress(0xad),
  block_number: 1,
  log_index: i,
  block_time: 1_760_000_000,
  tx_hash: txHash(i),
  ...changes,
})

/** The pair of a stable, made when it was. */
export const pairOf = ({ stable, quote_token, block_number, log_index, block_time, tx_hash }: Stablecoin): DexPair => ({
  ...{ base: stable, quote: quote_token, pair_key: stable },
  ...{ block_number, log_index, block_time, tx_hash },
})

/** A token list that holds from the beginning, with which every stable is sampled. */
export const tokenList = (changes: Partial<TokenListRow> = {}): TokenListRow => ({
  sequence_number: 1,
  from_block: 0,
  holds_from: 0,
  track: 'all',
  stables: [],
  ...changes,
})

export const stateRead = (stable: string, changes: Partial<StateRead> = {}): StateRead => ({
  stable,
  supply_raw: '5000000',
  cap_raw: '9000000',
  paused: false,
  policy_id: '1',
  policy_type: 'allow_all',
  policy_admin: null,
  opted_in_raw: '0',
  reward_per_token_raw: '0',
  block_number: 1,
  block_time: 1_760_000_000,
  ...changes,
})

export const supplyEvent = (stable: string, changes: Partial<SupplyEvent> = {}): SupplyEvent => ({
  kind: 'mint',
  stable,
  account: stableAddress(0xacc),
  amount_raw: '1000000',
  block_number: 1,
  log_index: 0,
  block_time: 1_760_000_000,
  tx_hash: txHash(1),
  ...changes,
})

export const transfer = (stable: string, changes: Partial<Transfer> = {}): Transfer => ({
  stable,
  kind: 'transfer',
  sender: stableAddress(0xacc),
  recipient: stableAddress(0xacd),
  amount_raw: '1000000',
  block_number: 1,
  log_index: 0,
  block_time: 1_760_000_000,
  ...changes,
})

export const flow = (from: number, to: number, block_time: number, changes: Partial<Flow> = {}): Flow => ({
  kind: 'swap',
  from_token: stableAddress(from),
  to_token: stableAddress(to),
  account: stableAddress(0xacc),
  amount_in_raw: '1000000',
  amount_out_raw: '999000',
  usd_micros: '1000000',
  remote_chain: null,
  path: [stableAddress(from), stableAddress(to)],
  block_number: block_time,
  log_index: 0,
  block_time,
  tx_hash: txHash(block_time),
  ...changes,
})

/** A market's quote: a price in millionths, or the reason that there is none. */
export type Tick = { at: number; price: number | Exclude<QuoteStatus, 'quoted'> }

/** The samples of a stable's ticks, oldest first. Each covers the time since the one before, at most 120 s. */
export function pegSamples(stable: string, ticks: readonly Tick[], firstBlock = 1): PegSample[] {
  return ticks.map(({ at, price }, i) => {
    const sell_micros = typeof price === 'number' ? price : price === 'anchor' ? 1_000_000 : null
    return {
      stable,
      block_number: firstBlock + i,
      block_time: at,
      elapsed_seconds: i === 0 ? 0 : Math.min(at - (ticks[i - 1]?.at ?? at), MAX_SAMPLE_SECONDS),
      status: typeof price === 'number' ? 'quoted' : price,
      sell_micros,
      buy_micros: sell_micros === null ? null : sell_micros + 100,
    }
  })
}

/** Blocks at these times, numbered from `firstBlock`, without a word on who read them. */
export async function addBareBlocks(
  clickhouse: ClickHouseClient,
  times: readonly number[],
  firstBlock = 1,
): Promise<void> {
  const rows = times.map((block_time, i) => ({
    block_number: firstBlock + i,
    block_time,
    block_hash: txHash(firstBlock + i),
    parent_hash: txHash(firstBlock + i - 1),
    tx_count: 1,
    log_count: 1,
  }))
  await insertFacts(clickhouse, 'blocks', rows, token())
}

/**
 * Blocks at these times, numbered from `firstBlock`, as if ingest had read all of them, long ago; the last is the head of
 * the chain.
 */
export async function addBlocks(clickhouse: ClickHouseClient, times: readonly number[], firstBlock = 1): Promise<void> {
  if (times.length === 0) return
  await addBareBlocks(clickhouse, times, firstBlock)
  const to_block = firstBlock + times.length - 1
  const batch = {
    track: 'test',
    sequence_number: ++batches,
    from_block: firstBlock,
    to_block,
    last_hash: '',
    writer: 'test',
  }
  const committed = { ...batch, state: 'committed', families: FAMILIES, stables: [], recorded_at: '1000000000.000' }
  await insertRows(clickhouse, 'ingest_batches', [committed], token())
  await insertChainHead(clickhouse, { tag: 'latest', block_number: to_block, block_time: times.at(-1) as number })
}

let batches = 0

export type Facts = {
  stablecoins?: Stablecoin[]
  /** If omitted, each of the stables has a pair from its creation on, so that it is in use. */
  pairs?: DexPair[]
  lists?: TokenListRow[]
  samples?: PegSample[]
  depths?: DepthSample[]
  states?: StateRead[]
  supplyEvents?: SupplyEvent[]
  flows?: Flow[]
}

let tokens = 0
const token = (): string => `test-${++tokens}`

/** Inserts facts as ingest would. */
export async function addFacts(clickhouse: ClickHouseClient, facts: Facts): Promise<void> {
  const stablecoins = facts.stablecoins ?? []
  await insertFacts(clickhouse, 'stablecoins', stablecoins, token())
  await insertFacts(clickhouse, 'dex_pairs', facts.pairs ?? stablecoins.map(pairOf), token())
  for (const list of facts.lists ?? []) await insertTokenList(clickhouse, { ...list, source: 'of a test' })
  await insertFacts(clickhouse, 'peg_samples', facts.samples ?? [], token())
  await insertFacts(clickhouse, 'depth_samples', facts.depths ?? [], token())
  await insertFacts(clickhouse, 'state_reads', facts.states ?? [], token())
  await insertFacts(clickhouse, 'supply_events', facts.supplyEvents ?? [], token())
  await insertFacts(clickhouse, 'flows', facts.flows ?? [], token())
}
