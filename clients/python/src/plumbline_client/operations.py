"""A method for every route."""

# Made from /openapi.json by `npm run examples`.

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from urllib.parse import quote

from .pages import Log, Pages, Table
from .transport import Seconds, Time, Transport
from .types import (
    AllPegEvent,
    AllPegEvents,
    AllPegSeries,
    Analysis,
    Depth,
    DepthSeries,
    Event,
    Events,
    ExportFlows,
    ExportFlowsRow,
    FeeEconomics,
    FeeEconomicsStablecoin,
    FlowAnomalies,
    FlowAnomaly,
    FlowHistory,
    FlowScore,
    FlowScores,
    Flows,
    Holders,
    Issuance,
    Liquidity,
    LiquiditySeries,
    Peg,
    PegAverages,
    PegEvent,
    PegEvents,
    PegSeries,
    PegSeriesRow,
    PegWindowSeries,
    Reserves,
    Rewards,
    Risk,
    RiskSeries,
    RiskSeriesRow,
    Roles,
    Stablecoin,
    Stablecoins,
    StablecoinsItem,
    Status,
    SupplySeries,
    SupplySeriesRow,
)


class Operations(Transport):
    """Free routes, and routes with a price, which need a key or a payment."""

    def stablecoins(self, *, as_of: Time | None = None, tier: Literal["listed", "unlisted"] | None = None, symbol: str | None = None, currency: str | None = None, tracked: bool | None = None, page_size: int | None = None) -> Pages[Stablecoins, StablecoinsItem]:
        """Every tracked stable with its peg, supply and policy."""
        return Pages(self, "/api/v1/stablecoins", {"as_of": as_of, "tier": tier, "symbol": symbol, "currency": currency, "tracked": tracked, "limit": page_size}, "stablecoins")

    def stablecoin(self, address: str, *, as_of: Time | None = None) -> Stablecoin:
        """One stable with its peg, supply, policy, latest supply events and role holders."""
        body: Stablecoin = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}", {"as_of": as_of})
        return body

    def analysis(self, address: str, *, as_of: Time | None = None) -> Analysis:
        """A briefing on one stable: its origin, backing, issuer and risks."""
        body: Analysis = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/analysis", {"as_of": as_of})
        return body

    def peg(self, address: str, *, as_of: Time | None = None) -> Peg:
        """Price against the reference stable, and its 1h, 24h and 7d windows."""
        body: Peg = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/peg", {"as_of": as_of})
        return body

    def peg_averages(self, address: str, *, as_of: Time | None = None) -> PegAverages:
        """Time-weighted and volume-weighted average prices over 1h, 24h and 7d."""
        body: PegAverages = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/peg/averages", {"as_of": as_of})
        return body

    def peg_events(self, address: str, *, as_of: Time | None = None, known_at: Time | None = None, severity: Literal["mild", "severe"] | None = None, min_bps: float | None = None, min_seconds: int | None = None, min_size: int | None = None, track: Literal["published", "agreed"] | None = None, page_size: int | None = None) -> Pages[PegEvents, PegEvent]:
        """Breaks of the peg, newest first."""
        return Pages(self, f"/api/v1/stablecoins/{quote(address, safe='')}/peg-events", {"as_of": as_of, "known_at": known_at, "severity": severity, "min_bps": min_bps, "min_seconds": min_seconds, "min_size": min_size, "track": track, "limit": page_size}, "events")

    def all_peg_events(self, *, from_: Time | None = None, as_of: Time | None = None, severity: Literal["mild", "severe"] | None = None, min_bps: float | None = None, min_seconds: int | None = None, min_size: int | None = None, track: Literal["published", "agreed"] | None = None, page_size: int | None = None) -> Pages[AllPegEvents, AllPegEvent]:
        """Breaks of the peg of all stables since a time, newest first."""
        return Pages(self, "/api/v1/stablecoins/peg-events", {"from": from_, "as_of": as_of, "severity": severity, "min_bps": min_bps, "min_seconds": min_seconds, "min_size": min_size, "track": track, "limit": page_size}, "events")

    def issuance(self, address: str, *, as_of: Time | None = None) -> Issuance:
        """Mints and burns of a stable over 24h, 7d and 30d."""
        body: Issuance = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/issuance", {"as_of": as_of})
        return body

    def holders(self, address: str, *, as_of: Time | None = None, window: Literal["24h", "7d", "30d"] | None = None, limit: int | None = None) -> Holders:
        """Who holds a stable, and how concentrated."""
        body: Holders = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/holders", {"as_of": as_of, "window": window, "limit": limit})
        return body

    def rewards(self, address: str, *, as_of: Time | None = None) -> Rewards:
        """Rewards paid to the holders of a stable, their funders, and how many holders take part."""
        body: Rewards = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/rewards", {"as_of": as_of})
        return body

    def roles(self, address: str, *, as_of: Time | None = None) -> Roles:
        """Who may mint, pause and administer a stable, now or at any time."""
        body: Roles = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/roles", {"as_of": as_of})
        return body

    def fee_economics(self, *, as_of: Time | None = None, page_size: int | None = None) -> Pages[FeeEconomics, FeeEconomicsStablecoin]:
        """Which stables are chosen for fees, and what validators were paid in each."""
        return Pages(self, "/api/v1/fee-economics/overview", {"as_of": as_of, "limit": page_size}, "stablecoins")

    def risk(self, address: str, *, as_of: Time | None = None, known_at: Time | None = None) -> Risk:
        """How risky a stable is, and what the score is made of."""
        body: Risk = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/risk", {"as_of": as_of, "known_at": known_at})
        return body

    def reserves(self, address: str, *, as_of: Time | None = None, known_at: Time | None = None) -> Reserves:
        """What backs a stable on this chain, now or at any time."""
        body: Reserves = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/reserves", {"as_of": as_of, "known_at": known_at})
        return body

    def depth(self, address: str, *, as_of: Time | None = None, size: int | None = None) -> Depth:
        """Price and slippage by size, selling and buying, now or at any time."""
        body: Depth = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/depth", {"as_of": as_of, "size": size})
        return body

    def liquidity(self, address: str, *, as_of: Time | None = None, size: int | None = None) -> Liquidity:
        """Prices that can be traded at: deviation and spread by size, depth by bps, exit cost."""
        body: Liquidity = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/liquidity", {"as_of": as_of, "size": size})
        return body

    def flows(self, *, hours: Literal[1, 6, 24] | None = None, stable: str | None = None, as_of: Time | None = None) -> Flows:
        """Flows between stables in the last hours, largest first."""
        body: Flows = self.get("/api/v1/stablecoins/flows", {"hours": hours, "stable": stable, "as_of": as_of})
        return body

    def flow_history(self, *, from_: Time | None = None, to: Time | None = None) -> FlowHistory:
        """Flows between stables in any window, in total and by hour."""
        body: FlowHistory = self.get("/api/v1/stablecoins/flows/history", {"from": from_, "to": to})
        return body

    def flow_anomalies(self, *, page_size: int | None = None, as_of: Time | None = None, known_at: Time | None = None) -> Pages[FlowAnomalies, FlowAnomaly]:
        """15-minute windows in which unusually much or little flowed between two stables."""
        return Pages(self, "/api/v1/stablecoins/flow-anomalies", {"limit": page_size, "as_of": as_of, "known_at": known_at}, "anomalies")

    def flow_scores(self, *, page_size: int | None = None, as_of: Time | None = None, min_abs_z: float | None = None, max_q: float | None = None) -> Pages[FlowScores, FlowScore]:
        """How unusual the last completed 15 minutes were on every edge, by its own history."""
        return Pages(self, "/api/v1/stablecoins/flows/scores", {"limit": page_size, "as_of": as_of, "min_abs_z": min_abs_z, "max_q": max_q}, "scores")

    def export_flows(self, *, from_: Time | None = None, to: Time | None = None, null: Literal["empty", "\\N"] | None = None, provenance: bool | None = None, page_size: int | None = None) -> Table[ExportFlows, ExportFlowsRow]:
        """Every movement between stables in a range of time."""
        return Table(self, "/api/v1/stablecoins/flows/export", {"from": from_, "to": to, "null": null, "provenance": provenance, "limit": page_size}, "data")

    def peg_series(self, address: str, *, from_: Time | None = None, to: Time | None = None, null: Literal["empty", "\\N"] | None = None, provenance: bool | None = None, page_size: int | None = None, interval: Literal["1m", "5m", "1h", "1d"] | None = None) -> Table[PegSeries, PegSeriesRow]:
        """Price against the reference stable by bucket."""
        return Table(self, f"/api/v1/stablecoins/{quote(address, safe='')}/peg/series", {"from": from_, "to": to, "null": null, "provenance": provenance, "limit": page_size, "interval": interval}, "data")

    def supply_series(self, address: str, *, from_: Time | None = None, to: Time | None = None, null: Literal["empty", "\\N"] | None = None, provenance: bool | None = None, page_size: int | None = None, interval: Literal["1m", "5m", "1h", "1d"] | None = None) -> Table[SupplySeries, SupplySeriesRow]:
        """Supply and cap by bucket."""
        return Table(self, f"/api/v1/stablecoins/{quote(address, safe='')}/supply/series", {"from": from_, "to": to, "null": null, "provenance": provenance, "limit": page_size, "interval": interval}, "data")

    def risk_series(self, address: str, *, from_: Time | None = None, to: Time | None = None, null: Literal["empty", "\\N"] | None = None, provenance: bool | None = None, page_size: int | None = None, interval: Literal["1m", "5m", "1h", "1d"] | None = None, known_at: Time | None = None) -> Table[RiskSeries, RiskSeriesRow]:
        """Risk by bucket."""
        return Table(self, f"/api/v1/stablecoins/{quote(address, safe='')}/risk/series", {"from": from_, "to": to, "null": null, "provenance": provenance, "limit": page_size, "interval": interval, "known_at": known_at}, "data")

    def all_peg_series(self, *, from_: Time | None = None, to: Time | None = None, step: Literal["1m", "5m", "1h", "1d"] | None = None, stables: str | Sequence[str] | None = None) -> AllPegSeries:
        """Prices of all stables by bucket, in columns."""
        body: AllPegSeries = self.get("/api/v1/stablecoins/peg/series", {"from": from_, "to": to, "step": step, "stables": stables})
        return body

    def peg_window_series(self, address: str, *, from_: Time | None = None, to: Time | None = None, step: Literal["1m", "5m", "1h", "1d"] | None = None) -> PegWindowSeries:
        """The 1h, 24h and 7d windows at every step of a range."""
        body: PegWindowSeries = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/peg/windows/series", {"from": from_, "to": to, "step": step})
        return body

    def depth_series(self, address: str, *, from_: Time | None = None, to: Time | None = None, step: Literal["1m", "5m", "1h", "1d"] | None = None) -> DepthSeries:
        """Slippage by size and bucket, selling and buying."""
        body: DepthSeries = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/depth/series", {"from": from_, "to": to, "step": step})
        return body

    def liquidity_series(self, address: str, *, from_: Time | None = None, to: Time | None = None, step: Literal["1m", "5m", "1h", "1d"] | None = None) -> LiquiditySeries:
        """Deviation and spread by size, and depth within 50 bps, at every step of a range."""
        body: LiquiditySeries = self.get(f"/api/v1/stablecoins/{quote(address, safe='')}/liquidity/series", {"from": from_, "to": to, "step": step})
        return body

    def status(self) -> Status:
        """How far behind the chain each dataset is, gaps, checks and jobs."""
        body: Status = self.get("/api/v1/status", {})
        return body

    def events(self, *, after: int | None = None, since: str | None = None, types: str | Sequence[str] | None = None, stable: str | Sequence[str] | None = None, severity: Literal["mild", "severe"] | None = None, min_bps: float | None = None, min_seconds: int | None = None, min_size: int | None = None, page_size: int | None = None, as_of: Time | None = None, known_at: Time | None = None) -> Log[Events, Event]:
        """Peg breaks, lost quotes, flow anomalies and the health of the service, as webhooks deliver them."""
        return Log(self, "/api/v1/events", {"after": after, "since": since, "types": types, "stable": stable, "severity": severity, "min_bps": min_bps, "min_seconds": min_seconds, "min_size": min_size, "limit": page_size, "as_of": as_of, "known_at": known_at}, "events")
