"""Arrow and pandas, against a running service and one that cuts its answers. Needs the extra `pandas`."""

from __future__ import annotations

import io
import json
import os
import unittest
from datetime import datetime
from typing import Any

import pandas
import pyarrow

from plumbline_client import Client
from service import Answer, Service, in_turn

CLIENT = Client(os.environ["PLUMBLINE_URL"], key=os.environ["PLUMBLINE_KEY"])
ADDRESS = next(stable["address"] for stable in CLIENT.stablecoins() if stable["peg"] is not None)


def of_json(value: Any) -> Any:
    if isinstance(value, str) and value.endswith("Z"):
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    return value


class Live(unittest.TestCase):
    def test_a_table_has_the_rows_of_the_json(self) -> None:
        for series in (CLIENT.supply_series, CLIENT.peg_series, CLIENT.risk_series):
            with self.subTest(series.__name__):
                past: dict[str, Any] = {"from_": "4h", "to": "1h", "interval": "5m"}
                rows = [{name: of_json(value) for name, value in row.items()} for row in series(ADDRESS, **past)]
                table = series(ADDRESS, **past, page_size=7).to_arrow()
                self.assertGreater(len(rows), 7)
                self.assertEqual(table.to_pylist(), rows)

    def test_a_frame_has_times_exact_amounts_and_its_coverage(self) -> None:
        frame = CLIENT.supply_series(ADDRESS, from_="3h", interval="5m").to_pandas()
        self.assertEqual(str(frame["bucket_end"].dtype.tz), "UTC")
        self.assertGreater(int(frame["supply"].iloc[-1]), 0)
        self.assertIn(frame.attrs["coverage"]["status"], ("complete", "partial"))
        flows = CLIENT.export_flows(from_="1d").to_pandas()
        self.assertEqual(len(flows), len(list(CLIENT.export_flows(from_="1d"))))
        self.assertGreater(int(flows["amount_in"].iloc[0]), 0)


class Cut(unittest.TestCase):
    def test_large_amounts_are_exact_and_a_cut_page_is_asked_for_again(self) -> None:
        largest = [str(2**128 - 2), str(2**128 - 1)]
        pages = []
        for amount in largest:
            body = io.BytesIO()
            table = pyarrow.table({"supply": pyarrow.array([amount, None], pyarrow.string())})
            with pyarrow.ipc.new_stream(body, table.schema) as writer:
                writer.write_table(table)
            pages.append(body.getvalue())
        coverage = ("x-coverage", json.dumps({"status": "partial"}))
        first = [("x-next-cursor", "c1"), coverage]
        answers = in_turn(
            Answer(pages[0], headers=first, cut=len(pages[0]) // 2),
            Answer(pages[0], headers=first),
            Answer(pages[1], headers=[coverage]),
        )
        with Service(answers) as service:
            frame = Client(service.url).supply_series(ADDRESS, from_="1d").to_pandas()
        self.assertEqual(list(frame["supply"].dropna()), largest)
        self.assertEqual(frame.attrs, {"coverage": {"status": "partial"}})
        self.assertIsInstance(frame, pandas.DataFrame)


if __name__ == "__main__":
    unittest.main()
