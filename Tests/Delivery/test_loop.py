"""A program that crashes over and over: requests, bytes and the disk are bounded, and every crash
is counted. LONG=1: ten thousand times."""
import unittest

from delivery import LONG, DeliveryTest, agents_of
from waiting import wait_until

DONE = 0  # exit status of an agent that has nothing left to do
CRASHES = 10_000 if LONG else 300
KEEP_REPORTS, KEEP_BYTES = 64, 1 << 20
REQUESTS_MAX = 2 * KEEP_REPORTS
DISK_MAX = KEEP_BYTES + (2 << 20)  # with two logs, and the blocks of small files


class Loop(DeliveryTest):
    def test_crashes_in_a_loop(self):
        server = self.server()
        for i in range(CRASHES):
            run = self.run_victim("deliver", "begin", "crash", endpoint=server.url(), keep_reports=KEEP_REPORTS, keep_bytes=KEEP_BYTES)
            self.assertIn(run["deliver"], ("ok",), run.output)
        wait_until(lambda: self.counted() == CRASHES, lambda: "all are counted: %d of %d\n%s" % (self.counted(), CRASHES, self.log()[-2000:]))
        size = sum(path.stat().st_blocks * 512 for path in self.spool.rglob("*"))
        sent = sum(len(request.body) for request in server.requests)
        print("%d crashes: %d requests with %d bytes, %d reports, %d bytes on the disk" %
              (CRASHES, len(server.requests), sent, len(self.entries()), size), flush=True)
        self.assertLessEqual(len(server.requests), REQUESTS_MAX)
        self.assertLess(size, DISK_MAX)
        # A count that a report got too late would never reach the server.
        more = {request.headers["x-request-id"]: int(request.headers["x-launchguard-more"]) for request in server.accepted()
                if request.headers["x-launchguard-part"] == "brief"}
        for entry in self.entries("sent"):
            self.assertEqual(more[entry["uuid"]], entry["more"], entry)
        identities = self.identities(server)
        self.assertTrue(all(parts == ["brief", "full"] for parts in identities.values()))
        self.assertLessEqual(len(agents_of(self.folder)), 1)

    def test_crashes_without_an_agent(self):
        """Runs that gave way before an agent came are counted, and so the server learns of all."""
        server, crashes = self.server(), CRASHES // 5
        for _ in range(crashes):
            run = self.owe("begin", "crash", server=server, runs_bytes=1 << 20)
            self.assertEqual(run.status, -11)
        kept = len(list(self.state.glob("runs/*.lgrun")))
        self.assertLess(kept, crashes)
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(self.counted(), crashes)
        self.assertEqual({1 + int(request.headers["x-launchguard-more"]) for request in server.accepted()}, {crashes})
        # An agent that comes again finds nothing more.
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual((len(server.requests), self.counted()), (2, crashes))

    def counted(self):
        return sum(1 + entry["more"] for entry in self.entries())


if __name__ == "__main__":
    unittest.main()
