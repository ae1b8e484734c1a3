"""The answers, as the service describes them. A newer service may have more fields."""

# Made from /openapi.json by `npm run examples`.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class StablecoinsItemSupply(TypedDict):
    current: str
    cap: str | None


class StablecoinsItemPolicy(TypedDict):
    type: Literal["allow_all", "reject_all", "whitelist", "blacklist", "compound"]
    policy_id: str
    policy_admin: str | None
    paused: bool


class StablecoinsItemPeg(TypedDict):
    price: float
    spread_bps: float
    buy_price: float | None
    block_number: int
    sampled_at: str
    quoted: bool
    price_age_seconds: int


class StablecoinsItemQuote(TypedDict):
    quoted: bool
    unquoted_since: str | None
    unquoted_since_is_bound: bool


CoverageMissing = TypedDict(
    "CoverageMissing",
    {
        "from": "str",
        "to": "str",
        "from_block": "int | None",
        "to_block": "int | None",
        "reason": "Literal['not_read', 'before_history', 'unavailable', 'unpriced', 'not_sampled', 'not_searched']",
    },
)


class Coverage(TypedDict):
    status: Literal["complete", "partial", "unavailable"]
    message: str
    missing: list[CoverageMissing]
    missing_count: int
    measured_from: str | None
    measured_until: str | None


class StablecoinsItemOpenBreak(TypedDict):
    severity: Literal["mild", "severe"]
    started_at: str
    started_block: int


class StablecoinsItem(TypedDict):
    address: str
    symbol: str
    symbol_shared: bool
    name: str
    currency: str
    truncated: list[Literal["symbol", "name", "currency"]]
    tier: Literal["listed", "unlisted"]
    in_use: bool
    supply: StablecoinsItemSupply | None
    policy: StablecoinsItemPolicy | None
    peg: StablecoinsItemPeg | None
    quote: StablecoinsItemQuote | None
    coverage: Coverage
    tracked: bool
    max_deviation_24h_bps: float | None
    risk_score: float | None
    open_break: StablecoinsItemOpenBreak | None


class Stablecoins(TypedDict):
    as_of: NotRequired[str]
    stablecoins: list[StablecoinsItem]
    next_cursor: str | None


class StablecoinSupply(TypedDict):
    current: str
    cap: str | None


class StablecoinPolicy(TypedDict):
    type: Literal["allow_all", "reject_all", "whitelist", "blacklist", "compound"]
    policy_id: str
    policy_admin: str | None
    paused: bool


class StablecoinPeg(TypedDict):
    price: float
    spread_bps: float
    buy_price: float | None
    block_number: int
    sampled_at: str
    quoted: bool
    price_age_seconds: int


class StablecoinQuote(TypedDict):
    quoted: bool
    unquoted_since: str | None
    unquoted_since_is_bound: bool


class StablecoinOpenBreak(TypedDict):
    severity: Literal["mild", "severe"]
    started_at: str
    started_block: int


class StablecoinRecentSupplyEvent(TypedDict):
    kind: Literal["mint", "burn", "burn_blocked", "cap"]
    account: str
    amount: str
    block_number: int
    log_index: int
    block_timestamp: str
    tx_hash: str


StablecoinRoleHoldersCoverageMissing = TypedDict(
    "StablecoinRoleHoldersCoverageMissing",
    {
        "from": "str",
        "to": "str",
        "from_block": "int | None",
        "to_block": "int | None",
        "reason": "Literal['not_read', 'before_history', 'unavailable', 'unpriced', 'not_sampled', 'not_searched']",
    },
)


class StablecoinRoleHoldersCoverageRolesTracked(TypedDict):
    name: str
    powers: str


class StablecoinRoleHoldersCoverage(TypedDict):
    status: Literal["complete", "partial", "unavailable"]
    message: str
    missing: list[StablecoinRoleHoldersCoverageMissing]
    missing_count: int
    measured_from: str | None
    measured_until: str | None
    roles_tracked: list[StablecoinRoleHoldersCoverageRolesTracked]


class StablecoinRoleHoldersRole(TypedDict):
    role: str
    account: str
    granted_at: str | None
    granted_block: int | None
    tx_hash: str | None
    source: Literal["event", "probe"]


class StablecoinRoleHolders(TypedDict):
    coverage: StablecoinRoleHoldersCoverage
    roles: list[StablecoinRoleHoldersRole]


class Stablecoin(TypedDict):
    address: str
    symbol: str
    symbol_shared: bool
    name: str
    currency: str
    truncated: list[Literal["symbol", "name", "currency"]]
    tier: Literal["listed", "unlisted"]
    in_use: bool
    supply: StablecoinSupply | None
    policy: StablecoinPolicy | None
    peg: StablecoinPeg | None
    quote: StablecoinQuote | None
    coverage: Coverage
    tracked: bool
    max_deviation_24h_bps: float | None
    risk_score: float | None
    open_break: StablecoinOpenBreak | None
    as_of: NotRequired[str]
    recent_supply_events: list[StablecoinRecentSupplyEvent]
    role_holders: StablecoinRoleHolders


class AnalysisBriefingRisk(TypedDict):
    peg_risk: Literal["low", "medium", "high", "unrated"]
    policy_risk: Literal["low", "medium", "high", "unrated"]
    centralization_risk: Literal["low", "medium", "high", "unrated"]


class AnalysisBriefingRiskBasis(TypedDict):
    peg_risk: str
    policy_risk: str
    centralization_risk: str


class AnalysisBriefingSource(TypedDict):
    title: str
    url: str


class AnalysisBriefing(TypedDict):
    origin_kind: Literal["curated", "measured"]
    origin: str
    backing: str
    issuer_context: str
    risk: AnalysisBriefingRisk
    risk_basis: AnalysisBriefingRiskBasis
    sources: list[AnalysisBriefingSource]
    reviewed_on: str | None
    measured_at: str | None


class Analysis(TypedDict):
    as_of: NotRequired[str]
    address: str
    symbol: str
    briefing: AnalysisBriefing
    coverage: Coverage


class PegCurrent(TypedDict):
    price_vs_refusd: float
    spread_bps: float
    buy_price: float | None
    block_number: int
    sampled_at: str
    quoted: bool
    price_age_seconds: int


class PegQuote(TypedDict):
    quoted: bool
    unquoted_since: str | None
    unquoted_since_is_bound: bool


class PegWindow(TypedDict):
    window: Literal["1h", "24h", "7d"]
    sample_count: int
    unquoted_count: int
    unquoted_share: float | None
    mean_price: float | None
    stddev_price: float | None
    min_price: float | None
    max_price: float | None
    max_deviation_bps: float | None
    seconds_outside_10bps: int | None
    seconds_outside_50bps: int | None


class Peg(TypedDict):
    address: str
    as_of: NotRequired[str]
    current: PegCurrent | None
    quote: PegQuote | None
    coverage: Coverage
    windows: list[PegWindow]
    windows_as_of: str | None


class PegAveragesWindow(TypedDict):
    window: Literal["1h", "24h", "7d"]
    twap: float | None
    quoted_seconds: int
    unquoted_seconds: int
    unmeasured_seconds: int
    vwap: float | None
    trade_count: int
    unvalued_trade_count: int
    volume_tokens: float
    volume_usd: str


class PegAverages(TypedDict):
    address: str
    as_of: str | None
    windows_as_of: str
    coverage: Coverage
    windows: list[PegAveragesWindow]


class PegEvent(TypedDict):
    severity: Literal["mild", "severe"]
    direction: Literal["below", "above"]
    started_at: str
    ended_at: str | None
    duration_seconds: int
    max_deviation_bps: float
    started_block: int
    ended_block: int | None
    ongoing: bool
    standing_tokens: int | None
    thin: bool | None
    published_at: str | None


class PegEvents(TypedDict):
    address: str
    events: list[PegEvent]
    searched_from: str | None
    searched_until: str | None
    complete_until: str | None
    coverage: Coverage
    known_at: NotRequired[str]
    next_cursor: str | None


class AllPegEvent(TypedDict):
    address: str
    symbol: str
    symbol_shared: bool
    severity: Literal["mild", "severe"]
    direction: Literal["below", "above"]
    started_at: str
    ended_at: str | None
    duration_seconds: int
    max_deviation_bps: float
    started_block: int
    ended_block: int | None
    ongoing: bool
    standing_tokens: int | None
    thin: bool | None
    published_at: str | None


class AllPegEvents(TypedDict):
    events: list[AllPegEvent]
    searched_from: str | None
    searched_until: str | None
    complete_until: str | None
    coverage: Coverage
    next_cursor: str | None


class IssuanceWindow(TypedDict):
    window: Literal["24h", "7d", "30d"]
    minted: str | None
    minted_tokens: float | None
    minted_pct: float | None
    burned: str | None
    burned_tokens: float | None
    burned_pct: float | None
    net_issuance: str | None
    net_issuance_tokens: float | None
    net_issuance_pct: float | None
    mint_count: int
    burn_count: int
    supply_at_start: str | None
    supply_at_start_tokens: float | None
    supply_block_number: int | None
    coverage: Coverage


class IssuanceBurnSurge(TypedDict):
    ratio: float | None
    baseline_days: int
    baseline_burned: str | None
    baseline_daily_tokens: float | None


class IssuanceLargestMint(TypedDict):
    kind: Literal["mint", "burn", "burn_blocked"]
    account: str
    amount: str
    block_number: int
    log_index: int
    block_timestamp: str
    tx_hash: str
    amount_tokens: float
    label: str | None


class IssuanceLargestBurn(TypedDict):
    kind: Literal["mint", "burn", "burn_blocked"]
    account: str
    amount: str
    block_number: int
    log_index: int
    block_timestamp: str
    tx_hash: str
    amount_tokens: float
    label: str | None


class Issuance(TypedDict):
    address: str
    as_of: str | None
    windows_as_of: str
    windows: list[IssuanceWindow]
    burn_surge: IssuanceBurnSurge
    largest_mints: list[IssuanceLargestMint]
    largest_burns: list[IssuanceLargestBurn]
    coverage: Coverage


class HoldersTopHolder(TypedDict):
    rank: int
    address: str
    label: str | None
    balance: str
    balance_tokens: float
    share_pct: float


class HoldersActivity(TypedDict):
    window: Literal["24h", "7d", "30d"]
    transfer_count: int
    transferred: str
    transferred_tokens: float
    velocity: float | None
    velocity_a_year: float | None
    turnover_pct: float | None
    new_holders: int
    leaving_holders: int


class Holders(TypedDict):
    address: str
    as_of: str | None
    holder_count: int | None
    supply: str | None
    supply_tokens: float | None
    hhi: float | None
    gini: float | None
    top_10_pct: float | None
    top_100_pct: float | None
    top_holders: list[HoldersTopHolder]
    activity: HoldersActivity | None
    coverage: Coverage


class RewardsDistributed(TypedDict):
    last_24h_tokens: float
    last_7d_tokens: float
    all_time_tokens: float


class RewardsOptIn(TypedDict):
    recipient_count: int
    distinct_recipients: int
    redirected_count: int


class RewardsTopFunder(TypedDict):
    address: str
    distribution_count: int
    total_amount_tokens: float
    label: str | None


class RewardsRecentDistribution(TypedDict):
    funder: str
    amount_tokens: float
    block_number: int
    block_timestamp: str
    tx_hash: str
    funder_label: str | None


class Rewards(TypedDict):
    address: str
    as_of: str | None
    effective_apy_pct: NotRequired[float | None]
    opted_in_supply: NotRequired[str | None]
    opted_in_tokens: NotRequired[float | None]
    global_reward_per_token: NotRequired[str | None]
    distribution_count: int
    distributed: RewardsDistributed
    opt_in: RewardsOptIn
    top_funders: list[RewardsTopFunder]
    recent_distributions: list[RewardsRecentDistribution]
    coverage: Coverage


RolesCoverageMissing = TypedDict(
    "RolesCoverageMissing",
    {
        "from": "str",
        "to": "str",
        "from_block": "int | None",
        "to_block": "int | None",
        "reason": "Literal['not_read', 'before_history', 'unavailable', 'unpriced', 'not_sampled', 'not_searched']",
    },
)


class RolesCoverageRolesTracked(TypedDict):
    name: str
    powers: str


class RolesCoverage(TypedDict):
    status: Literal["complete", "partial", "unavailable"]
    message: str
    missing: list[RolesCoverageMissing]
    missing_count: int
    measured_from: str | None
    measured_until: str | None
    roles_tracked: list[RolesCoverageRolesTracked]


class Role(TypedDict):
    role: str
    account: str
    granted_at: str | None
    granted_block: int | None
    tx_hash: str | None
    source: Literal["event", "probe"]


class Roles(TypedDict):
    address: str
    as_of: NotRequired[str]
    coverage: RolesCoverage
    roles: list[Role]


class FeeEconomicsTotals(TypedDict):
    users_electing: int
    validators_electing: int
    fees_distributed_7d_tokens: float
    fees_distributed_all_time_tokens: float
    distribution_count: int


class FeeEconomicsStablecoin(TypedDict):
    address: str
    symbol: str
    name: str
    users_electing: int
    validators_electing: int
    fees_received_24h_tokens: float
    fees_received_7d_tokens: float
    fees_received_all_time_tokens: float
    share_of_fees_7d_pct: float | None
    distribution_count: int


class FeeEconomicsRecentDistribution(TypedDict):
    validator: str
    token: str
    token_symbol: str
    amount_tokens: float
    block_number: int
    block_timestamp: str
    tx_hash: str
    validator_label: str | None


class FeeEconomics(TypedDict):
    as_of: str | None
    totals: FeeEconomicsTotals
    stablecoins: list[FeeEconomicsStablecoin]
    next_cursor: str | None
    recent_distributions: list[FeeEconomicsRecentDistribution]
    coverage: Coverage


class RiskComponents(TypedDict):
    peg_risk: float
    peg_break_risk: float
    supply_risk: float
    policy_risk: float


class RiskInputsSupply(TypedDict):
    current: str
    cap: str | None


class RiskInputsPolicy(TypedDict):
    type: Literal["allow_all", "reject_all", "whitelist", "blacklist", "compound"]
    policy_id: str
    paused: bool


class RiskInputs(TypedDict):
    quoted_count_24h: int
    unquoted_count_24h: int
    unquoted_share_24h: float | None
    unquoted_since: str | None
    stddev_bps_24h: float | None
    max_deviation_bps_24h: float | None
    has_open_mild: bool
    has_open_severe: bool
    mild_events_7d: int
    severe_events_7d: int
    supply: RiskInputsSupply | None
    policy: RiskInputsPolicy | None
    state_block_number: int | None
    policy_events_7d: int


class RiskExtendedComponentInput(TypedDict):
    name: str
    value: float | bool | str | None


class RiskExtendedComponentRaisedMostBy(TypedDict):
    input: str
    event: str
    score: float
    score_change: float


class RiskExtendedComponentLoweredMostBy(TypedDict):
    input: str
    event: str
    score: float
    score_change: float


class RiskExtendedComponent(TypedDict):
    name: Literal["peg", "breaks", "liquidity", "concentration", "issuance", "policy"]
    score: float
    weight: float
    inputs: list[RiskExtendedComponentInput]
    raised_most_by: RiskExtendedComponentRaisedMostBy | None
    lowered_most_by: RiskExtendedComponentLoweredMostBy | None


class RiskExtended(TypedDict):
    score: float
    version: str
    is_complete: bool
    missing: list[str]
    left_out: list[Literal["peg", "breaks", "liquidity", "concentration", "issuance", "policy"]]
    components: list[RiskExtendedComponent]
    message: str


class Risk(TypedDict):
    address: str
    composite: float
    components: RiskComponents
    computed_at: str
    methodology: str
    inputs: RiskInputs
    extended: RiskExtended
    coverage: Coverage
    published_at: str
    revision: int
    is_newest_revision: bool | None
    known_at: NotRequired[str]


class ReservesBacking(TypedDict):
    claimed_model: str
    attestation_source: str | None
    attested_at: str


class ReserveNotes(TypedDict):
    label: str
    issuer: str
    backing_model: str


class Reserve(TypedDict):
    reserve_type: Literal["protocol_native", "bridged_fiat", "fiat_backed", "crypto_mixed", "crypto_backed", "yield_wrapper", "unknown"]
    backing_usd: float | None
    attestation_source: str | None
    attested_at: str | None
    verified_by: Literal["service_curated", "unverified"]
    notes: ReserveNotes


class Reserves(TypedDict):
    address: str
    market_value_usd: float | None
    backing: ReservesBacking | None
    total_backing_usd: float | None
    reserves: list[Reserve]
    computed_at: str
    coverage: Coverage
    published_at: str
    revision: int
    is_newest_revision: bool | None
    known_at: NotRequired[str]


class DepthSizeSell(TypedDict):
    status: str
    amount: str | None
    price: float | None
    slippage_bps: float | None


class DepthSizeBuy(TypedDict):
    status: str
    amount: str | None
    price: float | None
    slippage_bps: float | None


class DepthSize(TypedDict):
    size_tokens: int
    sell: DepthSizeSell
    buy: DepthSizeBuy


class DepthAtSizeSell(TypedDict):
    price: float | None
    cost_bps: float | None
    reason: Literal["not_sampled", "below_sampled_sizes", "above_sampled_sizes", "quoted", "anchor", "no_liquidity", "no_pair", "not_usd", "paused", "failed", "out_of_range", "too_deep"] | None


class DepthAtSizeBuy(TypedDict):
    price: float | None
    cost_bps: float | None
    reason: Literal["not_sampled", "below_sampled_sizes", "above_sampled_sizes", "quoted", "anchor", "no_liquidity", "no_pair", "not_usd", "paused", "failed", "out_of_range", "too_deep"] | None


class DepthAtSize(TypedDict):
    size_tokens: int
    sell: DepthAtSizeSell
    buy: DepthAtSizeBuy


class Depth(TypedDict):
    address: str
    as_of: str | None
    block_number: int | None
    sampled_at: str | None
    coverage: Coverage
    sizes: list[DepthSize]
    at_size: DepthAtSize | None


class LiquiditySizeSell(TypedDict):
    status: str
    price: float | None
    deviation_bps: float | None


class LiquiditySizeBuy(TypedDict):
    status: str
    price: float | None
    deviation_bps: float | None


class LiquiditySize(TypedDict):
    size_tokens: int
    sell: LiquiditySizeSell
    buy: LiquiditySizeBuy
    mid_price: float | None
    half_spread_bps: float | None


class LiquidityDepthAtBpsSell(TypedDict):
    tokens: float | None
    at_least_tokens: float | None
    less_than_tokens: float | None


class LiquidityDepthAtBpsBuy(TypedDict):
    tokens: float | None
    at_least_tokens: float | None
    less_than_tokens: float | None


class LiquidityDepthAtBps(TypedDict):
    bps: int
    sell: LiquidityDepthAtBpsSell
    buy: LiquidityDepthAtBpsBuy


class LiquidityExitShare(TypedDict):
    share: float | None
    at_least: float | None
    less_than: float | None


class LiquidityExitCost(TypedDict):
    size_tokens: int
    exit_cost_bps: float | None
    reason: Literal["not_sampled", "below_sampled_sizes", "above_sampled_sizes", "quoted", "anchor", "no_liquidity", "no_pair", "not_usd", "paused", "failed", "out_of_range", "too_deep"] | None


class Liquidity(TypedDict):
    address: str
    as_of: str | None
    block_number: int | None
    sampled_at: str | None
    sample_age_seconds: int | None
    coverage: Coverage
    route: list[str] | None
    sizes: list[LiquiditySize]
    depth_at_bps: list[LiquidityDepthAtBps]
    supply: str | None
    exit_share: LiquidityExitShare
    exit_cost: LiquidityExitCost | None


FlowsEdge = TypedDict(
    "FlowsEdge",
    {
        "from": "str",
        "to": "str",
        "from_address": "str",
        "to_address": "str",
        "volume_usd": "str",
        "tx_count": "int",
        "unvalued_count": "int",
        "unvalued_in_raw": "str",
        "unvalued_out_raw": "str",
    },
)


class FlowsNode(TypedDict):
    symbol: str
    symbol_shared: bool
    address: str
    inbound_usd: str
    outbound_usd: str


class Flows(TypedDict):
    window_hours: int
    edges: list[FlowsEdge]
    nodes: list[FlowsNode]
    coverage: Coverage


FlowHistoryEdge = TypedDict(
    "FlowHistoryEdge",
    {
        "from": "str",
        "to": "str",
        "from_address": "str",
        "to_address": "str",
        "volume_usd": "str",
        "tx_count": "int",
        "unvalued_count": "int",
        "unvalued_in_raw": "str",
        "unvalued_out_raw": "str",
    },
)


class FlowHistoryNode(TypedDict):
    symbol: str
    symbol_shared: bool
    address: str
    inbound_usd: str
    outbound_usd: str


class FlowHistorySeries(TypedDict):
    hour_start: str
    volume_usd: str
    tx_count: int
    unvalued_count: int


FlowHistory = TypedDict(
    "FlowHistory",
    {
        "from": "str",
        "to": "str",
        "window_hours": "int",
        "edges": "list[FlowHistoryEdge]",
        "nodes": "list[FlowHistoryNode]",
        "series": "list[FlowHistorySeries]",
        "coverage": "Coverage",
    },
)


class FlowAnomaly(TypedDict):
    from_token: str
    to_token: str
    kind: Literal["surge", "drop", "silence"]
    window_start: str
    window_end: str
    observed_flow_usd: float
    baseline_mean_usd: float
    baseline_stddev_usd: float
    z_score: float
    tx_count: int
    detected_at: str
    baseline_windows: int
    observations: int
    active_mean_usd: float
    active_stddev_usd: float
    silent_windows: int | None
    longest_silence_windows: int | None
    silence_probability: float | None
    published_at: str | None


class FlowAnomalies(TypedDict):
    anomalies: list[FlowAnomaly]
    scored_until: str | None
    searched_from: str | None
    searched_until: str | None
    complete_until: str | None
    coverage: Coverage
    known_at: NotRequired[str]
    next_cursor: str | None


FlowScore = TypedDict(
    "FlowScore",
    {
        "from": "str",
        "to": "str",
        "from_address": "str",
        "to_address": "str",
        "observed_usd": "str | None",
        "baseline_windows": "int | None",
        "observations": "int | None",
        "active_share": "float | None",
        "median_active_usd": "float | None",
        "robust_z": "float | None",
        "expected_low_usd": "float | None",
        "expected_high_usd": "float | None",
        "activity_probability": "float | None",
        "is_by_hour": "bool",
        "silent_windows": "int | None",
        "p_value": "float | None",
        "q_value": "float | None",
        "reasons": "list[str]",
    },
)


class FlowScores(TypedDict):
    as_of: NotRequired[str]
    window_start: str | None
    window_end: str | None
    edge_count: int
    scored_count: int
    scores: list[FlowScore]
    coverage: Coverage
    next_cursor: str | None


ExportFlowsRow = TypedDict(
    "ExportFlowsRow",
    {
        "block_time": "str",
        "block_number": "str",
        "log_index": "int",
        "tx_hash": "str",
        "kind": "Literal['swap', 'transfer', 'bridge']",
        "from": "str",
        "to": "str",
        "from_address": "str",
        "to_address": "str",
        "account": "str",
        "amount_in": "str",
        "amount_out": "str",
        "usd_value": "str | None",
        "path": "list[str]",
        "remote_chain": "str | None",
    },
)


class ExportFlows(TypedDict):
    coverage: Coverage
    data: list[ExportFlowsRow]
    next_cursor: str | None


class PegSeriesRow(TypedDict):
    bucket_start: str
    bucket_end: str
    open: float | None
    high: float | None
    low: float | None
    close: float | None
    mean: float | None
    seconds_outside_10bps: int | None
    seconds_outside_50bps: int | None
    sample_count: int
    unquoted_count: int


class PegSeries(TypedDict):
    address: str
    coverage: Coverage
    interval: Literal["1m", "5m", "1h", "1d"]
    data: list[PegSeriesRow]
    next_cursor: str | None


class SupplySeriesRow(TypedDict):
    bucket_start: str
    bucket_end: str
    supply: str | None
    cap: str | None
    minted: str
    burned: str


class SupplySeries(TypedDict):
    address: str
    coverage: Coverage
    interval: Literal["1m", "5m", "1h", "1d"]
    data: list[SupplySeriesRow]
    next_cursor: str | None


class RiskSeriesRow(TypedDict):
    bucket_start: str
    bucket_end: str
    composite: float | None
    peg_risk: float | None
    peg_break_risk: float | None
    supply_risk: float | None
    policy_risk: float | None
    methodology: str | None
    composite_min: float | None
    composite_max: float | None
    revision: int | None
    published_at: str | None
    snapshot_count: int
    extended: float | None
    extended_version: str | None


class RiskSeries(TypedDict):
    address: str
    coverage: Coverage
    interval: Literal["1m", "5m", "1h", "1d"]
    known_at: NotRequired[str]
    data: list[RiskSeriesRow]
    next_cursor: str | None


class AllPegSeriesStable(TypedDict):
    address: str
    symbol: str
    low_bps: list[float | None]
    high_bps: list[float | None]
    last_bps: list[float | None]
    unquoted_share: list[float | None]


AllPegSeries = TypedDict(
    "AllPegSeries",
    {
        "from": "str",
        "to": "str",
        "step_seconds": "int",
        "bucket_count": "int",
        "coverage": "Coverage",
        "stables": "list[AllPegSeriesStable]",
    },
)


class PegWindowSeriesWindow(TypedDict):
    window: Literal["1h", "24h", "7d"]
    sample_count: list[int]
    unquoted_count: list[int]
    unquoted_share: list[float | None]
    mean_price: list[float | None]
    stddev_price: list[float | None]
    min_price: list[float | None]
    max_price: list[float | None]
    max_deviation_bps: list[float | None]
    seconds_outside_10bps: list[int | None]
    seconds_outside_50bps: list[int | None]


PegWindowSeries = TypedDict(
    "PegWindowSeries",
    {
        "address": "str",
        "from": "str",
        "to": "str",
        "step_seconds": "int",
        "bucket_count": "int",
        "coverage": "Coverage",
        "windows": "list[PegWindowSeriesWindow]",
    },
)


class DepthSeriesSize(TypedDict):
    size_tokens: int
    sell_slippage_bps: list[float | None]
    buy_slippage_bps: list[float | None]
    is_sampled: list[bool]


DepthSeries = TypedDict(
    "DepthSeries",
    {
        "address": "str",
        "from": "str",
        "to": "str",
        "step_seconds": "int",
        "bucket_count": "int",
        "coverage": "Coverage",
        "sizes": "list[DepthSeriesSize]",
    },
)


class LiquiditySeriesSize(TypedDict):
    size_tokens: int
    sell_deviation_bps: list[float | None]
    buy_deviation_bps: list[float | None]
    half_spread_bps: list[float | None]
    is_sampled: list[bool]


class LiquiditySeriesDepthAt50bpsSell(TypedDict):
    tokens: list[float | None]
    at_least_tokens: list[float | None]
    less_than_tokens: list[float | None]


class LiquiditySeriesDepthAt50bpsBuy(TypedDict):
    tokens: list[float | None]
    at_least_tokens: list[float | None]
    less_than_tokens: list[float | None]


class LiquiditySeriesDepthAt50bps(TypedDict):
    sell: LiquiditySeriesDepthAt50bpsSell
    buy: LiquiditySeriesDepthAt50bpsBuy


LiquiditySeries = TypedDict(
    "LiquiditySeries",
    {
        "address": "str",
        "from": "str",
        "to": "str",
        "step_seconds": "int",
        "bucket_count": "int",
        "coverage": "Coverage",
        "sizes": "list[LiquiditySeriesSize]",
        "depth_at_50bps": "LiquiditySeriesDepthAt50bps",
    },
)


class StatusHead(TypedDict):
    tag: str
    block_number: int
    block_time: str
    seen_at: str


class StatusNodeCalls1m(TypedDict):
    ok: int
    limited: int
    too_large: int
    no_state: int
    late: int
    failed: int


class StatusNode(TypedDict):
    noted_at: str
    problems: list[Literal["away", "limits_rate", "limits_ranges", "drops_states", "late", "fails", "unsteady"]]
    calls_1m: StatusNodeCalls1m
    chain_changes_1h: int


class StatusNewestBlock(TypedDict):
    block_number: int
    block_time: str


class StatusCatalogue(TypedDict):
    block_number: int
    to_block: int
    blocks_per_second: float | None
    eta_seconds: int | None


class Delay(TypedDict):
    count: int
    p50_seconds: float | None
    p99_seconds: float | None


class StatusDataset(TypedDict):
    dataset: str
    newest_at: str | None
    lag_blocks: int | None
    lag_seconds: int | None
    delay_1h: Delay
    delay_24h: Delay


class StatusGapsDeclared(TypedDict):
    dataset: str
    from_block: int
    to_block: int
    reason: str


class StatusGaps(TypedDict):
    missing_blocks: int
    declared_count: int
    declared: list[StatusGapsDeclared]


class StatusStorage(TypedDict):
    least_free_share: float | None
    replica_delay_seconds: int | None
    readonly_tables: int | None
    keeper_answers: bool | None
    replicas_away: int | None


class StatusInvariantsFinding(TypedDict):
    what: str
    status: Literal["match", "mismatch", "not checked"]
    scope: str


class StatusInvariants(TypedDict):
    started_at: str
    ended_at: str
    findings: list[StatusInvariantsFinding]


class StatusJobCatchUp(TypedDict):
    due_slots: int
    done_slots: int
    oldest_slot_at: str
    slots_per_second: float | None
    eta_seconds: int | None


class StatusJob(TypedDict):
    job: str
    period_seconds: int
    last_slot_at: str | None
    last_success_at: str | None
    lag_seconds: int | None
    is_late: bool
    waiting_slots: int
    waiting_reason: Literal["history_not_read", "blocks_missing", "backfill_running"] | None
    waiting_until: str | None
    catch_up: StatusJobCatchUp | None
    done_24h: int
    failed_24h: int
    median_ms_24h: int | None


class Status(TypedDict):
    at: str
    head: StatusHead | None
    node: StatusNode | None
    newest_block: StatusNewestBlock | None
    catalogue: StatusCatalogue | None
    datasets: list[StatusDataset]
    gaps: StatusGaps
    storage: StatusStorage
    fees_kept_from: str | None
    invariants: StatusInvariants | None
    jobs: list[StatusJob]


class EventPegBreakStartedData(TypedDict):
    stable: str
    severity: Literal["mild", "severe"]
    direction: Literal["below", "above"]
    started_at: str
    max_deviation_bps: float
    started_block: int
    standing_tokens: NotRequired[int]
    thin: NotRequired[bool]


class EventPegBreakStarted(TypedDict):
    id: str
    sequence: int
    occurred_at: str
    recorded_at: str
    published_at: str
    event: Literal["peg_break.started"]
    data: EventPegBreakStartedData


class EventPegBreakEndedData(TypedDict):
    stable: str
    severity: Literal["mild", "severe"]
    direction: Literal["below", "above"]
    started_at: str
    max_deviation_bps: float
    started_block: int
    standing_tokens: NotRequired[int]
    thin: NotRequired[bool]
    ended_at: str
    ended_block: int
    duration_seconds: int


class EventPegBreakEnded(TypedDict):
    id: str
    sequence: int
    occurred_at: str
    recorded_at: str
    published_at: str
    event: Literal["peg_break.ended"]
    data: EventPegBreakEndedData


class EventAgreedBreakStartedData(TypedDict):
    stable: str
    severity: Literal["mild", "severe"]
    direction: Literal["below", "above"]
    started_at: str
    max_deviation_bps: float
    started_block: int


class EventAgreedBreakStarted(TypedDict):
    id: str
    sequence: int
    occurred_at: str
    recorded_at: str
    published_at: str
    event: Literal["agreed_break.started"]
    data: EventAgreedBreakStartedData


class EventAgreedBreakEndedData(TypedDict):
    stable: str
    severity: Literal["mild", "severe"]
    direction: Literal["below", "above"]
    started_at: str
    max_deviation_bps: float
    started_block: int
    ended_at: str
    ended_block: int
    duration_seconds: int


class EventAgreedBreakEnded(TypedDict):
    id: str
    sequence: int
    occurred_at: str
    recorded_at: str
    published_at: str
    event: Literal["agreed_break.ended"]
    data: EventAgreedBreakEndedData


class EventPegQuoteLostData(TypedDict):
    stable: str
    status: Literal["quoted", "anchor", "no_liquidity", "no_pair", "not_usd", "paused", "failed", "out_of_range", "too_deep"]
    started_at: str
    started_block: int


class EventPegQuoteLost(TypedDict):
    id: str
    sequence: int
    occurred_at: str
    recorded_at: str
    published_at: str
    event: Literal["peg_quote.lost"]
    data: EventPegQuoteLostData


class EventPegQuoteBackData(TypedDict):
    stable: str
    status: Literal["quoted", "anchor", "no_liquidity", "no_pair", "not_usd", "paused", "failed", "out_of_range", "too_deep"]
    started_at: str
    started_block: int
    ended_at: str
    ended_block: int
    duration_seconds: int


class EventPegQuoteBack(TypedDict):
    id: str
    sequence: int
    occurred_at: str
    recorded_at: str
    published_at: str
    event: Literal["peg_quote.back"]
    data: EventPegQuoteBackData


class EventFlowAnomalyDetectedData(TypedDict):
    from_token: str
    to_token: str
    kind: Literal["surge", "drop", "silence"]
    window_start: str
    window_end: str
    observed_flow_usd: float
    baseline_mean_usd: float
    baseline_stddev_usd: float
    z_score: float
    tx_count: int
    detected_at: str
    baseline_windows: int
    observations: int
    active_mean_usd: float
    active_stddev_usd: float
    silent_windows: int | None
    longest_silence_windows: int | None
    silence_probability: float | None


class EventFlowAnomalyDetected(TypedDict):
    id: str
    sequence: int
    occurred_at: str
    recorded_at: str
    published_at: str
    event: Literal["flow_anomaly.detected"]
    data: EventFlowAnomalyDetectedData


class EventSystemHealthDriftData(TypedDict):
    component: str
    status: Literal["ok", "behind", "stalled", "overdue", "gaps", "disabled"]
    lag_blocks: int | None
    lag_seconds: int | None
    detected_at: str


class EventSystemHealthDrift(TypedDict):
    id: str
    sequence: int
    occurred_at: str
    recorded_at: str
    published_at: str
    event: Literal["system.health_drift"]
    data: EventSystemHealthDriftData


class EventEventRetractedData(TypedDict):
    retracts: str
    retracted_event: Literal["peg_break.started", "peg_break.ended", "agreed_break.started", "agreed_break.ended", "peg_quote.lost", "peg_quote.back", "flow_anomaly.detected", "system.health_drift", "event.retracted"]
    stables: list[str]
    occurred_at: str
    recorded_at: str
    reason: Literal["not_found", "changed"]
    original: dict[str, Any]


class EventEventRetracted(TypedDict):
    id: str
    sequence: int
    occurred_at: str
    recorded_at: str
    published_at: str
    event: Literal["event.retracted"]
    data: EventEventRetractedData


Event = Union[EventPegBreakStarted, EventPegBreakEnded, EventAgreedBreakStarted, EventAgreedBreakEnded, EventPegQuoteLost, EventPegQuoteBack, EventFlowAnomalyDetected, EventSystemHealthDrift, EventEventRetracted]

class Events(TypedDict):
    events: list[Event]
    next_after: int
    searched_from: str | None
    searched_until: str | None
    complete_until: str | None
    coverage: Coverage
    has_more: bool
    as_of: NotRequired[str]
    known_at: NotRequired[str]
