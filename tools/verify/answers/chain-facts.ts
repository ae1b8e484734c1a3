import { FAMILIES, type Family, isOptional } from '../../../clickhouse/chain/batches.js'
import type { DepthSample } from '../../../clickhouse/depth/depth.js'
import type { Facts } from '../../../clickhouse/facts/facts.js'
import type { DexFill } from '../../../clickhouse/flows/dex.js'
import type { Flow } from '../../../clickhouse/flows/flows.js'
import type { Transfer } from '../../../clickhouse/holders/transfers.js'
import type { PegSample } from '../../../clickhouse/peg/samples.js'
import type { StateRead } from '../../../clickhouse/stablecoins/states.js'
import type { SupplyEvent } from '../../../clickhouse/supply/supply.js'
import type { StoredBlocks } from '../../../oracle/coverage.js'
import type { QuotedIn } from '../../../oracle/liquidity.js'
import { ECONOMY_TABLES, type EconomyFacts, type Raw, type RecordedList } from '../../../oracle/rows.js'
import type { SlotsByJob } from '../../../oracle/searched.js'
import type { SnapshotFacts } from '../../../oracle/snapshot-facts.js'
import type { Stretch } from '../stretches.js'

/** The facts of the chain as the definitions of the published figures need them, all in chain order. */
export type ChainFacts = {
  economy: EconomyFacts
  snapshot: SnapshotFacts
  stables: readonly { stable: string; symbol: string; block_number: number; block_time: number }[]
  samples: ReadonlyMap<string, PegSample[]>
  depth: ReadonlyMap<string, DepthSample[]>
  /** What each stable is quoted in: from its creation, and from each change on. */
  quotedIn: readonly QuotedIn[]
  states: ReadonlyMap<string, StateRead[]>
  supply: ReadonlyMap<string, SupplyEvent[]>
  transfers: ReadonlyMap<string, Transfer[]>
  flows: readonly Flow[]
  /** The fills on the book of each stable and its quote token. */
  fills: ReadonlyMap<string, DexFill[]>
  /** The price of a token in the sample of a block, in millionths; null without one. */
  priceOf: (token: string, block: number) => number | null
  /** Times of the blocks, oldest first, in unix seconds. */
  times: readonly number[]
  /** Which blocks are stored, and for whom. */
  stored: StoredBlocks
  /** Whether everything but transfers is stored of every block since the first. */
  isWhole: boolean
  /** Which slots the jobs have done. */
  slots: SlotsByJob
}

/** What the chain does not have. */
type OwnRecords = {
  lists: readonly (RecordedList & StoredBlocks['lists'][number])[]
  gaps: StoredBlocks['gaps']
  stretches: readonly Stretch[]
  slots: SlotsByJob
}

function groupsOf<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group) group.push(row)
    else groups.set(keyOf(row), [row])
  }
  return groups
}

const byStable = <Row extends { stable: string }>(rows: readonly Row[]): Map<string, Row[]> =>
  groupsOf(rows, ({ stable }) => stable)

type Position = { block_number: number; log_index?: number }

const inOrder = <Row extends Position>(rows: readonly Row[]): Row[] =>
  rows.toSorted((a, b) => a.block_number - b.block_number || (a.log_index ?? 0) - (b.log_index ?? 0))

/** Where each block is stored, for the definition of coverage. */
function storedBlocks(facts: Facts, { lists, gaps, stretches }: OwnRecords): StoredBlocks {
  const times = new Map(facts.blocks.map(({ block_number, block_time }) => [block_number, block_time]))
  const genesis = facts.stablecoins.filter(({ block_number }) => block_number === 0)
  const stretchOf = (block: number): Stretch | undefined =>
    stretches.find(({ from, to }) => from <= block && block <= to)
  return {
    started_at: Math.min(...genesis.map(({ block_time }) => block_time), genesis.length === 0 ? 0 : Infinity),
    last: stretches.at(-1)?.to ?? 0,
    timeOf: (block) => times.get(block) ?? null,
    isStored: (family, block, stable) => {
      const isIn = stretchOf(block)?.isIn[family as Family] ?? []
      return isIn === 'all' || (stable !== undefined && isIn.includes(stable))
    },
    gaps,
    lists,
    books: inOrder(facts.dex_pairs),
  }
}

/** Arranges all facts of all blocks, and what the chain does not have. */
export function chainFacts(facts: Facts, records: OwnRecords): ChainFacts {
  const economy = ECONOMY_TABLES.map((table) => {
    const rows: readonly (Position & { block_time: number })[] = facts[table]
    return [table, inOrder(rows).map((row) => ({ ...row, at: row.block_time }) as unknown as Raw)] as const
  })
  const withTime = <Row extends Position & { block_time: number }>(rows: readonly Row[]) =>
    inOrder(rows).map((row) => ({ ...row, t: row.block_time, block_number: `${row.block_number}` }))
  const times = facts.blocks.map(({ block_time }) => block_time).sort((a, b) => a - b)
  const stored = storedBlocks(facts, records)
  const prices = new Map(
    facts.peg_samples.map(({ stable, block_number, sell_micros }) => [`${stable} ${block_number}`, sell_micros]),
  )
  return {
    economy: { ...(Object.fromEntries(economy) as Omit<EconomyFacts, 'token_lists'>), token_lists: [...records.lists] },
    snapshot: {
      start: times[0] ?? 0,
      stables: withTime(facts.stablecoins),
      lists: records.lists,
      pairs: facts.dex_pairs.map(({ base, quote, block_time: at }) => ({ base, quote, at })),
      samples: byStable(withTime(facts.peg_samples)),
      states: byStable(withTime(facts.state_reads)),
      policyEvents: withTime(facts.policy_events),
    },
    stables: inOrder(facts.stablecoins),
    samples: byStable(inOrder(facts.peg_samples)),
    depth: byStable(inOrder(facts.depth_samples)),
    quotedIn: inOrder<QuotedIn>([...facts.stablecoins, ...facts.quote_token_updates]),
    states: byStable(inOrder(facts.state_reads)),
    supply: byStable(inOrder(facts.supply_events)),
    transfers: byStable(inOrder(facts.transfers)),
    flows: inOrder(facts.flows),
    fills: groupsOf(inOrder(facts.dex_fills), ({ base }) => base),
    priceOf: (token, block) => prices.get(`${token} ${block}`) ?? null,
    times,
    stored,
    isWhole: records.stretches.every(({ isIn }) =>
      FAMILIES.every((family) => isOptional(family) || isIn[family] === 'all'),
    ),
    slots: records.slots,
  }
}
