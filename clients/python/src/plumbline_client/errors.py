"""What a request can fail with: a class for each type of problem that a caller would treat differently."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any


class PlumblineError(Exception):
    """Every error of this package.

    `credential` is a payment that was sent with the request. It stays valid for the answer that did not come: keep it and
    return it from `pay` when you ask again.
    """

    credential: str | None = None


class NetworkError(PlumblineError):
    """There was no complete answer: no connection, a timeout, or a body that was cut."""


class UnexpectedAnswerError(PlumblineError):
    """The answer is not one of Plumbline's: another server, or a proxy in between."""


class ProblemError(PlumblineError):
    """An answer with an error status. Also the class of a status and a type that this version does not know."""

    def __init__(self, problem: Mapping[str, Any], *, status: int, url: str, headers: Mapping[str, str]) -> None:
        self.problem = problem
        """The whole problem document (RFC 9457), also with the fields that this version does not know."""
        self.status = status
        self.type = str(problem.get("type", "about:blank"))
        """Identifies the kind of problem, such as `urn:plumbline:problem:unknown-stable`."""
        self.detail = str(problem.get("detail") or problem.get("title") or f"status {status}")
        self.parameter: str | None = problem.get("parameter")
        """The first invalid parameter."""
        self.url = url
        self.request_id: str | None = headers.get("x-request-id")
        """Names the request in the log of the service."""
        self.retry_after = _seconds_of(headers.get("retry-after"))
        """Seconds to wait before the same request, if the service said so."""
        super().__init__(f"{status}: {self.detail}")


class BadParameterError(ProblemError):
    """A parameter is invalid: `parameter` names it, `problem["errors"]` has all of them."""


class NotFoundError(ProblemError):
    """What was asked for does not exist."""


class UnknownStableError(NotFoundError):
    """No tracked stable has this address."""


class BeforeHistoryError(NotFoundError):
    """There is no data of that time."""


class InvalidKeyError(ProblemError):
    """The key is unknown or was revoked."""


class PaymentRequiredError(ProblemError):
    """The route has a price, and the request had neither a key nor a payment that was accepted."""

    def __init__(
        self, problem: Mapping[str, Any], *, status: int, url: str, headers: Mapping[str, str], challenges: Sequence[str]
    ) -> None:
        super().__init__(problem, status=status, url=url, headers=headers)
        self.price: str | None = problem.get("price")
        """In whole units of any of the currencies, as a decimal string."""
        self.currency: str | None = problem.get("currency")
        """Address of the stable that the service prefers."""
        self.currencies: Sequence[str] = problem.get("currencies") or ()
        """Addresses of all stables to pay with, preferred first; empty if the service takes no payments."""
        self.coverage: Mapping[str, Any] | None = problem.get("coverage")
        """How complete the answer is that is for sale."""
        self.challenges = challenges
        """The values of the header WWW-Authenticate: a challenge `Payment` for each of the currencies, in their order."""


class InsufficientFundsError(PaymentRequiredError):
    """The account of the payer cannot pay the price and the fee. Nothing was charged."""


class RateLimitedError(ProblemError):
    """Too many requests, streams, invalid keys or refused payments; `retry_after` says when to try again."""


class UnavailableError(ProblemError):
    """The service, or something that it needs, is overloaded or cannot be reached."""


_BY_TYPE: Mapping[str, type[ProblemError]] = {
    "urn:plumbline:problem:bad-parameter": BadParameterError,
    "urn:plumbline:problem:unknown-stable": UnknownStableError,
    "urn:plumbline:problem:before-history": BeforeHistoryError,
    "urn:plumbline:problem:invalid-key": InvalidKeyError,
}
_BY_STATUS: Mapping[int, type[ProblemError]] = {404: NotFoundError, 429: RateLimitedError, 503: UnavailableError}
_INSUFFICIENT_FUNDS = "urn:plumbline:problem:insufficient-funds"


def problem_of(status: int, url: str, headers: Mapping[str, str], challenges: Sequence[str], body: bytes) -> ProblemError:
    """The error of an answer, by the type of its problem; by its status if the type is not known."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        location = headers.get("location")
        problem = {"detail": f"redirected to {location}: use that address"} if location else {}
    if status == 402:
        funds = problem.get("type") == _INSUFFICIENT_FUNDS
        kind = InsufficientFundsError if funds else PaymentRequiredError
        return kind(problem, status=status, url=url, headers=headers, challenges=challenges)
    by_type = _BY_TYPE.get(str(problem.get("type")))
    return (by_type or _BY_STATUS.get(status, ProblemError))(problem, status=status, url=url, headers=headers)


def _seconds_of(retry_after: str | None) -> float | None:
    """The header is a number of seconds or a date."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0.0, (at.astimezone(timezone.utc) - datetime.now(timezone.utc)).total_seconds())
