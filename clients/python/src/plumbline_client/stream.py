"""Server-sent events, continued after every cut."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, Generic, Literal, NamedTuple, TypedDict, TypeVar, cast

import urllib3

from .errors import NetworkError, RateLimitedError, UnavailableError, UnexpectedAnswerError
from .transport import Query, Transport

Item = TypeVar("Item")
Self = TypeVar("Self", bound="Stream[Any]")

PATH = "/api/v1/stream"
# The service sends a comment every 15 seconds.
_SILENCE_SECONDS = 60.0
_RETRY_SECONDS = 3.0


class PegSample(TypedDict):
    """A stable's newest sample; without a price its figures are None."""

    stable: str
    status: str
    price_vs_refusd: float | None
    spread_bps: float | None
    buy_price: float | None
    mid_price: float | None
    block_number: int
    sampled_at: str


class _Message(NamedTuple):
    name: str
    id: str
    data: str


class _Parser:
    """Messages out of bytes that may be cut anywhere. A message counts only with the empty line that ends it."""

    def __init__(self) -> None:
        self.retry_seconds = _RETRY_SECONDS

    def messages(self, chunks: Iterator[bytes]) -> Iterator[_Message]:
        fields: dict[str, str] = {}
        for line in _lines(chunks):
            if line == "":
                if "data" in fields:
                    yield _Message(fields.get("event", "message"), fields.get("id", ""), fields["data"])
                fields = {}
                continue
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if name == "retry" and value.isdecimal():
                self.retry_seconds = int(value) / 1000
            elif name == "data" and "data" in fields:
                fields["data"] += "\n" + value
            elif name:
                fields[name] = value


def _lines(chunks: Iterator[bytes]) -> Iterator[str]:
    """Complete lines; what comes after the last line break is dropped."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")


def _chunks(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    while chunk := response.read1(65_536):
        yield chunk


class Stream(Generic[Item]):
    """Events, or samples, as they come: an iterator that ends only when you stop.

    After a cut it connects again and continues behind the last event that it gave you: none is lost and none comes
    twice. If the service stays away for `give_up_after` seconds, the error is raised. `position` is the place in the log:
    keep it, and pass it as `after` to continue in another process. Without `after` a stream begins at the position that
    the service names when it opens.
    """

    def __init__(
        self,
        transport: Transport,
        query: Query,
        *,
        yields: Literal["events", "samples"],
        after: int | None = None,
        give_up_after: float = 600.0,
    ) -> None:
        self.position = after
        self._transport = transport
        self._query = query
        self._yields = yields
        self._give_up_after = give_up_after
        self._samples: dict[str, Any] = {}
        self._parser = _Parser()
        self._items = self._follow()

    def __iter__(self: Self) -> Self:
        return self

    def __next__(self) -> Item:
        item: Item = next(self._items)
        return item

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._items.close()

    def _follow(self) -> Any:
        was_open = False
        alive_at = time.monotonic()
        while True:
            error: Exception = NetworkError("the service opens no stream")
            is_open = False
            try:
                response = self._open()
                try:
                    for message in self._parser.messages(_chunks(response)):
                        was_open = is_open = True
                        yield from self._items_of(message)
                finally:
                    response.close()
            except urllib3.exceptions.HTTPError as cause:
                error.__cause__ = cause
            except (NetworkError, RateLimitedError, UnavailableError) as failure:
                if not was_open:
                    raise
                error = failure
            if is_open:
                alive_at = time.monotonic()
            elif time.monotonic() - alive_at > self._give_up_after:
                raise error
            time.sleep(self._parser.retry_seconds)

    def _open(self) -> urllib3.BaseHTTPResponse:
        # A stream that a proxy compresses waits until there is enough to compress.
        headers = {"accept": "text/event-stream", "accept-encoding": "identity"}
        if self.position is not None:
            headers["last-event-id"] = str(self.position)
        response = self._transport.send(
            PATH, self._query, headers=headers, read_timeout=_SILENCE_SECONDS, is_stream=True
        )
        kind = response.headers.get("content-type", "")
        if not kind.startswith("text/event-stream"):
            is_cut = not response.read(1)
            response.close()
            if is_cut:
                raise urllib3.exceptions.ProtocolError("the answer was cut in its headers")
            raise UnexpectedAnswerError(f"the answer is not a stream, but of {kind or 'no type'}")
        return response

    def _items_of(self, message: _Message) -> Iterator[Item]:
        try:
            data = json.loads(message.data)
        except ValueError as cause:
            raise UnexpectedAnswerError("a message of the stream is not JSON") from cause
        if message.id.isdecimal():
            # Kept before the caller has it: whoever stops while handling it decides whether to ask for it again.
            known, self.position = self.position, int(message.id)
            is_new = known is None or self.position > known
            if not is_new:
                self.position = known
            if message.name != "ready" and is_new and self._yields == "events":
                yield cast(Item, data)
        elif message.name == "peg_sample" and self._yields == "samples":
            # A new connection begins with the newest sample of every stable, which may be known.
            if self._samples.get(data["stable"]) != data:
                self._samples[data["stable"]] = data
                yield cast(Item, data)
