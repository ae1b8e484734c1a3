"""Errors, retries, payments and pages, against a service that answers what a test tells it to."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

from plumbline_client import (
    BadParameterError,
    BeforeHistoryError,
    Client,
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
from service import Answer, Request, Service, in_turn, json_answer, problem

STABLE = "0x20c0000000000000000000000000000000000001"
AT_ONCE = ("retry-after", "0")
OK = json_answer({"status": "ok"})


class Case(unittest.TestCase):
    def service(self, answer: Callable[[Request], Answer]) -> Service:
        service = Service(answer)
        self.addCleanup(service.__exit__)
        return service.__enter__()

    def error_of(self, answer: Answer, **options: Any) -> ProblemError:
        service = self.service(in_turn(answer))
        with self.assertRaises(ProblemError) as caught:
            Client(service.url, **options).get("/")
        return caught.exception


class Errors(Case):
    def test_each_type_of_problem_has_its_class(self) -> None:
        for status, kind, expected in [
            (400, "bad-parameter", BadParameterError),
            (401, "invalid-key", InvalidKeyError),
            (402, "payment-required", PaymentRequiredError),
            (402, "insufficient-funds", InsufficientFundsError),
            (404, "unknown-stable", UnknownStableError),
            (404, "before-history", BeforeHistoryError),
            (429, "too-many-requests", RateLimitedError),
            (503, "overloaded", UnavailableError),
        ]:
            with self.subTest(kind):
                error = self.error_of(problem(status, kind), retries=0)
                self.assertIs(type(error), expected)
                self.assertEqual((error.status, error.detail), (status, f"a {kind}"))

    def test_a_type_of_a_newer_service_has_the_class_of_its_status(self) -> None:
        self.assertIs(type(self.error_of(problem(404, "of-tomorrow"))), NotFoundError)
        error = self.error_of(problem(418, "of-tomorrow", more={"field": 1}))
        self.assertIs(type(error), ProblemError)
        self.assertEqual(error.problem["more"], {"field": 1})

    def test_what_was_wrong_and_which_request_it_was(self) -> None:
        fields = {"parameter": "as_of", "errors": [{"parameter": "as_of", "detail": "is not a time"}]}
        error = self.error_of(problem(400, "bad-parameter", ("x-request-id", "req-1"), **fields))
        self.assertEqual((error.parameter, error.request_id), ("as_of", "req-1"))
        self.assertEqual(error.problem["errors"], fields["errors"])

    def test_errors_that_are_not_of_the_service(self) -> None:
        error = self.error_of(Answer(b"<h1>Bad Gateway</h1>", 502))
        self.assertEqual((type(error), error.type, error.status), (ProblemError, "about:blank", 502))
        error = self.error_of(Answer(b"", 308, [("location", "https://example.com/")]))
        self.assertIn("https://example.com/", error.detail)
        service = self.service(in_turn(Answer(b"<h1>Log in</h1>", headers=[("content-type", "text/html")])))
        with self.assertRaisesRegex(UnexpectedAnswerError, "text/html"):
            Client(service.url).status()

    def test_the_key_is_sent_and_never_shown(self) -> None:
        service = self.service(in_turn(problem(401, "invalid-key")))
        with self.assertRaises(InvalidKeyError) as caught:
            Client(service.url, key="pk_secret").status()
        self.assertEqual(service.requests[0].headers["authorization"], "Bearer pk_secret")
        self.assertNotIn("pk_secret", repr(caught.exception) + str(vars(caught.exception)))


class Retries(Case):
    def test_429_and_503_and_cut_answers_are_asked_for_again(self) -> None:
        cut = json_answer({"status": "half"}, cut=5)
        service = self.service(
            in_turn(problem(429, "too-many-requests", AT_ONCE), problem(503, "unavailable", AT_ONCE), cut, OK)
        )
        self.assertEqual(Client(service.url).get("/"), {"status": "ok"})
        self.assertEqual(len(service.requests), 4)

    def test_nothing_else_is(self) -> None:
        for status in (400, 401, 402, 404, 409, 500, 502):
            service = self.service(in_turn(problem(status, "any", AT_ONCE), OK))
            with self.assertRaises(ProblemError):
                Client(service.url).get("/")
            self.assertEqual(len(service.requests), 1, status)

    def test_the_number_of_retries_is_bounded(self) -> None:
        service = self.service(in_turn(problem(503, "unavailable", AT_ONCE)))
        with self.assertRaises(UnavailableError):
            Client(service.url, retries=2).get("/")
        self.assertEqual(len(service.requests), 3)

    def test_a_wait_longer_than_allowed_is_left_to_the_caller(self) -> None:
        in_an_hour = format_datetime(datetime.now(timezone.utc) + timedelta(hours=1), usegmt=True)
        for value in ("3600", in_an_hour):
            service = self.service(in_turn(problem(429, "too-many-requests", ("retry-after", value)), OK))
            with self.assertRaises(RateLimitedError) as caught:
                Client(service.url).get("/")
            self.assertAlmostEqual(caught.exception.retry_after or 0, 3600, delta=600)
            self.assertEqual(len(service.requests), 1)

    def test_a_wait_is_not_shortened(self) -> None:
        service = self.service(in_turn(problem(503, "unavailable", ("retry-after", "2")), OK))
        with self.assertRaises(UnavailableError):
            Client(service.url, max_wait=1).get("/")
        self.assertEqual(len(service.requests), 1)

    def test_no_service(self) -> None:
        with Service(in_turn(OK)) as service:
            url = service.url
        with self.assertRaises(NetworkError):
            Client(url, retries=1).get("/")
        with self.assertRaisesRegex(ValueError, "not the address"):
            Client("http://").get("/")


CHALLENGES = [("www-authenticate", f'Payment id="{i}", method="tempo"') for i in (1, 2)]
OTHER_STABLE = "0x20c0000000000000000000000000000000000001"
PAID = json_answer({"briefing": "paid for"})
PRICE = {"price": "0.05", "currency": STABLE, "currencies": [STABLE, OTHER_STABLE]}
OFFER = problem(402, "payment-required", *CHALLENGES, ("www-authenticate", "Bearer"), **PRICE)


class Payments(Case):
    def paying(self, *answers: Answer) -> tuple[Client, Service, list[PaymentRequiredError]]:
        offers: list[PaymentRequiredError] = []

        def pay(offer: PaymentRequiredError) -> str:
            offers.append(offer)
            return f"Payment credential-{len(offers)}"

        service = self.service(in_turn(*answers))
        return Client(service.url, key="pk_of-another-scope", pay=pay), service, offers

    def test_a_402_is_paid_once(self) -> None:
        client, service, offers = self.paying(OFFER, PAID)
        self.assertEqual(client.analysis(STABLE), {"briefing": "paid for"})
        self.assertEqual([request.headers["authorization"] for request in service.requests[1:]], ["Payment credential-1"])
        self.assertEqual((offers[0].price, offers[0].currency), ("0.05", STABLE))
        self.assertEqual(offers[0].currencies, [STABLE, OTHER_STABLE])
        expected = ['Payment id="1", method="tempo"', 'Payment id="2", method="tempo"', "Bearer"]
        self.assertEqual(offers[0].challenges, expected)

    def test_the_same_payment_is_presented_until_it_is_answered(self) -> None:
        client, service, offers = self.paying(
            OFFER,
            problem(409, "payment-in-use", AT_ONCE),
            problem(402, "payment-required", AT_ONCE),
            problem(503, "unavailable", AT_ONCE),
            json_answer({}, cut=1),
            PAID,
        )
        client._retries = 5
        self.assertEqual(client.analysis(STABLE), {"briefing": "paid for"})
        sent = {request.headers["authorization"] for request in service.requests[1:]}
        self.assertEqual((sent, len(service.requests), len(offers)), ({"Payment credential-1"}, 6, 1))

    def test_a_payment_without_an_answer_is_in_the_error(self) -> None:
        for answer in (problem(402, "verification-failed"), problem(503, "unavailable", AT_ONCE), json_answer({}, cut=1)):
            client, _, offers = self.paying(OFFER, answer)
            client._retries = 1
            with self.assertRaises(PlumblineError) as caught:
                client.analysis(STABLE)
            self.assertEqual((caught.exception.credential, len(offers)), ("Payment credential-1", 1))

    def test_who_does_not_pay_gets_the_offer(self) -> None:
        service = self.service(in_turn(OFFER))
        with self.assertRaises(PaymentRequiredError):
            Client(service.url, pay=lambda _: None).analysis(STABLE)
        self.assertEqual(len(service.requests), 1)


class Lists(Case):
    def test_pages_are_followed_to_their_end(self) -> None:
        service = self.service(
            in_turn(json_answer({"events": [1, 2], "next_cursor": "c1"}), json_answer({"events": [3], "next_cursor": None}))
        )
        self.assertEqual(list(Client(service.url).peg_events(STABLE, page_size=2)), [1, 2, 3])
        self.assertEqual([request.query for request in service.requests], [{"limit": "2"}, {"limit": "2", "cursor": "c1"}])

    def test_a_newer_service_has_more_fields(self) -> None:
        service = self.service(in_turn(json_answer({"events": [{"of": "tomorrow"}], "new": 1, "next_cursor": None})))
        self.assertEqual(list(Client(service.url).peg_events(STABLE)), [{"of": "tomorrow"}])

    def test_a_page_that_leads_to_itself(self) -> None:
        service = self.service(in_turn(json_answer({"events": [], "next_cursor": "c1"})))
        with self.assertRaises(UnexpectedAnswerError):
            list(Client(service.url).peg_events(STABLE))

    def test_the_log_of_events(self) -> None:
        first = {"events": [{"event": "of.tomorrow"}], "next_after": 7, "has_more": True}
        service = self.service(in_turn(json_answer(first), json_answer({**first, "next_after": 8, "has_more": False})))
        self.assertEqual(len(list(Client(service.url).events(after=0, types=["a", "b"]))), 2)
        self.assertEqual([request.query["after"] for request in service.requests], ["0", "7"])
        self.assertEqual(service.requests[0].query["types"], "a,b")
        service = self.service(in_turn(json_answer(first)))
        self.assertEqual(len(list(Client(service.url).events())), 1)


class Values(Case):
    def test_times(self) -> None:
        service = self.service(in_turn(OK))
        client = Client(service.url)
        plus_two = timezone(timedelta(hours=2))
        for time, sent in [
            ("24h", "24h"),
            (1_782_907_200, "1782907200"),
            (datetime(2026, 7, 1, 14, tzinfo=plus_two), "1782907200"),
            (datetime(2026, 7, 1, 12, 0, 0, 500_000, tzinfo=timezone.utc), "2026-07-01T12:00:00.500000+00:00"),
            (date(2026, 7, 1), "2026-07-01"),
        ]:
            client.peg(STABLE, as_of=time)  # type: ignore[arg-type]
            self.assertEqual(service.requests[-1].query["as_of"], sent)
        with self.assertRaisesRegex(ValueError, "no time zone"):
            client.peg(STABLE, as_of=datetime(2026, 7, 1))

    def test_an_address_cannot_lead_elsewhere(self) -> None:
        service = self.service(in_turn(OK))
        Client(service.url).peg("../../admin/keys?x=")
        self.assertEqual(service.requests[0].path, "/api/v1/stablecoins/..%2F..%2Fadmin%2Fkeys%3Fx%3D/peg")

    def test_large_amounts_and_hostile_names_stay_what_they_are(self) -> None:
        name = "\u202egnp.exe\u2028\x00<script>{{7*7}}🚀\n"
        amount = 10**38 + 1
        stable = {"symbol": name, "supply": {"current": str(amount)}, "of_tomorrow": amount}
        service = self.service(in_turn(json_answer({"stablecoins": [stable]})))
        self.assertEqual(list(Client(service.url).stablecoins(tracked=True)), [stable])
        self.assertEqual(service.requests[0].query, {"tracked": "true"})


if __name__ == "__main__":
    unittest.main()
