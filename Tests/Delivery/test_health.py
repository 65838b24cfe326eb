"""Release health: the server gets how many runs of a version ended, and how, each once; reports
and those who wait for them know nothing of it."""
import collections
import json
import unittest

from delivery import HTTP, SENTRY, DeliveryTest, Report
from server import status

DONE, LEFT = 0, 6


class Health(DeliveryTest):
    def setUp(self):
        super().setUp()
        self.target = self.server()

    def ended(self, *steps, version="1.0", **options):
        options = {"release_health": 1, "target": SENTRY, "version": version} | options
        endpoint = self.target.url("/42").replace("://", "://key@") if options["target"] == SENTRY else self.target.url()
        return self.owe("begin", *steps, endpoint=endpoint, **options)

    def is_due(self):
        """The day is over."""
        for path in self.files("new") + self.files("held"):
            Report(path).change(next_ns=0, next_on_ns=0)

    def counts(self):
        """By release and outcome, as the server adds them up."""
        found = collections.Counter()
        for request in self.target.accepted():
            header, item, body = request.body.decode().split("\n", 2)
            if json.loads(item)["type"] != "sessions":
                continue
            self.assertEqual(list(json.loads(header)), ["sent_at"])
            sessions = json.loads(body)
            self.assertEqual(json.loads(item)["length"], len(body.rstrip("\n")))
            for row in sessions["aggregates"]:
                self.assertRegex(row.pop("started"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
                for outcome, count in row.items():
                    found[sessions["attrs"]["release"], outcome] += count
        return dict(found)

    def test_each_run_counts_once(self):
        for steps in [("finish", "exit:0")] * 8 + [("crash",), ("finish", "exit:3"), ("crash",), ("kill",)]:
            self.ended(*steps)
            self.assertEqual(self.run_agent(), DONE)
        self.ended("finish", "exit:0", version="1.1")
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(self.counts(), {})
        self.is_due()
        self.assertEqual(self.run_agent(), DONE)
        old, new = "org.example.victim@1.0", "org.example.victim@1.1"
        self.assertEqual(self.counts(), {(old, "exited"): 8, (old, "crashed"): 2, (old, "abnormal"): 2, (new, "exited"): 1})
        self.assertEqual(sum(b'"type":"sessions"' in request.body for request in self.target.requests), 4)
        self.is_due()
        count = len(self.target.requests)
        self.assertEqual((self.run_agent(), len(self.target.requests)), (DONE, count))

    def test_it_is_no_report(self):
        self.ended("finish", "exit:0")
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual((len(self.files("new")), self.entries()), (1, []))
        waited = self.run_victim("deliver", "wait:5000", "finish", "exit:0", endpoint=self.target.url("/42").replace("://", "://key@"), target=SENTRY)
        self.assertEqual(waited["result"], "nothing")

    def test_it_takes_no_place_of_a_report(self):
        for version in "1.0", "1.1", "1.2":
            self.ended("finish", "exit:0", version=version, keep_reports=1)
            self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(len(self.files("new")), 3)
        run = self.ended("crash", keep_reports=1)
        self.assertEqual((self.run_agent(), [entry["uuid"] for entry in self.entries("sent")]), (DONE, [run.uuid]))

    def test_only_on_wish(self):
        for options in {"release_health": 0}, {"target": HTTP}, {"version": ""}:
            with self.subTest(options):
                self.ended("finish", "exit:0", **options)
                self.assertEqual((self.run_agent(), self.files("new")), (DONE, []))

    def test_a_server_that_is_away_for_weeks(self):
        """The counts take no more than their places, and none is counted twice."""
        self.target.otherwise = status(503)
        for day in range(12):
            self.ended("finish", "exit:0")
            self.run_agent()
            self.is_due()
            (self.spool / "server").unlink(missing_ok=True)
        self.assertLessEqual(len(self.files("new")), 8)
        self.target.otherwise = status(200)
        self.is_due()
        self.run_agent()
        self.assertEqual(self.files("new") + self.files("sent"), [])
        (count,) = self.counts().values()
        self.assertGreaterEqual(count, 8)
        self.assertLessEqual(count, 12)

    def test_another_server(self):
        """The count is for Sentry, and the reports go on."""
        self.ended("finish", "exit:0")
        self.run_agent()
        self.is_due()
        run = self.ended("crash", target=HTTP)
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual((self.files("new"), [entry["uuid"] for entry in self.entries("sent")]), ([], [run.uuid]))
        self.assertEqual({request.headers["x-launchguard-part"] for request in self.target.requests}, {"brief", "full"})

    def test_consent_withheld(self):
        self.ended("finish", "exit:0")
        self.run_agent()
        self.run_victim("consent:2", "finish", "exit:0")
        self.assertEqual(self.files("new"), [])

    def test_an_agent_dies(self):
        """After a run was counted, and before that was noted."""
        points = "mailbox: file written", "mailbox: file moved", "composer: run counted", "composer: run settled"
        for version, first in enumerate(points):
            for point in first, "composer: run counted", "composer: run settled":
                self.ended("finish", "exit:0", version=str(version))
                self.dies_at(point)
                self.assertEqual(self.run_agent(), DONE)
        self.is_due()
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(self.counts(), {(f"org.example.victim@{version}", "exited"): 3 for version in range(len(points))})


if __name__ == "__main__":
    unittest.main()
