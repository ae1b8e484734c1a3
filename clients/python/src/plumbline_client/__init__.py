"""Typed client of Plumbline, which measures how far the stablecoins of the Tempo chain deviate from their peg."""

from .client import Client
from .errors import (
    BadParameterError,
    BeforeHistoryError,
    InsufficientFundsError,
    InvalidKeyError,
    NetworkError,
    NotFoundError,
    PaymentRequiredError,
    PlumblineError,
    ProblemError,
    RateLimitedError,
    UnavailableError,
    UnexpectedAnswerError,
    UnknownStableError,
)
from .pages import Log, Pages, Table
from .stream import PegSample, Stream
from .transport import Pay, Seconds, Time

__all__ = [
    "BadParameterError",
    "BeforeHistoryError",
    "Client",
    "InsufficientFundsError",
    "InvalidKeyError",
    "Log",
    "NetworkError",
    "NotFoundError",
    "Pages",
    "Pay",
    "PaymentRequiredError",
    "PegSample",
    "PlumblineError",
    "ProblemError",
    "RateLimitedError",
    "Seconds",
    "Stream",
    "Table",
    "Time",
    "UnavailableError",
    "UnexpectedAnswerError",
    "UnknownStableError",
]
