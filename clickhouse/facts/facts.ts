import type { ClickHouseClient } from '@clickhouse/client'
import { type Family, needsState } from '../chain/batches.js'
import type { Block } from '../chain/blocks.js'
import type { DepthSample } from '../depth/depth.js'
import type { FeeDistribution, FeeElection, FeePaid, FeePoolEvent } from '../fees/fees.js'
import type { DexFill, DexOrder, DexOrderEnd, DexOrderFlip, DexPair } from '../flows/dex.js'
import type { Flow } from '../flows/flows.js'
import type { HeldTransfer, VirtualForward } from '../flows/transfers.js'
import type { Transfer } from '../holders/transfers.js'
import type { PegSample } from '../peg/samples.js'
import type { RewardClaim, RewardDistribution, RewardRecipient } from '../rewards/rewards.js'
import type { RoleEvent, RoleProbe } from '../roles/roles.js'
import type { LogoUpdate, PauseEvent, PolicyEvent, QuoteTokenProposal } from '../stablecoins/administration.js'
import type { QuoteTokenUpdate, Stablecoin } from '../stablecoins/stablecoins.js'
import type { StateRead } from '../stablecoins/states.js'
import { insertRows } from '../store/insert.js'
import type { SupplyEvent } from '../supply/supply.js'
import { checkWidths } from './widths.js'

/** Rows by the table that holds them: everything that ingest writes for a range of blocks. */
export type Facts = {
  stablecoins: Stablecoin[]
  quote_token_updates: QuoteTokenUpdate[]
  dex_pairs: DexPair[]
  dex_orders: DexOrder[]
  dex_order_flips: DexOrderFlip[]
  dex_order_ends: DexOrderEnd[]
  dex_fills: DexFill[]
  supply_events: SupplyEvent[]
  role_events: RoleEvent[]
  pause_events: PauseEvent[]
  policy_events: PolicyEvent[]
  reward_distributions: RewardDistribution[]
  reward_recipients: RewardRecipient[]
  reward_claims: RewardClaim[]
  fee_elections: FeeElection[]
  fee_distributions: FeeDistribution[]
  fee_pool_events: FeePoolEvent[]
  fees_paid: FeePaid[]
  held_transfers: HeldTransfer[]
  virtual_forwards: VirtualForward[]
  quote_token_proposals: QuoteTokenProposal[]
  logo_updates: LogoUpdate[]
  transfers: Transfer[]
  flows: Flow[]
  state_reads: StateRead[]
  role_probes: RoleProbe[]
  peg_samples: PegSample[]
  depth_samples: DepthSample[]
  blocks: Block[]
}
export type FactTable = keyof Facts

/**
 * Every fact table: its family, and whether rows of a block range are also found by time, because the table is large
 * and partitioned by time.
 */
export const FACT_TABLES: Readonly<Record<FactTable, { family: Family; findBy: 'time' | 'number' }>> = {
  stablecoins: { family: 'catalogue', findBy: 'number' },
  quote_token_updates: { family: 'catalogue', findBy: 'number' },
  dex_pairs: { family: 'catalogue', findBy: 'number' },
  dex_orders: { family: 'catalogue', findBy: 'time' },
  dex_order_flips: { family: 'catalogue', findBy: 'time' },
  role_events: { family: 'catalogue', findBy: 'time' },
  dex_order_ends: { family: 'logs', findBy: 'time' },
  dex_fills: { family: 'logs', findBy: 'time' },
  supply_events: { family: 'logs', findBy: 'time' },
  pause_events: { family: 'logs', findBy: 'time' },
  policy_events: { family: 'logs', findBy: 'time' },
  reward_distributions: { family: 'logs', findBy: 'time' },
  reward_recipients: { family: 'logs', findBy: 'time' },
  reward_claims: { family: 'logs', findBy: 'time' },
  fee_elections: { family: 'logs', findBy: 'time' },
  fee_distributions: { family: 'logs', findBy: 'time' },
  fee_pool_events: { family: 'logs', findBy: 'time' },
  fees_paid: { family: 'logs', findBy: 'time' },
  held_transfers: { family: 'logs', findBy: 'time' },
  virtual_forwards: { family: 'logs', findBy: 'time' },
  quote_token_proposals: { family: 'logs', findBy: 'time' },
  logo_updates: { family: 'logs', findBy: 'time' },
  transfers: { family: 'transfers', findBy: 'time' },
  flows: { family: 'logs', findBy: 'time' },
  state_reads: { family: 'state', findBy: 'time' },
  role_probes: { family: 'state', findBy: 'time' },
  peg_samples: { family: 'pegs', findBy: 'time' },
  depth_samples: { family: 'pegs', findBy: 'time' },
  blocks: { family: 'logs', findBy: 'time' },
}

/** Whether a table's rows are read per stable, so that some stables may be ingested and others not. */
export const isByStable = (table: FactTable): boolean => needsState(FACT_TABLES[table].family)

export const factTables = Object.keys(FACT_TABLES) as readonly FactTable[]

/** The rows of all `parts`, table by table, in their order. */
export function mergeFacts(parts: readonly Partial<Facts>[]): Facts {
  const merged = Object.fromEntries(factTables.map((table) => [table, [] as object[]])) as Record<FactTable, object[]>
  for (const part of parts) {
    for (const table of factTables) for (const row of part[table] ?? []) merged[table].push(row)
  }
  return merged as unknown as Facts
}

/**
 * Adds rows to a fact table. Repeating a token changes neither the table nor the views that read it. Rejects with an
 * error that is not retryable if a value does not fit into its column.
 */
export async function insertFacts<Table extends FactTable>(
  clickhouse: ClickHouseClient,
  table: Table,
  rows: Readonly<Facts[Table]>,
  token: string,
): Promise<void> {
  checkWidths(table, rows)
  await insertRows<object>(clickhouse, table, rows, token, { isMany: true })
}
