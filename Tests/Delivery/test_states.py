"""What became of each run is to be seen, and stays: in its report, and in its file."""
import json
import subprocess
import time
import unittest

from delivery import DUMP, FAULTY_AGENT, LIMIT, WITHHELD, DeliveryTest, Report
from server import status
from waiting import wait_until

# lg_reported
UNWANTED, SPOOLED, COUNTED, NO_CONSENT, SENT, DEAD = 1, 2, 3, 4, 5, 6
HOUR_NS = 3600 * 10**9


class States(DeliveryTest):
    def word(self, run):
        """What delivery made of a run, and in the report of which run it is counted."""
        found = json.loads(subprocess.run([DUMP, run["run"]], stdout=subprocess.PIPE, timeout=LIMIT, check=True).stdout)["run"]
        return found.get("reported", 0), found.get("counted_in", 0)

    def crash(self, server, **options):
        return self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url(), **options)

    def tell(self, server, *uuids):
        again = self.run_victim("deliver", "begin", "finish", "delivered", endpoint=server.url())
        self.assertEqual((again.said.get("delivered"), self.entries("sent")), (list(uuids), []))

    def test_a_report_says_when_it_was_sent_and_told(self):
        server, begun = self.server(), time.time_ns()
        run = self.crash(server)
        self.until_sent(run.uuid)
        sent = self.entry()
        self.assertTrue(begun < sent["settled_ns"] < time.time_ns(), sent)
        self.assertEqual((self.word(run), sent["state"], sent["told_ns"]), ((SPOOLED, 0), "sent", 0))
        self.tell(server, run.uuid)
        told = self.entries("told")[0]
        self.assertTrue(sent["settled_ns"] == told["settled_ns"] < told["told_ns"] < time.time_ns(), told)

    def test_what_the_program_was_told_still_counts(self):
        """From the fourth report of a fingerprint on each one waits."""
        server = self.server()
        for before in range(4):
            run = self.crash(server)
            self.until_sent(run.uuid)
            (path,) = (path for path in self.files("sent") if run.uuid in path.name)
            self.assertEqual(Report(path)["before"], before)
            self.tell(server, run.uuid)

    def test_a_run_says_why_it_has_no_report(self):
        server = self.server(otherwise=status(503))
        first = self.crash(server)
        self.until_tried()
        # Bytes of the first one have left: the second one waits for it, and counts the third.
        second, third = self.crash(server), self.crash(server)
        clean = self.run_victim("deliver", "begin", "finish", "witness", "exit:0", endpoint=server.url())
        wait_until(lambda: self.word(clean) == (UNWANTED, 0), "the agent has seen the clean end")
        self.assertEqual([self.word(run) for run in (first, second, third)], [(SPOOLED, 0), (SPOOLED, 0), (COUNTED, second.ordinal)])
        entries = self.entries("pending")
        self.assertEqual([(entry["uuid"], entry["pause"], entry["more"]) for entry in entries], [(first.uuid, "busy", 0), (second.uuid, "behind", 1)])

    def test_a_person_ends_the_wait_for_more_of_a_fingerprint(self):
        server = self.server()
        for _ in range(9):  # each wait is twice as long as the last one
            run = self.crash(server)
            wait_until(lambda: any(entry["uuid"] == run.uuid for entry in self.entries()), "the report is made")
            self.nudge()
            self.until_sent(run.uuid)
        last, _ = self.crash(server), self.crash(server)
        entry = wait_until(lambda: next((entry for entry in self.entries("pending") if entry["more"] == 1), None), "two runs have one report")
        self.assertEqual((entry["uuid"], entry["pause"]), (last.uuid, "paced"))
        self.nudge()
        self.until_sent(last.uuid)
        request = next(request for request in server.accepted() if request.headers["x-request-id"] == last.uuid)
        self.assertEqual(request.headers["x-launchguard-more"], "1")
        self.assertLess(request.time, entry["next_ns"] / 1e9)

    def test_a_run_without_consent(self):
        server = self.server()
        run = self.owe(server=server, consent=WITHHELD)
        again = self.run_victim("deliver", "begin", "finish", "witness", endpoint=server.url())
        wait_until(lambda: self.word(run) == (NO_CONSENT, 0), lambda: "the agent says so: %s %s" % (self.word(run), self.log()))
        self.assertEqual((again["deliver"], self.entries()), ("ok", []))

    def make_old(self):
        for folder in "sent", "dead":
            for path in self.files(folder):
                report = Report(path)
                report.change(made_ns=report["made_ns"] - HOUR_NS)

    def test_a_report_that_gives_way_leaves_its_word(self):
        server = self.server()
        first = self.owe(server=server, keep_reports=1)
        for point in None, "composer: run noted":
            with self.subTest(dies_at=point):
                self.assertEqual(self.run_agent(), 0)
                self.make_old()
                second = self.owe("begin", "abort" if point else "crash", server=server, keep_reports=1)
                if point:
                    self.run_agent(agent=FAULTY_AGENT, LAUNCHGUARD_AGENT_FAULT=point)
                    self.assertEqual((self.word(first), [entry["uuid"] for entry in self.entries()]), ((SENT, 0), [first.uuid]))
                self.assertEqual(self.run_agent(), 0)
                self.assertEqual((self.word(first), self.word(second)), ((SENT, 0), (SPOOLED, 0)))
                self.assertEqual(self.entry()["uuid"], second.uuid)
                first = second

    def test_a_report_that_was_given_up_says_why(self):
        server = self.server(status(503), status(400))
        run = self.owe(server=server, keep_reports=1)
        self.run_agent()
        self.has_been_on(91)
        self.nudge()
        self.run_agent()
        entry = self.entry()
        self.assertEqual((entry["uuid"], entry["state"], entry["error"].split(":")[0]), (run.uuid, "dead", "90 days old"))
        self.assertGreater(entry["settled_ns"], 0)
        other = self.owe("begin", "abort", server=server, keep_reports=1)
        self.assertEqual(self.run_agent(), 0)
        self.assertEqual((self.word(run), self.word(other)), ((DEAD, 0), (SPOOLED, 0)))


if __name__ == "__main__":
    unittest.main()
