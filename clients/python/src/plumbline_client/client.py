from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .operations import Operations
from .stream import PegSample, Stream
from .types import Event


class Client(Operations):
    """A Plumbline service. One client can be used by several threads.

    `key` opens the routes with a price. Without one, `pay` may answer a 402: see PaymentRequiredError. `http` replaces the
    urllib3 pool, for certificates and proxies of your own.
    """

    def stream(
        self,
        *,
        after: int | None = None,
        types: Sequence[str] | None = None,
        stable: Sequence[str] | str | None = None,
        severity: Literal["mild", "severe"] | None = None,
        min_bps: float | None = None,
        min_seconds: int | None = None,
        min_size: int | None = None,
        give_up_after: float = 600.0,
    ) -> Stream[Event]:
        """Events as they come, and with `after` first those that followed it. Events of newer services come too."""
        query = {
            "types": types,
            "stable": stable,
            "severity": severity,
            "min_bps": min_bps,
            "min_seconds": min_seconds,
            "min_size": min_size,
        }
        return Stream(self, query, yields="events", after=after, give_up_after=give_up_after)

    def samples(
        self, *, stable: Sequence[str] | str | None = None, give_up_after: float = 600.0
    ) -> Stream[PegSample]:
        """The newest sample of each stable, then one whenever its price or status changes, at most once a second each."""
        query = {"types": "peg_sample", "stable": stable}
        return Stream(self, query, yields="samples", give_up_after=give_up_after)
