"""A stream that is cut at every byte, and services that cannot open one."""

from __future__ import annotations

import itertools
import json
import unittest
from typing import Any

from plumbline_client import Client, NetworkError, ProblemError, RateLimitedError, UnexpectedAnswerError
from service import Answer, Request, Service, in_turn, problem

AT_ONCE = ("retry-after", "0")
LAST = 4


def event(sequence: int) -> dict[str, Any]:
    name = ["peg_break.started", "of.tomorrow"][sequence % 2]
    # A line separator of Unicode is not a line break here.
    return {"id": f"evt_{sequence}", "sequence": sequence, "event": name, "data": {"stable": "\u2028ü\r"}}


def frame(name: str, data: dict[str, Any], sequence: int | None = None) -> bytes:
    place = "" if sequence is None else f"id: {sequence}\n"
    return f"event: {name}\n{place}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def opened_after(sequence: int) -> bytes:
    """All that a service sends to whoever has the events up to this one."""
    messages = [b"retry: 0\n" + frame("ready", {"sequence": sequence}, sequence), b": still here\n\n"]
    messages += [frame("peg_sample", {"stable": "0x1", "block_number": 9})]
    messages += [frame(event(n)["event"], event(n), n) for n in range(sequence + 1, LAST + 1)]
    return b"".join([*messages, frame("of.tomorrow", {"without": "a place in the log"})])


def stream_of(body: bytes, cut: int | None = None) -> Answer:
    return Answer(body, headers=[("content-type", "text/event-stream")], has_length=False, cut=cut)


class Streams(unittest.TestCase):
    def test_cut_at_any_byte_nothing_is_lost_or_doubled(self) -> None:
        for ending in (b"\n", b"\r\n"):
            left: list[int] = []

            def answer(request: Request) -> Answer:
                body = opened_after(int(request.headers["last-event-id"])).replace(b"\n", ending)
                return stream_of(body, left.pop() if left else None)

            with Service(answer) as service:
                for cut in range(len(opened_after(0).replace(b"\n", ending)) + 1):
                    left.append(cut)
                    with Client(service.url).stream(after=0) as stream:
                        # The wait before the service has said how long it should be.
                        stream._parser.retry_seconds = 0
                        events = [dict(one) for one in itertools.islice(stream, LAST)]
                    self.assertEqual(events, [event(n) for n in range(1, LAST + 1)], f"cut at {cut}")
                    self.assertEqual(stream.position, LAST)
                    left.clear()

    def test_cut_after_every_message_again_and_again(self) -> None:
        def answer(request: Request) -> Answer:
            sequence = int(request.headers["last-event-id"])
            body = opened_after(sequence)
            return stream_of(body, body.find(b"\n\n", body.find(b"evt_")) + 2)

        with Service(answer) as service, Client(service.url).stream(after=0) as stream:
            self.assertEqual([one["sequence"] for one in itertools.islice(stream, LAST)], [1, 2, 3, 4])
            self.assertEqual(len(service.requests), LAST)

    def test_without_a_place_it_begins_where_the_service_says(self) -> None:
        cut = len(b"retry: 0\n" + frame("ready", {"sequence": 2}, 2))
        left = [cut]

        def answer(request: Request) -> Answer:
            return stream_of(opened_after(int(request.headers.get("last-event-id", 2))), left.pop() if left else None)

        with Service(answer) as service, Client(service.url).stream() as stream:
            self.assertEqual([one["sequence"] for one in itertools.islice(stream, 2)], [3, 4])
            self.assertNotIn("last-event-id", service.requests[0].headers)
            self.assertEqual(service.requests[1].headers["last-event-id"], "2")

    def test_a_service_that_repeats_events_is_not_believed(self) -> None:
        with Service(in_turn(stream_of(opened_after(0)))) as service, Client(service.url).stream(after=2) as stream:
            self.assertEqual([one["sequence"] for one in itertools.islice(stream, 2)], [3, 4])

    def test_it_waits_while_the_service_cannot_open_it(self) -> None:
        answers = in_turn(
            problem(429, "too-many-streams", AT_ONCE),
            problem(503, "unavailable", AT_ONCE),
            stream_of(b": not now\nretry: 0\n\n"),
            stream_of(opened_after(0)),
        )
        with Service(answers) as service, Client(service.url).stream(after=0) as stream:
            self.assertEqual(next(stream)["sequence"], 1)
            self.assertEqual(len(service.requests), 4)

    def test_what_does_not_pass_is_an_error(self) -> None:
        busy = in_turn(problem(429, "too-many-streams", ("retry-after", "3600")))
        with Service(busy) as service, self.assertRaises(RateLimitedError):
            next(Client(service.url).stream())
        gone = in_turn(stream_of(opened_after(0), cut=len(opened_after(0))), problem(400, "bad-parameter"))
        with Service(gone) as service, self.assertRaises(ProblemError):
            list(Client(service.url).stream(after=0))
        not_now = in_turn(stream_of(b": not now\nretry: 0\n\n"))
        with Service(not_now) as service, self.assertRaises(NetworkError):
            next(Client(service.url).stream(give_up_after=0.2))
        with Service(in_turn(Answer(b"<h1>Hello</h1>"))) as service, self.assertRaises(UnexpectedAnswerError):
            next(Client(service.url).stream())

    def test_samples_are_given_once_across_connections(self) -> None:
        first = stream_of(opened_after(LAST))
        newer = stream_of(opened_after(LAST) + frame("peg_sample", {"stable": "0x1", "block_number": 10}))
        with Service(in_turn(first, first, newer)) as service, Client(service.url).samples() as samples:
            self.assertEqual([one["block_number"] for one in itertools.islice(samples, 2)], [9, 10])
            self.assertEqual(service.requests[0].query, {"types": "peg_sample"})


if __name__ == "__main__":
    unittest.main()
