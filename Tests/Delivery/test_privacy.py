"""Nothing leaves without consent, and no secret leaves at all."""
import collections
import contextlib
import pathlib
import signal
import time
import unittest

import server as scripted
from delivery import FAULTY_AGENT, GIVEN, HTTP, KINDS, LIMIT, MISSING, MINIDUMP, OTLP, SENTRY, WITHHELD, DeliveryTest, Report, agents_of, is_gone
import seeds
from waiting import pass_time, wait_until

KEPT = 0
ROUNDS = 24
REPORTS = ("new", "held", "dead", "tmp")
SECRET = "Zm9vLXNlY3JldC1iYXI"


class Consent(DeliveryTest):
    def nothing_leaves(self, server):
        """No agent of ours lives, or will; and none has opened a connection."""
        wait_until(lambda: agents_of(self.folder) == [], "no agent lives")
        self.run_agent()
        self.assertEqual(server.requests, [])

    def test_at_first_there_is_none(self):
        server = self.server()
        run = self.run_victim("deliver", "begin", "crash", endpoint=server.url(), consent=KEPT)
        self.assertEqual((run["deliver"], run["begin"], run.status), ("ok", "ok", -signal.SIGSEGV))
        self.nothing_leaves(server)

    def test_it_is_kept(self):
        server = self.server()
        self.run_victim("deliver", "begin", "finish", endpoint=server.url())
        run = self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url(), consent=KEPT)
        self.until_sent(run.uuid)

    def test_what_ended_before_it_was_given_never_goes(self):
        server = self.server()
        self.run_victim("deliver", "begin", "crash", endpoint=server.url(), consent=WITHHELD)
        self.nothing_leaves(server)
        run = self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url(), consent=GIVEN)
        self.until_sent(run.uuid)
        self.assertEqual(list(self.identities(server)), [run.uuid])

    def test_revoked_consent_empties_the_spool(self):
        server = self.server(otherwise=scripted.status(503))
        self.owe(server=server)
        self.owe(server=server)
        self.run_agent()
        self.assertEqual(len(self.files("new")), 2)
        run = self.run_victim("consent:2", "begin", "finish")
        self.assertEqual(run["consent"], "ok")
        self.assertEqual([self.files(folder) for folder in REPORTS], [[], [], [], []])
        self.assertFalse(list((self.spool / "requests").iterdir()))
        tried = len(server.requests)
        server.otherwise = scripted.status(200)
        again = self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url())
        self.until_sent(again.uuid)
        self.assertEqual(list(self.identities(server)), [again.uuid])
        self.assertEqual(len(server.requests), tried + 2)

    def test_revoked_consent_stops_a_transfer(self):
        server = self.server(otherwise=scripted.hang)
        self.owe(server=server)
        go = self.folder / "go"
        child = self.start("deliver", "begin", "finish", "until:%s" % go, "consent:2", "loop", endpoint=server.url())
        wait_until(lambda: server.requests, "the agent sends")
        agent = self.agent()
        go.touch()
        self.said(child, "consent: ok")
        begin = time.monotonic()
        wait_until(lambda: is_gone(agent), "the agent ends")
        self.assertLess(time.monotonic() - begin, 25)  # the request alone would take 30 s
        child.kill()
        self.end(child)
        self.assertEqual([self.files(folder) for folder in REPORTS], [[], [], [], []])
        self.run_agent()
        self.assertEqual(len(server.requests), 1)

    def test_the_consent_of_a_damaged_file(self):
        server = self.server()
        self.owe(server=server)
        for text in b"", b"given", b"yes 1\n", b"\0" * 100, b"x" * 100000:
            (self.spool / "consent").write_bytes(text)
            self.assertNotEqual(self.run_agent(), 0, text[:20])
        self.assertEqual(server.requests, [])


class Withheld(DeliveryTest):
    """When the call that withholds consent returns, nothing is left, and nothing comes, whatever
    the agent does meanwhile. An agent that was stopped within a step may do that step, and the call
    says so."""
    STEPS = "agent", "mailbox", "sender", "composer", "witness"
    # Where an agent has hold of the spool: for a step with a file, or for a request.
    HOLDS = {"mailbox: may write", "mailbox: may move", "mailbox: header written", "agent: may send", "sender: request begins", "sender: answer",
             "agent: part delivered", "agent: delivered"}

    def left(self):
        """Files in the spool that hold something of a report."""
        found = [path for folder in (*REPORTS, "requests") for path in (self.spool / folder).iterdir()]
        return found + [path for path in (self.spool / "tally",) if path.exists()]

    def gone(self, agent):
        agent.wait(LIMIT)
        self.assertEqual(self.left(), [])
        for path in self.files("sent"):
            self.assertEqual(path.stat().st_size, Report.HEADER)

    def test_at_every_step(self):
        server = self.server()
        for kind in KINDS[:2]:
            self.owe("begin", kind, server=server)
        child = self.start("deliver", "begin", "finish", "report-now:x", "loop", endpoint=server.url(), agent_path=MISSING)
        self.said(child, "requested: ")
        child.kill()
        self.end(child)
        template = self.state
        self.copy_state("listed")
        self.run_agent(agent=FAULTY_AGENT, LAUNCHGUARD_AGENT_FAULT="list:%s" % (self.folder / "points"))
        points = [point for point in sorted(set((self.folder / "points").read_text().splitlines())) if point.split(":")[0] in self.STEPS]
        print("%d points: %s" % (len(points), points), flush=True)
        self.assertLessEqual(self.HOLDS, set(points))
        for number, point in enumerate(points):
            with self.subTest(point):
                self.state = template
                self.copy_state("state-%d" % number)
                agent = self.stopped_agent(point)
                self.assertIsNone(agent.poll())
                tried = len(server.requests)
                run = self.run_victim("consent:2", "exit:0", agent_path=MISSING)
                self.assertEqual(self.left(), [])
                self.assertEqual(run["consent"], "timeout" if point in self.HOLDS else "ok")
                agent.send_signal(signal.SIGCONT)
                self.gone(agent)
                if run["consent"] == "ok":
                    self.assertEqual(len(server.requests), tried)

    def test_at_any_moment(self):
        """An agent that has many reports to make and to send."""
        server = self.server()
        requests = ["report-now:x"] * 16
        statuses = collections.Counter()
        for number, (draw, again) in enumerate(seeds.draws("delivery-privacy", "Withheld.test_at_any_moment")):
            for round_ in range(ROUNDS):
                with self.subTest(again, round=round_):
                    self.state = self.folder / ("state-%d-%d" % (number, round_))
                    self.spool = self.state / "spool"
                    go = self.folder / ("go-%d-%d" % (number, round_))
                    child = self.start("deliver", "begin", "finish", *requests, "until:%s" % go, "consent:2", "loop", endpoint=server.url())
                    self.attached(child)
                    agent = self.agent()
                    pass_time(draw.random() * 0.1, "the word comes at any moment")
                    go.touch()
                    self.said(child, "consent: ")
                    left = self.left()
                    wait_until(lambda: is_gone(agent), "the agent ends")
                    self.assertEqual((left, self.left()), ([], []))
                    child.kill()
                    run = self.end(child)
                    statuses[run["consent"]] += 1
        print("the calls returned %s; %d requests came" % (dict(statuses), len(server.requests)), flush=True)
        self.assertEqual(set(statuses), {"ok"})


class Switches(DeliveryTest):
    def test_the_environment(self):
        server = self.server()
        self.owe(server=server)
        run = self.run_victim("deliver", "begin", "crash", endpoint=server.url(), environment={"LAUNCHGUARD_NO_DELIVERY": "1"})
        self.assertEqual((run["deliver"], run["begin"], run.status), ("disabled", "ok", -signal.SIGSEGV))
        self.assertEqual((agents_of(self.folder), server.requests), ([], []))

    def test_the_file(self):
        server = self.server()
        self.owe(server=server)
        (self.spool / "off").touch()
        run = self.run_victim("deliver", "begin", "finish", endpoint=server.url())
        self.assertEqual((run["deliver"], run["begin"], run.status), ("disabled", "ok", 0))
        self.assertNotEqual(self.run_agent(), 0)
        self.assertEqual((agents_of(self.folder), server.requests), ([], []))
        (self.spool / "off").unlink()
        self.assertEqual(self.run_agent(), 0)
        self.assertEqual(len(server.requests), 2)

    def test_the_file_stops_a_living_agent(self):
        server = self.server(otherwise=scripted.hang)
        self.owe(server=server)
        agent = self.start_agent()
        wait_until(lambda: server.requests, "the agent sends")
        (self.spool / "off").touch()
        begin = time.monotonic()
        self.assertNotEqual(agent.wait(60), 0)
        self.assertLess(time.monotonic() - begin, 25)


class Secrets(DeliveryTest):
    def test_credentials_are_in_no_argument_log_or_report(self):
        server = self.server(scripted.status(503), scripted.status(401))
        credentials = self.credentials("Authorization: Bearer " + SECRET, "endpoint: " + server.url("/" + SECRET))
        child = self.start("deliver", "begin", "finish", "report-now:x", "loop", credential_file=credentials)
        wait_until(lambda: server.requests, "the agent sends")
        self.assertEqual((server.requests[0].headers["authorization"], server.requests[0].path), ("Bearer " + SECRET, "/" + SECRET))
        process = pathlib.Path("/proc/%d" % self.agent())
        for name in "cmdline", "environ":
            self.assertNotIn(SECRET.encode(), (process / name).read_bytes())
        wait_until(lambda: self.nudge() or self.entries("held"), "the report is held")
        child.kill()
        self.end(child)
        for path in self.state.rglob("*"):
            with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # the agent is at work
                self.assertNotIn(SECRET.encode(), path.read_bytes(), path)
        for request in server.requests:
            self.assertNotIn(SECRET.encode(), request.body)

    def test_redacted_values_are_in_no_text(self):
        for target, path in ((HTTP, "/"), (SENTRY, "/42"), (OTLP, "/v1/logs"), (MINIDUMP, "/post")):
            with self.subTest(target):
                server = self.server()
                endpoint = server.url(path).replace("//", "//key@", 1) if target == SENTRY else server.url(path)
                run = self.run_victim("plant:planted-secret-value", "deliver", "report-now:why planted-secret-value", "begin", "witness", "fail:planted-secret-value",
                                      target=target, endpoint=endpoint)
                self.assertTrue(b"planted-secret-value" in pathlib.Path(run["run"]).read_bytes(), "it is nowhere: the test shows nothing")
                self.until_sent(run.uuid)
                sent = b"".join(request.body for request in server.accepted())
                self.assertIn(b"harmless", sent)
                self.assertNotIn(b"planted", sent)
                for kind in b"userID", b"bootID", b"parentName":
                    self.assertNotIn(kind, sent)

    def test_home_directories_are_in_no_report(self):
        server = self.server()
        self.owe(server=server)
        self.run_agent(HOME=str(self.folder))
        self.assertEqual(len(server.requests), 2)
        for request in server.requests:
            self.assertNotRegex(request.body.decode(), r'"/(home/[^"/]+|root)[/"]')

    def test_the_folders_are_private(self):
        server = self.server()
        self.owe(server=server)
        self.run_agent()
        for path in [self.spool, *self.spool.rglob("*")]:
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)


if __name__ == "__main__":
    unittest.main()
