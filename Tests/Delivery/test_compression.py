"""Bodies in gzip: which servers get them, that they are the same bodies, and what becomes of
servers that do not take them."""
import re
import unittest

import server as scripted
from delivery import HTTP, KINDS, MINIDUMP, OTLP, SENTRY, DeliveryTest
from server import status

DONE = 0
OPTION = {"compress": 1}


class Compression(DeliveryTest):
    def owed(self, target, server, **options):
        """A run that died after a long log."""
        endpoint = server.url("/42").replace("://", "://key@") if target == SENTRY else server.url("/v1/logs")
        return self.owe("begin", "log:100", "crash", endpoint=endpoint, target=target, **options)

    def fresh(self, name):
        self.state = self.folder / str(name)
        self.spool = self.state / "spool"

    def test_who_gets_them(self):
        for target, options, is_compressed in (SENTRY, {}, True), (OTLP, {}, True), (HTTP, {}, False), (MINIDUMP, {}, False), (HTTP, OPTION, True), (MINIDUMP, OPTION, True):
            with self.subTest((target, options)):
                self.fresh(f"{target}{len(options)}")
                server = self.server()
                self.owed(target, server, **options)
                self.assertEqual((self.run_agent(), self.entry()["state"]), (DONE, "sent"))
                self.assertEqual({request.is_compressed for request in server.requests}, {is_compressed})

    def without_time(self, body):
        return re.sub(rb'"sent_at":"[^"]*"', b"", body)

    def test_they_are_the_same(self):
        """A server that refuses the compressed body gets the plain one at once, and no compressed
        one again until the settings change."""
        for target, options in (SENTRY, {}), (OTLP, {}), (HTTP, OPTION), (MINIDUMP, OPTION):
            for refusal in 415, 400:
                with self.subTest((target, refusal)):
                    self.fresh(f"{target}-{refusal}")
                    server = self.server()
                    server.refuses_compressed = status(refusal)
                    self.owed(target, server, **options)
                    self.assertEqual((self.run_agent(), self.entry()["state"], self.entry()["error"]), (DONE, "sent", ""), self.log())
                    packed, plain, *more = server.requests
                    self.assertEqual((packed.is_compressed, plain.is_compressed), (True, False))
                    self.assertEqual(packed.headers["idempotency-key"], plain.headers["idempotency-key"])
                    self.assertEqual(self.without_time(packed.body), self.without_time(plain.body))
                    self.assertLess(packed.raw_bytes, plain.raw_bytes)
                    print(f"target {target}: {plain.raw_bytes} bytes, compressed {packed.raw_bytes}, {packed.raw_bytes / plain.raw_bytes:.0%}", flush=True)
                    self.owed(target, server, **options)
                    self.run_agent()
                    self.assertFalse(any(request.is_compressed for request in more + server.requests[2:]))
                    server.refuses_compressed = None
                    count = len(server.requests)
                    self.owe("begin", "abort", endpoint=server.url("/43").replace("://", "://key@") if target == SENTRY else server.url("/new"), target=target, **options)
                    self.run_agent()
                    self.assertTrue(all(request.is_compressed for request in server.requests[count:]))

    def test_a_body_that_is_wrong_itself(self):
        """The plain one is refused as well: the report is held, and the next one is compressed."""
        server = self.server(status(400), status(400))
        self.owed(OTLP, server)
        self.assertEqual((self.run_agent(), self.entry()["state"]), (DONE, "held"))
        self.assertEqual([request.is_compressed for request in server.requests], [True, False])
        self.owe("begin", "abort", endpoint=server.url("/v1/logs"), target=OTLP)
        self.run_agent()
        self.assertTrue(server.requests[2].is_compressed)

    def test_the_day_has_what_was_sent(self):
        """daily_bytes are those on the wire: as plain bodies, two would be more than a day's."""
        server = self.server()
        self.owed(OTLP, server)
        self.run_agent()
        (request,) = server.requests
        self.fresh("small")
        server = self.server()
        for kind in KINDS:
            self.owe("begin", "log:100", kind, endpoint=server.url("/v1/logs"), target=OTLP, daily_bytes=len(request.body) * 3 // 2)
        self.run_agent()
        self.assertEqual(len(server.requests), 3)
        self.assertGreater(sum(len(request.body) for request in server.requests), len(request.body) * 2)

    def test_answers_without_sense(self):
        """Whatever comes after a compressed body, the report arrives once in the end."""
        for number, answer in enumerate((scripted.close, scripted.reset, scripted.garbage, scripted.cut, status(413), status(500), status(415), status(400))):
            with self.subTest(number):
                self.fresh(f"hostile-{number}")
                server = self.server(answer)
                run = self.owed(SENTRY, server)
                for _ in range(4):
                    if self.run_agent() == DONE and self.entries("sent"):
                        break
                    self.nudge("all")
                self.assertEqual([entry["state"] for entry in self.entries()], ["sent"])
                self.assertEqual({request.headers["idempotency-key"] for request in server.requests}, {run.uuid})
                self.assertEqual(len(server.accepted()), 1)


if __name__ == "__main__":
    unittest.main()
