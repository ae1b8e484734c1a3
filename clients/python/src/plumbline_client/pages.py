"""Lists that come in pages, and the tables among them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from .errors import UnexpectedAnswerError
from .transport import Query, Transport

if TYPE_CHECKING:
    import pandas
    import pyarrow

Body = TypeVar("Body")
Item = TypeVar("Item")


class Pages(Generic[Body, Item]):
    """Everything in a list: iterate over it, and pages are requested as you come to them.

    `page()` is the first page as the service answered it, with the `coverage` and the time that was searched; `pages()`
    is one after the other.
    """

    def __init__(self, transport: Transport, path: str, query: Query, items: str) -> None:
        self._transport = transport
        self._path = path
        self._query = dict(query)
        self._items = items

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from cast(Mapping[str, list[Item]], page)[self._items]

    def page(self) -> Body:
        return cast(Body, self._transport.get(self._path, self._query))

    def pages(self) -> Iterator[Body]:
        query: Query | None = self._query
        while query is not None:
            body = self._transport.get(self._path, query)
            yield cast(Body, body)
            query = self._after(query, body.get("next_cursor"))

    def _after(self, query: Query, cursor: str | None) -> Query | None:
        if cursor is None:
            return None
        if cursor == query.get("cursor"):
            raise UnexpectedAnswerError("a page leads to itself")
        return {**query, "cursor": cursor}


class Log(Pages[Body, Item]):
    """The log of events. With `after` everything that follows it, without `after` the newest page."""

    def pages(self) -> Iterator[Body]:
        query = self._query
        while True:
            body = self._transport.get(self._path, query)
            yield cast(Body, body)
            if query.get("after") is None or not body["has_more"]:
                return
            query = {**query, "after": body["next_after"]}


class Table(Pages[Body, Item]):
    """The same rows as an Arrow table or a pandas DataFrame, with their types.

    Exact amounts (base units, `usd_value`) are strings, as in the rows: those of the chain have up to 39 digits, and the
    decimals of most readers end at 38.
    """

    def to_arrow(self) -> pyarrow.Table:
        """All rows; the coverage is in the metadata of the schema, as JSON under `coverage`. Needs `[arrow]`."""
        try:
            import pyarrow as pa
        except ImportError as cause:
            raise ImportError("install plumbline-client[arrow] or plumbline-client[pandas]") from cause
        tables: list[pyarrow.Table] = []
        metadata: dict[str, str] = {}
        query: Query | None = {**self._query, "format": "arrow"}
        while query is not None:
            answer = self._transport.send(self._path, query)
            tables.append(pa.ipc.open_stream(io.BytesIO(answer.data)).read_all())
            # Of the whole range, on every page.
            if "x-coverage" in answer.headers:
                metadata = {"coverage": answer.headers["x-coverage"]}
            query = self._after(query, answer.headers.get("x-next-cursor"))
        return pa.concat_tables(tables).replace_schema_metadata(metadata)

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """All rows; `options` are those of `pyarrow.Table.to_pandas`. The coverage is in `attrs`. Needs `[pandas]`."""
        import json

        table = self.to_arrow()
        frame = table.to_pandas(**options)
        coverage = (table.schema.metadata or {}).get(b"coverage")
        if coverage is not None:
            frame.attrs["coverage"] = json.loads(coverage)
        return frame
