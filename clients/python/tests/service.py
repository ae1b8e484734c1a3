"""A service that answers what a test tells it to, over real connections."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit


@dataclass
class Request:
    path: str
    query: dict[str, str]
    headers: dict[str, str]


@dataclass
class Answer:
    body: bytes = b""
    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=list)
    """The connection is cut after this many bytes of the body."""
    cut: int | None = None
    """Without a length, the body ends with the connection, as that of a stream."""
    has_length: bool = True


def json_answer(value: Any, **options: Any) -> Answer:
    return Answer(json.dumps(value).encode(), headers=[("content-type", "application/json")], **options)


def problem(status: int, kind: str, *headers: tuple[str, str], **fields: Any) -> Answer:
    body = {"type": f"urn:plumbline:problem:{kind}", "title": "Title", "status": status, "detail": f"a {kind}", **fields}
    return Answer(json.dumps(body).encode(), status, [("content-type", "application/problem+json"), *headers])


class Service:
    """Listens while it is used as a context. `requests` has what it was asked so far."""

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        self.requests: list[Request] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                url = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(url.query).items()}
                request = Request(url.path, query, {name.lower(): value for name, value in self.headers.items()})
                service.requests.append(request)
                given = answer(request)
                self.send_response(given.status)
                for name, value in given.headers:
                    self.send_header(name, value)
                if given.has_length:
                    self.send_header("content-length", str(len(given.body)))
                else:
                    self.send_header("connection", "close")
                self.end_headers()
                self.wfile.write(given.body if given.cut is None else given.body[: given.cut])
                if given.cut is not None or not given.has_length:
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        host, port = cast("tuple[str, int]", self._server.server_address[:2])
        return f"http://{host}:{port}"

    def __enter__(self) -> Service:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def in_turn(*answers: Answer) -> Callable[[Request], Answer]:
    """One answer after the other; the last one from then on."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]
