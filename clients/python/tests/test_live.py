"""Against a running service: its address in PLUMBLINE_URL, a key of it in PLUMBLINE_KEY."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import unittest
from contextlib import closing
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import urlsplit

from plumbline_client import (
    BadParameterError,
    BeforeHistoryError,
    Client,
    InvalidKeyError,
    PaymentRequiredError,
    UnknownStableError,
)

URL = os.environ["PLUMBLINE_URL"]
CLIENT = Client(URL, key=os.environ["PLUMBLINE_KEY"])
STABLES = list(CLIENT.stablecoins())
ADDRESS = next(stable["address"] for stable in STABLES if stable["peg"] is not None and stable["peg"]["spread_bps"] > 0)


class Answers(unittest.TestCase):
    def test_every_route_about_a_stable(self) -> None:
        for method in (
            CLIENT.stablecoin,
            CLIENT.peg,
            CLIENT.peg_averages,
            CLIENT.issuance,
            CLIENT.holders,
            CLIENT.rewards,
            CLIENT.roles,
            CLIENT.risk,
            CLIENT.reserves,
            CLIENT.depth,
            CLIENT.liquidity,
            CLIENT.analysis,
        ):
            with self.subTest(method.__name__):
                self.assertEqual(method(ADDRESS)["address"], ADDRESS)
                self.assertEqual(method(ADDRESS, as_of="30m")["address"], ADDRESS)
        self.assertEqual(CLIENT.peg_events(ADDRESS, track="agreed", severity="mild").page()["address"], ADDRESS)
        self.assertIsNotNone(CLIENT.liquidity(ADDRESS, size=1000)["exit_cost"])

    def test_every_route_about_all_stables(self) -> None:
        self.assertEqual(CLIENT.flows(hours=1, as_of="30m")["window_hours"], 1)
        now = datetime.fromisoformat(CLIENT.status()["at"].replace("Z", "+00:00"))
        history = CLIENT.flow_history(from_=now - timedelta(hours=3), to=now - timedelta(hours=1))
        self.assertEqual(history["window_hours"], 2)
        for pages in (CLIENT.fee_economics(), CLIENT.flow_anomalies(), CLIENT.flow_scores(min_abs_z=0)):
            self.assertIn("coverage", pages.page())
        self.assertEqual(len(CLIENT.all_peg_series(from_="1h", step="5m", stables=[ADDRESS])["stables"]), 1)
        for method in (CLIENT.peg_window_series, CLIENT.depth_series, CLIENT.liquidity_series):
            self.assertEqual(method(ADDRESS, from_="1h")["step_seconds"], 300)

    def test_the_past(self) -> None:
        at = datetime.now(timezone.utc).replace(microsecond=0) - timedelta(hours=1)
        self.assertEqual(CLIENT.peg(ADDRESS, as_of=at).get("as_of"), at.strftime("%Y-%m-%dT%H:%M:%SZ"))

    def test_pages_are_the_whole_list(self) -> None:
        self.assertEqual([one["address"] for one in CLIENT.stablecoins(page_size=2)], [one["address"] for one in STABLES])
        every = list(CLIENT.events(after=0))
        self.assertEqual(list(CLIENT.events(after=0, page_size=3)), every)
        self.assertEqual([one["sequence"] for one in every], sorted({one["sequence"] for one in every}))
        past: dict[str, Any] = {"from_": "3h", "to": "1h", "interval": "5m"}
        rows = list(CLIENT.peg_series(ADDRESS, **past))
        self.assertGreater(len(rows), 7)
        self.assertEqual(list(CLIENT.peg_series(ADDRESS, **past, page_size=7)), rows)

    def test_amounts_are_strings(self) -> None:
        for row in CLIENT.supply_series(ADDRESS, from_="2h"):
            self.assertRegex(row["supply"] or "0", r"^\d+$")
        for flow in itertools.islice(CLIENT.export_flows(from_="1d"), 5):
            self.assertRegex(flow["amount_in"], r"^\d+$")


class Errors(unittest.TestCase):
    def test_mistakes(self) -> None:
        with self.assertRaises(BadParameterError) as bad:
            CLIENT.peg(ADDRESS, as_of="tomorrow")
        self.assertEqual(bad.exception.parameter, "as_of")
        with self.assertRaises(UnknownStableError):
            CLIENT.peg(f"0x{'dead' * 10}")
        with self.assertRaises(BeforeHistoryError):
            CLIENT.peg(ADDRESS, as_of=datetime(1970, 1, 2, tzinfo=timezone.utc))
        with self.assertRaises(InvalidKeyError):
            Client(URL, key="pk_mistyped").analysis(ADDRESS)
        with self.assertRaises(PaymentRequiredError) as offer:
            Client(URL).analysis(ADDRESS)
        self.assertEqual(offer.exception.price, "0.05")


class CuttingProxy:
    """Forwards to the service, and cuts each connection after as many bytes of the answer as the next of `lengths`."""

    def __init__(self, lengths: list[int]) -> None:
        self._lengths = lengths
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        left = self._lengths.pop(0) if self._lengths else 2**40
        target = urlsplit(URL)
        with client, closing(socket.create_connection((target.hostname or "", target.port or 80))) as upstream:
            upstream.sendall(client.recv(65_536))
            while left > 0 and (data := upstream.recv(65_536)):
                client.sendall(data[:left])
                left -= len(data)

    def close(self) -> None:
        self._listener.close()


class Cuts(unittest.TestCase):
    def test_a_stream_that_is_cut_has_every_event_of_the_log_once(self) -> None:
        log = list(CLIENT.events(after=0))
        self.assertGreater(len(log), 2)
        # In the header, in the first message, and further and further into the events.
        with closing(CuttingProxy([100, 700, 1100, 1500, 2100])) as proxy:
            with Client(proxy.url).stream(after=0) as stream:
                stream._parser.retry_seconds = 0.05
                self.assertEqual(list(itertools.islice(stream, len(log))), log)
            self.assertEqual(proxy._lengths, [])

    def test_an_answer_that_is_cut_in_its_headers_is_asked_for_again(self) -> None:
        with closing(CuttingProxy([20, 150])) as proxy:
            self.assertEqual(Client(proxy.url).stablecoin(ADDRESS)["address"], ADDRESS)
            self.assertEqual(proxy._lengths, [])

    def test_samples(self) -> None:
        with CLIENT.samples(stable=ADDRESS) as samples:
            self.assertEqual(next(samples)["stable"], ADDRESS)


if __name__ == "__main__":
    unittest.main()
