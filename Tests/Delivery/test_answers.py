"""The agent's reaction to each answer, and to clocks that were set wrong (docs/DELIVERY.md)."""
import email.utils
import time
import unittest

from delivery import KINDS, DeliveryTest, Report
from server import status
from waiting import wait_until

DAY_NS = 24 * 3600 * 10**9
LEFT, DONE = 6, 0  # exit statuses of the agent with --once


class Answers(DeliveryTest):
    def owed(self, *script, **options):
        """A server with that script, and a run that is owed to it."""
        self.target = self.server(*script)
        self.run_ = self.owe(server=self.target, **options)
        return self.target

    def test_server_errors_are_retried(self):
        """Each attempt is in the entry, with why it failed."""
        server = self.owed(status(503), status(500), status(408), status(425), status(429), status(302))
        self.start_agent()
        for attempts in range(1, 7):
            entry = self.until_tried(attempts)
            if entry["state"] == "pending" and entry["attempts"] == attempts:
                self.assertEqual(entry["http_status"], server.requests[attempts - 1].status)
                self.assertIn(str(entry["http_status"]), entry["error"])
            wait_until(lambda: self.nudge() or len(server.requests) > attempts, "the next attempt")
        self.until_sent(self.run_.uuid)
        self.assertEqual(self.identities(server), {self.run_.uuid: ["brief", "full"]})
        self.assertEqual([request.headers["x-launchguard-attempt"] for request in server.requests], [str(i) for i in range(1, 9)])

    def test_without_a_nudge_it_tries_again_by_itself(self):
        server = self.owed(status(503))
        self.start_agent()
        self.until_sent(self.run_.uuid)
        self.assertEqual(len(server.requests), 3)

    def test_it_gives_up_after_twenty(self):
        server = self.owed()
        server.otherwise = status(503)
        self.start_agent()
        wait_until(lambda: self.nudge() or self.entries("dead"), lambda: "it gives up: %s" % self.entries())
        self.assertEqual((len(server.requests), self.entry()["attempts"]), (20, 20))

    def waits(self, answer, least):
        """The next request comes no sooner than the server asked, and does come."""
        server = self.owed(answer)
        self.start_agent()
        wait_until(lambda: server.requests, "the first request")
        first = time.monotonic()
        wait_until(lambda: self.nudge() or len(server.requests) > 1, "the next request")
        self.assertGreaterEqual(time.monotonic() - first, least)
        self.until_sent(self.run_.uuid)

    def test_retry_after_seconds(self):
        self.waits(status(429, Retry_After=4), 3.5)

    def test_retry_after_a_date(self):
        self.waits(status(503, Retry_After=email.utils.formatdate(time.time() + 6, usegmt=True)), 3)

    def test_rate_limits(self):
        self.waits(status(429, X_Sentry_Rate_Limits="4:error:organization, 2700:session"), 3.5)

    def test_rate_limits_in_a_positive_answer(self):
        self.waits(status(200, X_Sentry_Rate_Limits="4::organization"), 3.5)

    def test_a_pause_survives_the_agent(self):
        server = self.owed(status(429, Retry_After=600))
        self.assertEqual(self.run_agent(), LEFT)
        self.assertEqual(self.run_agent(), LEFT)
        self.assertEqual(len(server.requests), 1)

    def held_and_sent(self, code):
        credentials = self.credentials("Authorization: Bearer old")
        server = self.owed(status(code), credential_file=credentials)
        self.run_agent()
        entry = self.entry()
        self.assertEqual((entry["state"], entry["http_status"], entry["attempts"]), ("held", code, 1))
        self.assertIn(str(code), entry["error"])
        self.run_agent()
        self.assertEqual(len(server.requests), 1)  # nothing has changed
        self.credentials("Authorization: Bearer new")
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual([request.headers["authorization"] for request in server.requests], ["Bearer old", "Bearer new", "Bearer new"])
        self.assertEqual(self.entry()["state"], "sent")

    def test_401(self):
        self.held_and_sent(401)

    def test_403(self):
        self.held_and_sent(403)

    def test_held_until_the_configuration_changes(self):
        server = self.owed(status(401))
        self.run_agent()
        other = self.server()
        self.run_victim("deliver", "begin", "finish", endpoint=other.url())
        self.until_sent(self.run_.uuid)
        self.assertEqual((len(server.requests), len(other.requests)), (1, 2))

    def test_refused_for_good(self):
        for code in 400, 404, 413, 422:
            with self.subTest(code):
                self.state = self.folder / str(code)
                self.spool = self.state / "spool"
                server = self.owed(status(code))
                self.assertEqual(self.run_agent(), DONE)
                entry = self.entry()
                self.assertEqual((entry["state"], entry["http_status"], entry["attempts"]), ("dead", code, 1))
                self.assertIn(str(code), entry["error"])
                self.run_agent()
                self.assertEqual(len(server.requests), 1)

    def test_too_large_without_its_second_part(self):
        server = self.owed(status(200), status(413))
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual((self.entry()["state"], len(server.requests)), ("sent", 2))
        self.assertEqual(self.identities(server), {self.run_.uuid: ["brief"]})

    def test_the_order_of_reports(self):
        """The first of a streak, then the newest launch crash."""
        server = self.server()
        runs = [self.owe("begin", kind, server=server) for kind in KINDS]
        self.assertEqual(self.run_agent(), DONE)
        order = [request.headers["x-launchguard-ordinal"] for request in server.requests if request.headers["x-launchguard-part"] == "brief"]
        self.assertEqual(order, [str(runs[i].ordinal) for i in (0, 2, 1)])


class Clocks(DeliveryTest):
    def pending(self):
        """A report that was tried and has to wait."""
        self.target = self.server(status(503))
        self.run_ = self.owe(server=self.target)
        self.assertEqual(self.run_agent(), LEFT)
        return Report(self.files("new")[0])

    def is_sent(self):
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(self.identities(self.target), {self.run_.uuid: ["brief", "full"]})

    def test_a_time_a_year_ahead(self):
        report = self.pending()
        report.change(next_ns=report["next_ns"] + 365 * DAY_NS)
        self.is_sent()

    def test_a_time_in_the_past(self):
        report = self.pending()
        report.change(next_ns=report["next_ns"] - DAY_NS)
        self.is_sent()

    def test_a_clock_that_was_set_back_a_day(self):
        """All times of the report are a day ahead now."""
        report = self.pending()
        report.change(**{name: report[name] + DAY_NS for name in ("made_ns", "first_ns", "attempted_ns", "next_ns")})
        self.is_sent()

    def test_a_clock_that_was_set_ahead_a_day(self):
        report = self.pending()
        report.change(**{name: report[name] - DAY_NS for name in ("made_ns", "first_ns", "attempted_ns", "next_ns")})
        self.is_sent()

    def test_a_first_attempt_years_ago(self):
        """A clock of 1970 at the first attempt is no reason to give up before another one."""
        report = self.pending()
        report.change(first_ns=1, attempted_ns=1, next_ns=1)
        self.is_sent()

    def test_a_pause_in_a_far_future(self):
        report = self.pending()
        report.change(next_ns=0)
        (self.spool / "pause").write_text("%d\n" % (time.time_ns() + 365 * DAY_NS))
        self.is_sent()


if __name__ == "__main__":
    unittest.main()
