"""Requests, and when they are repeated."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Union
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3

from .errors import NetworkError, PaymentRequiredError, PlumblineError, ProblemError, UnexpectedAnswerError, problem_of

Time = Union[str, int, datetime, date]
"""ISO 8601, unix seconds, a time back from now (`30m`, `24h`, `7d`), a datetime with its time zone, or a date (UTC)."""

Seconds = Union[int, datetime]
"""Unix seconds, or a datetime with its time zone."""

Value = Union[str, int, float, datetime, date, Sequence[str], None]
Query = Mapping[str, Value]

Pay = Callable[[PaymentRequiredError], Union[str, None]]
"""Receives the 402 and returns the `Authorization` header that pays for it, or None in order not to pay."""

_USER_AGENT = "plumbline-client-python/0.1.0"
_CONNECT_SECONDS = 10.0
_RETRIED = frozenset({429, 503})
# The same payment may be presented again: another request is using it, or its transaction is in no block yet.
_RETRIED_WITH_PAYMENT = frozenset({402, 409})


def _text_of(value: str | int | float | datetime | date | Sequence[str]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone: say which it is, such as datetime(…, tzinfo=timezone.utc)")
        return str(int(value.timestamp())) if value.microsecond == 0 else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, (str, int, float)) else ",".join(value)


def _pool_of(url: str) -> urllib3.PoolManager:
    """Kept connections, through the proxy that the environment names."""
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    if proxy and not proxy_bypass(parts.netloc):
        return urllib3.ProxyManager(proxy)
    return urllib3.PoolManager()


def _backoff(attempt: int) -> float:
    return float(min(8.0, 0.5 * 2**attempt) * random.uniform(0.5, 1))


class Transport:
    """Sends GET requests, which change nothing and so may be repeated.

    `retries` is how often a request is repeated after a 429, a 503 or a failure of the network, and `max_wait` how many
    seconds it waits for that in all. If the service asks for a longer wait (`Retry-After`), the error is raised at once.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None = None,
        pay: Pay | None = None,
        timeout: float = 30.0,
        retries: int = 4,
        max_wait: float = 60.0,
        http: urllib3.PoolManager | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._key = key
        self._pay = pay
        self._timeout = timeout
        self._retries = retries
        self._max_wait = max_wait
        self._http = http or _pool_of(self.base_url)

    def get(self, path: str, query: Query | None = None) -> Any:
        """The JSON of any route, also of one that is newer than this client."""
        return _json_of(self.send(path, query or {}))

    def send(
        self,
        path: str,
        query: Query,
        *,
        headers: Mapping[str, str] | None = None,
        read_timeout: float | None = None,
        is_stream: bool = False,
    ) -> urllib3.BaseHTTPResponse:
        """An answer without an error; its body is complete, unless it is a stream."""
        given = {name: _text_of(value) for name, value in query.items() if value is not None}
        url = f"{self.base_url}{path}{'?' if given else ''}{urlencode(given)}"
        sent = {"user-agent": _USER_AGENT, "accept-encoding": "gzip", **(headers or {})}
        if self._key is not None:
            sent["authorization"] = f"Bearer {self._key}"
        credential: str | None = None
        left, attempt = self._max_wait, 0
        while True:
            error: PlumblineError
            delay: float | None = None
            try:
                response = self._http.request(
                    "GET",
                    url,
                    headers=sent,
                    timeout=urllib3.Timeout(connect=_CONNECT_SECONDS, read=read_timeout or self._timeout),
                    retries=False,
                    preload_content=not is_stream,
                )
                if response.status < 300:
                    # Python takes headers that were cut for whole ones. Every answer has a body, which comes after them.
                    if not is_stream and not response.data:
                        raise urllib3.exceptions.ProtocolError("the answer is empty")
                    return response
                problem = _problem_of(response, url)
            except urllib3.exceptions.LocationValueError as cause:
                raise ValueError(f"{self.base_url} is not the address of a service") from cause
            except urllib3.exceptions.HTTPError as cause:
                error = NetworkError(f"no complete answer from {self.base_url}: {cause}")
                error.__cause__ = cause
            else:
                if isinstance(problem, PaymentRequiredError) and credential is None and self._pay is not None:
                    credential = self._pay(problem)
                    if credential is None:
                        raise problem
                    sent["authorization"] = credential
                    continue
                error, delay = problem, problem.retry_after
                is_passing = problem.status in _RETRIED or (
                    credential is not None and problem.status in _RETRIED_WITH_PAYMENT and delay is not None
                )
                if not is_passing:
                    attempt = self._retries
            error.credential = credential
            wait = _backoff(attempt) if delay is None else delay
            if attempt >= self._retries or wait > left:
                raise error
            time.sleep(wait)
            left -= wait
            attempt += 1


def _problem_of(response: urllib3.BaseHTTPResponse, url: str) -> ProblemError:
    body = response.data
    headers = {name.lower(): value for name, value in response.headers.items()}
    challenges = response.headers.getlist("www-authenticate")
    return problem_of(response.status, url, headers, challenges, body)


def _json_of(response: urllib3.BaseHTTPResponse) -> Any:
    try:
        return json.loads(response.data)
    except ValueError as cause:
        kind = response.headers.get("content-type", "no type")
        raise UnexpectedAnswerError(f"the answer is not JSON, but of {kind}: is this the address of Plumbline?") from cause
