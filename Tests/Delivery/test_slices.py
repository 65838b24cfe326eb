"""A second part that is longer than a request: it comes in slices, whole, and goes on where it
was."""
import unittest

from delivery import HTTP, MINIDUMP, OTLP, SENTRY, DeliveryTest
from server import close, status

SLICE = 128 << 10
LONG = {"ring_bytes": 8 << 20}  # of the log, in a lane of which all texts are
DONE, LEFT = 0, 6


class Slices(DeliveryTest):
    def owed(self, *script, **options):
        self.target = self.server(*script)
        self.run_ = self.owe("begin", "log-long:200", "crash", server=self.target, **LONG, **options)

    def slices(self, server=None):
        """What the server accepted of second parts, by key: it keeps the first body of each."""
        found = {}
        for request in (server or self.target).accepted():
            if request.headers["x-launchguard-part"] == "full":
                found.setdefault(request.headers["idempotency-key"], request)
        return list(found.values())

    def assert_whole(self, server=None):
        slices, at = self.slices(server), 0
        for request in slices:
            size = int(request.headers["content-range"].split("/")[1])
            self.assertEqual(request.headers["content-range"], f"bytes {at}-{at + len(request.body) - 1}/{size}")
            self.assertEqual(request.headers["idempotency-key"], f"{self.run_.uuid}/full/{at}")
            self.assertLessEqual(len(request.body), SLICE)
            at += len(request.body)
        self.assertEqual(at, size)
        self.assertGreater(len(slices), 2)
        slices[0].body = b"".join(request.body for request in slices)
        self.assertIn(self.run_.uuid, str(slices[0].json()))
        self.assertEqual(self.entry()["state"], "sent", self.log())

    def test_they_are_one_document(self):
        for compress in 0, 1:
            with self.subTest(compress=compress):
                self.state = self.folder / str(compress)
                self.spool = self.state / "spool"
                self.owed(compress=compress)
                self.assertEqual(self.run_agent(), DONE)
                self.assertEqual({request.is_compressed for request in self.target.requests}, {bool(compress)})
                self.assert_whole()

    def test_what_came_does_not_go_again(self):
        """The third request, which has the second slice, gets no answer."""
        self.owed(status(200), status(200), close)
        self.assertEqual(self.run_agent(), LEFT)
        keys = [request.headers["idempotency-key"] for request in self.target.requests]
        self.nudge()
        self.assertEqual(self.run_agent(), DONE)
        self.assert_whole()
        self.assertEqual([request.headers["idempotency-key"] for request in self.target.requests[3:4]], keys[2:])
        self.assertEqual([request.headers["idempotency-key"] for request in self.target.requests].count(keys[1]), 1)

    def test_an_agent_dies_with_an_answer(self):
        """It could not note it: the slice goes again, under the same key."""
        self.owed()
        for _ in range(3):
            self.dies_at("sender: answer")
            self.nudge()
        self.assertEqual(self.run_agent(), DONE)
        self.assert_whole()

    def test_another_server_gets_it_from_its_beginning(self):
        self.owed(status(200), status(200), status(503))
        self.assertEqual(self.run_agent(), LEFT)
        other = self.server()
        self.owe("begin", "abort", server=other)
        self.assertEqual(self.run_agent(), DONE)
        first = [request for request in self.slices(other) if request.headers["idempotency-key"].startswith(self.run_.uuid)]
        self.assertTrue(first[0].headers["content-range"].startswith("bytes 0-"))
        self.assertEqual(sum(len(request.body) for request in first), int(first[0].headers["content-range"].split("/")[1]))

    def test_a_refused_slice_ends_it(self):
        """A server that has no room for the second part has the report without it."""
        self.owed(status(200), status(200), status(413))
        self.assertEqual((self.run_agent(), self.entry()["state"], len(self.target.requests)), (DONE, "sent", 3))

    def test_a_budget_below_the_whole(self):
        self.owed(daily_bytes=SLICE + 65536)
        self.assertEqual(self.run_agent(), LEFT)
        spent = len(self.target.requests)
        self.assertEqual((self.entry()["pause"], spent), ("spent", 3))
        for _ in range(4):
            self.nudge()
            self.run_agent()
        self.assert_whole()

    def test_other_servers_get_one_request(self):
        for target in SENTRY, OTLP, MINIDUMP:
            with self.subTest(target):
                self.state = self.folder / str(target)
                self.spool = self.state / "spool"
                server = self.server()
                endpoint = server.url("/42").replace("://", "://key@") if target == SENTRY else server.url("/v1/logs")
                self.owe("begin", "log-long:200", "crash", endpoint=endpoint, target=target, **LONG)
                self.assertEqual((self.run_agent(), len(server.requests)), (DONE, 1), self.log())


if __name__ == "__main__":
    unittest.main()
