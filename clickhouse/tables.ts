import type { Family } from './chain/batches.js'
import type { Block } from './chain/blocks.js'
import type { UnknownEvent } from './chain/unknown-events.js'
import type { DepthSample } from './depth/depth.js'
import type { ExchangeEvent } from './exchange/events.js'
import { CHOICES_IN_SPANS, fillFeeChoices, SPAN_START } from './fees/choices.js'
import type { FeeDistribution, FeeElection, FeePaid, FeePoolEvent } from './fees/fees.js'
import { FLOW_WINDOW_SECONDS, fillFlowBuckets, fillFlowEdgeStarts, WINDOW_START } from './flows/buckets.js'
import type { DexFill, DexOrder, DexOrderFlip, DexPair } from './flows/dex.js'
import type { Flow } from './flows/flows.js'
import type { HeldTransfer, VirtualForward } from './flows/transfers.js'
import type { Transfer } from './holders/transfers.js'
import { PERIOD_SECONDS } from './jobs/periods.js'
import { fillPegMinutes } from './peg/minutes.js'
import { fillQuoteHours, QUOTE_HOUR } from './peg/quote-hours.js'
import type { PegSample } from './peg/samples.js'
import { MINUTE_END } from './peg/sums.js'
import type { RewardClaim, RewardDistribution, RewardRecipient } from './rewards/rewards.js'
import type { RoleEvent, RoleProbe } from './roles/roles.js'
import type { LogoUpdate, PauseEvent, PolicyEvent, QuoteTokenProposal } from './stablecoins/administration.js'
import type { QuoteTokenUpdate, Stablecoin } from './stablecoins/stablecoins.js'
import type { StateRead } from './stablecoins/states.js'
import type { Instants } from './store/read-memory.js'
import type { SupplyEvent } from './supply/supply.js'

/**
 * What the rows of a table grow with. `stables`: with time, for each stable. Rows that there are once a period, `every` so
 * many seconds of chain time, are counted a period. Counted by the table's `time`, unless `by` names another column.
 */
export type Growth = {
  with: 'blocks' | 'samples' | 'transactions' | 'stables' | 'time'
  every?: number
  by?: string
}

/** How the rows that a materialized view adds to a table follow from facts, so that they can be computed again. */
export type Derivation = {
  /** The table whose inserts the view reads. */
  from: string
  /** Its rows as the view reads them, in SQL. */
  facts: string
  /** The `time` of a row as an expression of a fact's block_time. */
  timeOfFact: string
  /**
   * The statement that computes the rows with a `time` from {first: UInt32} to {last: UInt32}, both included, and inserts
   * them into `table`, which has the same columns.
   */
  fill: (table: string) => string
}

/** Everything that is true of a table and that its SQL does not say. */
export type Table = {
  /** The column with the time that a row is about, or else at which it was recorded. */
  time: string
  /** Whether its partitions are the months of `time`. */
  isPartitioned: boolean
  /** Whether merges replace or add up rows, so that it must be read with FINAL or aggregated. */
  isMerged: boolean
  /**
   * `facts`: of blocks; a backup has those of committed blocks. `ledger`: of what ingest has done; only a backfill or a
   * rollback changes what it says of earlier blocks. `history`: rows are added, or replaced by newer ones. `state`: rows that
   * are replaced every few seconds or minutes, so that a backup does not compare them.
   */
  holds: 'facts' | 'ledger' | 'history' | 'state'
  /** null if processes write its rows, or if a view replaces all of them from time to time. */
  derived: Derivation | null
  /**
   * The variable that says after how many days rows may go. No answer of the API reads such a table, so that no answer ever
   * changes by it; a table that answers read must not be given one.
   */
  retained: 'forever' | 'RETAIN_FEES_PAID_DAYS'
  /**
   * Whether reads of the API may miss rows that its replica lacks. `current` if not: a reader of numbered rows would pass
   * over a row that arrives late, and who changes a key or a subscription reads it back.
   */
  reads: 'lagging' | 'current'
  /**
   * What an instant later than its newest row is to a read that is kept. `newest`: the same question as that row's `time`.
   * `timeless`: nothing, because no row is compared with it, or only what is in another table of the read too. `exact`: a
   * question of its own.
   */
  kept: 'newest' | 'timeless' | 'exact'
  /** null if it keeps a row for each of a few things, or one. */
  grows: Growth | null
}

type Bits = 32 | 64 | 128 | 256

/** A table that ingest writes for a range of blocks. */
type FactTraits<Row> = Table & {
  holds: 'facts'
  /** The facts that are read together with its own. */
  family: Family
  /**
   * The size in bits of every column that holds integers of the chain as decimal strings, or prices. TIP-20 keeps amounts
   * in 128 bits, also where its events have 256; what any contract may state (an OFT's event) is judged before it becomes
   * a fact. So no account can make a value that is refused: it would take another protocol.
   */
  bits: Partial<Record<keyof Row & string, Bits>>
  /** Never set: it has the type of the rows. */
  row?: Row
}

const table = <const Traits extends Table>(traits: Traits): Traits => traits

const fact = <Row>(
  traits: Pick<FactTraits<Row>, 'family' | 'isPartitioned' | 'retained' | 'kept' | 'grows' | 'bits'>,
): FactTraits<Row> => ({
  time: 'block_time',
  isMerged: false,
  holds: 'facts',
  derived: null,
  reads: 'lagging',
  ...traits,
})

const OF_STABLES = { isPartitioned: false, retained: 'forever', grows: null } as const
const OF_BLOCKS = { isPartitioned: true, retained: 'forever', kept: 'newest' } as const
const OF_TRANSACTIONS = { ...OF_BLOCKS, grows: { with: 'transactions' } } as const
const OF_LOGS = { ...OF_TRANSACTIONS, family: 'logs' } as const
const OF_ORDERS = { ...OF_TRANSACTIONS, family: 'catalogue' } as const
const DERIVED = { isMerged: true, holds: 'history', retained: 'forever', reads: 'lagging' } as const
const WRITTEN = { ...DERIVED, derived: null } as const
/** Rows of slots: a newer revision replaces an older one. */
const OF_SLOTS = { ...WRITTEN, time: 'slot_at', isPartitioned: true, kept: 'newest' } as const
const ADDED = { ...WRITTEN, time: 'recorded_at', isPartitioned: false, isMerged: false, kept: 'exact' } as const
const FEW = { ...ADDED, grows: null } as const
const LEDGER = { ...FEW, holds: 'ledger' } as const
const STATE = { ...FEW, isMerged: true, holds: 'state' } as const
const READ_BACK = { ...ADDED, reads: 'current', grows: { with: 'time' } } as const

/**
 * Every table of the database. A test compares them with what the migrations make. The facts are in the order in which
 * ingest writes and verify reports them.
 */
export const TABLES = {
  stablecoins: fact<Stablecoin>({ ...OF_STABLES, family: 'catalogue', kept: 'newest', bits: {} }),
  quote_token_updates: fact<QuoteTokenUpdate>({ ...OF_STABLES, family: 'catalogue', kept: 'exact', bits: {} }),
  dex_pairs: fact<DexPair>({ ...OF_STABLES, family: 'catalogue', kept: 'newest', bits: {} }),
  dex_orders: fact<DexOrder>({ ...OF_ORDERS, bits: { order_id: 128, amount_raw: 128 } }),
  dex_order_flips: fact<DexOrderFlip>({ ...OF_ORDERS, bits: { order_id: 128, amount_raw: 128 } }),
  exchange_events: fact<ExchangeEvent>({ ...OF_ORDERS, bits: { order_id: 128, amount_raw: 128 } }),
  role_events: fact<RoleEvent>({ ...OF_ORDERS, bits: {} }),
  dex_fills: fact<DexFill>({ ...OF_LOGS, bits: { order_id: 128, base_raw: 128, quote_raw: 128 } }),
  supply_events: fact<SupplyEvent>({ ...OF_LOGS, bits: { amount_raw: 256 } }),
  pause_events: fact<PauseEvent>({ ...OF_LOGS, bits: {} }),
  policy_events: fact<PolicyEvent>({
    ...OF_LOGS,
    bits: {
      policy_id: 64,
      sender_policy_id: 64,
      recipient_policy_id: 64,
      mint_recipient_policy_id: 64,
      token_filter_id: 64,
    },
  }),
  reward_distributions: fact<RewardDistribution>({ ...OF_LOGS, bits: { amount_raw: 128 } }),
  reward_recipients: fact<RewardRecipient>({ ...OF_LOGS, bits: {} }),
  reward_claims: fact<RewardClaim>({ ...OF_LOGS, bits: { amount_raw: 128 } }),
  fee_elections: fact<FeeElection>({ ...OF_LOGS, bits: {} }),
  fee_distributions: fact<FeeDistribution>({ ...OF_LOGS, bits: { amount_raw: 128 } }),
  fee_pool_events: fact<FeePoolEvent>({
    ...OF_LOGS,
    bits: { user_amount_raw: 128, validator_amount_raw: 128, liquidity_raw: 256 },
  }),
  fees_paid: fact<FeePaid>({ ...OF_LOGS, retained: 'RETAIN_FEES_PAID_DAYS', bits: { amount_raw: 128 } }),
  held_transfers: fact<HeldTransfer>({ ...OF_LOGS, bits: { blocked_nonce: 64, amount_raw: 128 } }),
  virtual_forwards: fact<VirtualForward>({ ...OF_LOGS, bits: { amount_raw: 128 } }),
  quote_token_proposals: fact<QuoteTokenProposal>({ ...OF_LOGS, bits: {} }),
  logo_updates: fact<LogoUpdate>({ ...OF_LOGS, bits: {} }),
  unknown_events: fact<UnknownEvent>({ ...OF_LOGS, bits: {} }),
  transfers: fact<Transfer>({ ...OF_TRANSACTIONS, family: 'transfers', bits: { amount_raw: 128 } }),
  flows: fact<Flow>({ ...OF_LOGS, bits: { amount_in_raw: 128, amount_out_raw: 128, usd_micros: 128 } }),
  state_reads: fact<StateRead>({
    ...OF_BLOCKS,
    family: 'state',
    grows: { with: 'stables' },
    bits: { supply_raw: 256, cap_raw: 256, policy_id: 64, opted_in_raw: 128, reward_per_token_raw: 256 },
  }),
  role_probes: fact<RoleProbe>({ ...OF_TRANSACTIONS, family: 'state', bits: {} }),
  peg_samples: fact<PegSample>({
    ...OF_BLOCKS,
    family: 'pegs',
    grows: { with: 'samples' },
    bits: { sell_micros: 32, buy_micros: 32 },
  }),
  depth_samples: fact<DepthSample>({
    ...OF_BLOCKS,
    family: 'pegs',
    grows: { with: 'stables', every: 60 },
    bits: { sell_raw: 64, buy_raw: 64 },
  }),
  blocks: fact<Block>({ ...OF_BLOCKS, family: 'logs', grows: { with: 'blocks' }, bits: {} }),

  peg_minutes: table({
    ...DERIVED,
    time: 'minute_end',
    isPartitioned: true,
    derived: { from: 'peg_samples', facts: 'peg_samples', timeOfFact: MINUTE_END, fill: fillPegMinutes },
    kept: 'newest',
    grows: { with: 'stables', every: 60 },
  }),
  peg_quote_hours: table({
    ...DERIVED,
    time: 'hour',
    isPartitioned: false,
    derived: { from: 'peg_samples', facts: 'peg_samples', timeOfFact: QUOTE_HOUR, fill: fillQuoteHours },
    kept: 'timeless',
    grows: { with: 'stables', every: 3600 },
  }),
  flow_buckets: table({
    ...DERIVED,
    time: 'window_start',
    isPartitioned: true,
    derived: { from: 'flows', facts: 'flows', timeOfFact: WINDOW_START, fill: fillFlowBuckets },
    kept: 'newest',
    grows: { with: 'stables', every: FLOW_WINDOW_SECONDS },
  }),
  flow_edge_starts: table({
    ...DERIVED,
    time: 'first_window',
    isPartitioned: false,
    derived: { from: 'flows', facts: 'flows', timeOfFact: WINDOW_START, fill: fillFlowEdgeStarts },
    kept: 'exact',
    grows: null,
  }),
  // A row is of a month or a year, so that months of time are no partitions of it.
  fee_choices: table({
    ...DERIVED,
    time: 'span_start',
    isPartitioned: false,
    derived: { from: 'fee_elections', facts: CHOICES_IN_SPANS, timeOfFact: SPAN_START, fill: fillFeeChoices },
    kept: 'exact',
    grows: { with: 'transactions' },
  }),
  peg_windows: table({ ...STATE, time: 'as_of', isMerged: false }),
  exchange_snapshots: table({
    ...WRITTEN,
    time: 'block_time',
    isPartitioned: false,
    kept: 'newest',
    grows: { with: 'transactions' },
  }),

  peg_breaks: table({
    ...OF_SLOTS,
    isPartitioned: false,
    kept: 'newest',
    grows: { with: 'stables', by: 'started_at' },
  }),
  peg_track_states: table({
    ...OF_SLOTS,
    isPartitioned: false,
    kept: 'exact',
    grows: { with: 'time', every: PERIOD_SECONDS['peg-tracks'] },
  }),
  flow_anomalies: table({ ...OF_SLOTS, time: 'window_start', grows: { with: 'stables' } }),
  risk_snapshots: table({ ...OF_SLOTS, grows: { with: 'stables', every: PERIOD_SECONDS.risk } }),
  extended_snapshots: table({ ...OF_SLOTS, grows: { with: 'stables', every: PERIOD_SECONDS.risk } }),
  reserve_snapshots: table({ ...OF_SLOTS, grows: { with: 'stables', every: PERIOD_SECONDS.reserves } }),
  // A snapshot has at most four times as many rows as there were transfers since the one before.
  holder_balances: table({ ...OF_SLOTS, isMerged: false, grows: { with: 'transactions' } }),
  holder_snapshots: table({ ...OF_SLOTS, isMerged: false, grows: { with: 'transactions' } }),

  ingest_batches: table({ ...LEDGER, grows: { with: 'blocks', by: 'from_block' } }),
  ingest_gaps: table({ ...LEDGER, isMerged: true }),
  ingest_rollbacks: table({ ...LEDGER, kept: 'timeless' }),
  quote_disagreements: table({ ...LEDGER, time: 'to_time', isMerged: true, kept: 'timeless' }),
  history_changes: table({ ...FEW, kept: 'timeless' }),
  chain_identity: table(FEW),
  token_lists: table({ ...FEW, time: 'holds_from', kept: 'newest' }),
  verify_runs: table({ ...FEW, time: 'ended_at' }),
  retentions: table(FEW),
  schema_migrations: table({ ...FEW, time: 'applied_at' }),
  job_runs: table({ ...ADDED, time: 'slot_at', grows: { with: 'time' } }),

  chain_heads: table({ ...STATE, time: 'seen_at' }),
  node_calls: table({ ...STATE, time: 'noted_at' }),
  chain_forks: table({ ...STATE, time: 'noted_at' }),
  quote_checks: table({ ...STATE, time: 'day', kept: 'timeless' }),
  job_leases: table(STATE),

  events: table({ ...READ_BACK, grows: { with: 'stables' } }),
  payments: table(READ_BACK),
  webhook_deliveries: table(READ_BACK),
  webhook_fan_outs: table(READ_BACK),
  webhook_attempts: table({ ...READ_BACK, time: 'started_at' }),
  webhook_subscriptions: table({ ...READ_BACK, time: 'changed_at', grows: null }),
  api_keys: table({ ...READ_BACK, time: 'created_at', grows: null }),
  api_key_uses: table({ ...FEW, time: 'used_at', isMerged: true }),
} as const satisfies Record<string, Table>

type TableName = keyof typeof TABLES

/** The names of the tables whose traits are of one type. */
export type NamesOf<Traits> = { [Name in TableName]: (typeof TABLES)[Name] extends Traits ? Name : never }[TableName]

/** The tables that can be rebuilt. */
export type DerivedTable = NamesOf<{ derived: Derivation }>

/** Every table with its name, in the order above. */
export const tables: readonly (Table & { name: string })[] = Object.entries<Table>(TABLES).map(([name, traits]) => ({
  name,
  ...traits,
}))

/** The traits of a table whose name comes from a database; undefined if it is of no table here. */
export const traitsOf = (name: string): Table | undefined => tables.find((table) => table.name === name)

const namesWhere = (meets: (table: Table) => boolean): string[] => tables.filter(meets).map(({ name }) => name)

export const derivedTables = namesWhere(({ derived }) => derived !== null) as DerivedTable[]

/** Tables of which reads of the API miss no row, whatever its replica lacks. */
export const CURRENT_TABLES: ReadonlySet<string> = new Set(namesWhere(({ reads }) => reads === 'current'))

/** What an instant is to reads that are kept, of the tables whose partitions do not tell it. */
export const INSTANTS: Instants = {
  times: Object.fromEntries(
    tables.flatMap(({ name, time, isPartitioned, kept }) =>
      !isPartitioned && kept === 'newest' ? [[name, time]] : [],
    ),
  ),
  timeless: new Set(namesWhere(({ kept }) => kept === 'timeless')),
}
