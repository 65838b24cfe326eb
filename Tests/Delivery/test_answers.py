"""The agent's reaction to each answer, and to clocks that were set wrong (docs/DELIVERY.md)."""
import email.utils
import time
import unittest

from delivery import KINDS, MINIDUMP, OTLP, SENTRY, DeliveryTest, Report
from server import close, hang, status
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

    def test_nothing_is_given_up_by_a_count(self):
        """Each failed attempt is counted, and none is the last."""
        server = self.owed()
        server.otherwise = status(503)
        self.start_agent()
        wait_until(lambda: self.nudge() or len(server.requests) > 40, lambda: "it goes on: %s" % self.entries())
        server.otherwise = status(200)
        wait_until(lambda: self.nudge() or self.entries("sent"), lambda: "it is sent: %s" % self.entries())
        self.assertEqual([request.headers["x-launchguard-attempt"] for request in server.requests], [str(i + 1) for i in range(len(server.requests))])

    def test_after_ninety_days_it_is_given_up(self):
        server = self.owed(status(503), status(503))
        self.assertEqual(self.run_agent(), LEFT)
        self.has_been_on(days=91)
        Report(self.files("new")[0]).change(next_ns=0)
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual((self.entry()["state"], self.entry()["attempts"]), ("dead", 2))
        self.assertEqual((self.run_agent(), len(server.requests)), (DONE, 2))
        self.nudge("all")
        self.assertEqual((self.run_agent(), self.entry()["state"]), (DONE, "sent"))

    def test_a_wait_of_the_program_hurries_nobody(self):
        """A crash loop asks at each start, and the server decides."""
        server = self.owed(status(503, Retry_After=600))
        for _ in range(5):
            self.nudge("wait")
            self.assertEqual(self.run_agent(), LEFT)
        self.assertEqual(len(server.requests), 1)

    def test_an_attempt_is_counted_before_it_is_made(self):
        """Agents that are killed during the request."""
        server = self.owed(hang, hang, hang)
        for attempts in range(1, 4):
            agent = self.start_agent()
            wait_until(lambda: self.nudge() or len(server.requests) == attempts, "the request")
            agent.kill()
            agent.wait()
            self.assertEqual(self.entry()["attempts"], attempts)
        self.nudge()
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual([request.headers["x-launchguard-attempt"] for request in server.requests], ["1", "2", "3", "4", "5"])

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
        """It is shown with each report that waits for it; a person cannot end it."""
        server = self.owed(status(429, Retry_After=600))
        other = self.owe("begin", "abort", server=server)
        self.assertEqual(self.run_agent(), LEFT)
        for entry in self.entries():
            self.assertGreater(entry["next_ns"], (server.requests[0].time + 599) * 10**9, other.uuid)
            self.assertEqual(entry["pause"], "asked")
        self.nudge()
        self.assertEqual(self.run_agent(), LEFT)
        self.nudge("all")
        self.assertEqual(self.run_agent(), LEFT)
        self.assertEqual(len(server.requests), 1)

    def test_a_pause_belongs_to_its_server(self):
        server = self.owed(status(429, Retry_After=86400))
        self.assertEqual(self.run_agent(), LEFT)
        other = self.server()
        self.run_victim("deliver", "begin", "finish", endpoint=other.url())
        self.until_sent(self.run_.uuid)
        self.assertEqual((len(server.requests), len(other.requests)), (1, 2))

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

    def test_a_refusal_is_not_for_ever(self):
        """A typo in the address, a deployment, a firewall: held for a day, and a person can try at
        once."""
        for code in 400, 404, 405, 413, 422, 451:
            with self.subTest(code):
                self.state = self.folder / str(code)
                self.spool = self.state / "spool"
                server = self.owed(status(code))
                self.assertEqual(self.run_agent(), DONE)
                entry = self.entry()
                self.assertEqual((entry["state"], entry["http_status"], entry["attempts"]), ("held", code, 1))
                self.assertIn(str(code), entry["error"])
                self.assertAlmostEqual(entry["next_ns"], time.time_ns() + DAY_NS, delta=600 * 10**9)
                self.assertEqual((self.run_agent(), len(server.requests)), (DONE, 1))
                self.nudge("all")
                self.assertEqual((self.run_agent(), len(server.requests)), (DONE, 3))
                self.assertEqual(self.entry()["state"], "sent")

    def test_after_a_day(self):
        server = self.owed(status(404))
        self.run_agent()
        Report(self.files("held")[0]).change(next_ns=time.time_ns())
        self.assertEqual((self.run_agent(), len(server.requests)), (DONE, 3))

    def test_the_server_takes_others_again(self):
        """The deployment is over."""
        server = self.owed(status(404))
        self.run_agent()
        self.owe("begin", "abort", server=server)
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual((len(self.entries("sent")), len(server.requests)), (2, 5))

    def test_with_the_address_corrected(self):
        server = self.owed(status(404))
        self.run_agent()
        self.run_victim("deliver", "begin", "finish", endpoint=server.url("/corrected"))
        self.until_sent(self.run_.uuid)
        self.assertEqual([request.path for request in server.requests], ["/reports", "/corrected", "/corrected"])

    def test_what_was_given_up_goes_to_another_server(self):
        server = self.owed(status(400))
        self.run_agent()
        path = self.files("held")[0]
        path.rename(self.spool / "dead" / path.name)
        self.assertEqual((self.run_agent(), len(server.requests)), (DONE, 1))
        self.run_victim("deliver", "begin", "finish", endpoint=server.url("/other"))
        self.until_sent(self.run_.uuid)

    def test_a_page_of_a_portal(self):
        """Also with 200 a page is no answer of such a server."""
        page = status(200, b"<html>Welcome to the hotel</html>", Content_Type="text/html")
        for target, path, fine in (SENTRY, "/1", b'{"id":"1"}'), (OTLP, "/v1/logs", b""), (MINIDUMP, "/post", b"CrashID=bp-1"):
            with self.subTest(target):
                self.state = self.folder / str(target)
                self.spool = self.state / "spool"
                server = self.server(page)
                server.otherwise = status(200, fine)
                endpoint = server.url(path) if target != SENTRY else server.url(path).replace("://", "://key@")
                self.owe(endpoint=endpoint, target=target)
                self.assertEqual(self.run_agent(), LEFT)
                entry = self.entry()
                self.assertEqual((entry["state"], len(server.requests)), ("pending", 1))
                self.assertIn("something else answers", entry["error"])
                self.nudge()
                self.assertEqual((self.run_agent(), self.entry()["state"]), (DONE, "sent"))

    def test_a_minidump_that_a_collector_throws_away(self):
        server = self.server(status(200, b"Discarded=rule_unsupported_product"))
        server.otherwise = status(200, b"CrashID=bp-1")
        self.owe(endpoint=server.url("/post"), target=MINIDUMP)
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(self.entry()["state"], "held")
        self.assertIn("threw the report away: Discarded=rule_unsupported_product", self.entry()["error"])
        self.nudge("all")
        self.assertEqual((self.run_agent(), self.entry()["state"]), (DONE, "sent"))

    def test_a_partial_success_of_otlp(self):
        server = self.server(status(200, b'{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}'))
        server.otherwise = status(200, b'{"partialSuccess":{}}')
        self.owe(endpoint=server.url("/v1/logs"), target=OTLP)
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual(self.entry()["state"], "held")
        self.assertIn("refused the record: too old", self.entry()["error"])
        self.nudge("all")
        self.assertEqual((self.run_agent(), self.entry()["state"]), (DONE, "sent"))

    def counts(self, server):
        """What the server counts: it keeps the first body of each key."""
        first = {}
        for request in server.requests:
            if request.headers["x-launchguard-part"] == "brief":
                first.setdefault(request.headers["idempotency-key"], 1 + int(request.headers["x-launchguard-more"]))
        return sum(first.values())

    def goes(self):
        """Agents come until no report is left."""
        for _ in range(30):
            for path in self.files("new"):
                Report(path).change(next_ns=0, next_on_ns=0)
            self.nudge()
            if self.run_agent() == DONE:
                break
        self.assertEqual(self.files("new"), [])

    def test_counts_arrive_where_answers_are_lost(self):
        """A report that has left stands for no more runs: its body is final."""
        server = self.server(close)
        for _ in range(3):
            self.owe(server=server)
        self.assertEqual(self.run_agent(), LEFT)
        for _ in range(9):
            self.owe(server=server)
        self.run_agent()
        self.goes()
        self.assertEqual(self.counts(server), 12)

    def test_counts_without_a_network(self):
        """No byte left: one report stands for all of them."""
        server = self.server()
        server.down()
        for _ in range(9):
            self.owe(server=server)
            self.run_agent()
            self.nudge()
        self.assertLess(len(self.entries()), 4)
        server.up()
        self.goes()
        self.assertEqual(self.counts(server), 9)

    def test_too_large_without_its_second_part(self):
        server = self.owed(status(200), status(413))
        self.assertEqual(self.run_agent(), DONE)
        self.assertEqual((self.entry()["state"], len(server.requests)), ("sent", 2))
        self.assertEqual(self.identities(server), {self.run_.uuid: ["brief"]})

    def test_a_budget(self):
        """The request that reaches it is the last of the day; a person may send more."""
        server = self.owed(daily_bytes=8192, brief=1)
        for kind in KINDS * 3:
            self.owe("begin", kind, server=server, daily_bytes=8192, brief=1)
        self.assertEqual(self.run_agent(), LEFT)
        spent = [len(request.body) for request in server.requests]
        self.assertLess(sum(spent[:-1]), 8192)
        pending = self.entries("pending")
        self.assertTrue(pending and len(server.requests) > 1, self.entries())
        for entry in pending:
            self.assertGreater(entry["next_ns"], (server.requests[0].time + 23 * 3600) * 10**9)
            self.assertEqual(entry["pause"], "spent")
        self.assertEqual((self.run_agent(), len(server.requests)), (LEFT, len(spent)))
        self.nudge()
        self.run_agent()
        self.assertGreater(len(server.requests), len(spent))

    def test_while_each_byte_costs(self):
        """Only first parts go, until the file is gone."""
        server = self.owed()
        (self.spool / "metered").touch()
        self.start_agent()
        wait_until(lambda: server.accepted(), "the first part")
        self.assertEqual(self.identities(server), {self.run_.uuid: ["brief"]})
        wait_until(lambda: self.entry()["pause"] == "metered", "the report says why it waits")
        self.assertEqual(self.entry()["state"], "pending")
        (self.spool / "metered").unlink()
        self.until_sent(self.run_.uuid)

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

    def times(self, shift_ns, *names):
        """The report waits for the server alone, and its times are moved."""
        report = self.pending()
        report.change(**{name: max(1, report[name] + shift_ns) for name in names})
        (self.spool / "server").unlink()
        self.is_sent()

    def test_a_time_in_the_past(self):
        self.times(-DAY_NS, "next_ns")

    def test_a_clock_that_was_set_ahead_a_day(self):
        self.times(-DAY_NS, "made_ns", "attempted_ns", "next_ns")

    def test_a_first_attempt_in_1970(self):
        """A clock of 1970 at the first attempt is no reason to give up before another one."""
        self.times(-10**20, "made_ns", "attempted_ns", "next_ns")

    def test_a_clock_that_was_set_back(self):
        """All times of the report are ahead now. It waits by the time that the device was on, which
        has begun anew with the file of the server."""
        self.times(365 * DAY_NS, "made_ns", "attempted_ns", "next_ns", "next_on_ns")

    def test_a_damaged_file_of_the_server(self):
        self.pending()
        for junk in b"", b"junk", bytes(136), b"\xff" * 136, b"x" * 4096:
            (self.spool / "server").write_bytes(junk)
            Report(self.files("new")[0]).change(next_ns=time.time_ns() + 3600 * 10**9, next_on_ns=time.monotonic_ns() + 3600 * 10**9)
            self.assertEqual((self.run_agent(), len(self.target.requests)), (LEFT, 1))
        self.nudge()
        self.is_sent()


if __name__ == "__main__":
    unittest.main()
