"""The agent and the program are killed at every step of what they do together. Afterwards no report
is lost, and none has two identities. LONG=1: every point of the agent each time that it is passed,
and every fault point of the program."""
import collections
import json
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from delivery import DUMP, FAULTY_AGENT, FAULTY_VICTIM, ENDS, LIMIT, LONG, MINIDUMP, MISSING, KINDS, DeliveryTest, agents_of, end_of
from server import status
import seeds
from waiting import pass_time, wait_until

ROUNDS = 1000 if LONG else 12
DEATHS = 3 * len(KINDS)  # of agents in one directory: as many equal reports go at once


class Kills(DeliveryTest):
    def passed(self, name):
        """The points that a program passed, in order, each as POINT#N."""
        counts = collections.Counter()
        points = []
        for point in (self.folder / name).read_text().splitlines():
            counts[point] += 1
            points.append("%s#%d" % (point, counts[point]))
        return points

    def sample(self, points):
        """Each one the first and the last time that it is passed; with LONG=1 each time, but for
        those of the reader, which changes nothing."""
        ends = {}
        for point in points:
            ends.setdefault(point.split("#")[0], []).append(point)
        return [point for name, passes in ends.items()
                for point in (passes if LONG and not name.startswith("reader") else sorted({passes[0], passes[-1]}))]

    def all_is_sent(self, renew=lambda: None):
        """Agents come and go until nothing is left to do."""
        for _ in range(30):
            if self.run_agent() == 0 and not self.files("held"):
                return
            renew()
            self.nudge()
        self.fail("reports are left: %s\n%s" % (self.entries(), self.log()))


class OfTheAgent(Kills):
    def matrix(self, script, runs, work, renew=lambda: None, parts=frozenset({"brief", "full"})):
        """`work(environment)` is done once by an agent that lists its points, then once by one that
        dies at each of them, from the same beginning. `renew` changes the credentials."""
        template = self.state
        self.copy_state("listed")
        self.target.script = script()
        work({"LAUNCHGUARD_AGENT_FAULT": "list:%s" % (self.folder / "points")})
        points = self.sample(self.passed("points"))
        print("%d points: %s" % (len(points), sorted({point.split("#")[0] for point in points})), flush=True)
        self.assertGreater(len(points), 5)
        for number, point in enumerate(points):
            with self.subTest(point):
                self.state = template
                self.copy_state("state-%d" % number)
                self.target.requests.clear()
                self.target.script = script()
                work({"LAUNCHGUARD_AGENT_FAULT": point})
                self.all_is_sent(renew)
                found = self.identities(self.target)
                self.assertEqual(set(found), set(runs))
                for identity, accepted in found.items():
                    self.assertEqual(set(accepted), parts, identity)
                entries = self.entries()
                self.assertEqual(sorted(entry["uuid"] for entry in entries), sorted(runs))
                self.assertEqual({entry["state"] for entry in entries}, {"sent"})
                self.assertEqual([self.files(folder) for folder in ("tmp", "new", "held", "dead")], [[]] * 4)

    def once(self, environment):
        self.run_agent(agent=FAULTY_AGENT, **environment)

    def owed(self, count, **options):
        self.target = self.server()
        return [self.owe("begin", kind, server=self.target, **options).uuid for kind in KINDS[:count]]

    def test_a_server_that_takes_all(self):
        self.matrix(list, self.owed(3 if LONG else 2), self.once)

    def test_a_server_of_minidumps(self):
        self.matrix(list, self.owed(1, target=MINIDUMP), self.once, parts={"whole"})

    def test_a_server_that_is_busy_at_first(self):
        def work(environment):
            for _ in range(3):
                self.once(environment)
                self.nudge()
        self.matrix(lambda: [status(503), status(200), status(503)], self.owed(1), work)

    def test_a_server_that_refuses_the_credentials(self):
        path = self.credentials("Authorization: Bearer old")
        runs = self.owed(1, credential_file=path)

        def renew():
            self.credentials("Authorization: Bearer new %d" % time.time_ns())

        def work(environment):
            self.once(environment)
            renew()
            self.once(environment)
        self.matrix(lambda: [status(401)], runs, work, renew)

    def test_requests_of_a_living_program(self):
        self.target = self.server()
        child = self.start("deliver", "begin", "finish", "report-now:x", "report-now:y", "loop", endpoint=self.target.url(), agent_path=MISSING)
        self.said(child, "requested: ")
        wait_until(lambda: len(list((self.spool / "requests").iterdir())) == 2, "both requests")
        requests = [path.name for path in (self.spool / "requests").iterdir()]
        self.matrix(list, requests, self.once)
        child.kill()
        self.end(child)

    def test_at_any_moment(self):
        """Also between the points."""
        for draw, again in seeds.draws("delivery-kills", "OfTheAgent.test_at_any_moment"):
            for number in range(max(1, ROUNDS // DEATHS)):
                with self.subTest(again, number=number):
                    self.state = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "state"
                    self.spool = self.state / "spool"
                    self.target = self.server()
                    self.die_at_any_moment(draw)

    def die_at_any_moment(self, draw):
        ended = 0
        for number in range(DEATHS):
            self.owe("begin", KINDS[number % len(KINDS)], server=self.target)
            self.target.script = [draw.choice([status(200), status(503)])]
            self.nudge()
            agent = self.start_agent("--once")
            pass_time(draw.random() * 0.015, "the death comes at any moment")
            ended += agent.poll() is not None
            agent.kill()
            agent.wait(LIMIT)
            self.children.remove(agent)
        wait_until(lambda: self.nudge() or self.run_agent() == 0 and not self.files("held"), self.log)
        found = self.identities(self.target)
        for identity, accepted in found.items():
            self.assertEqual(set(accepted), {"brief", "full"}, identity)
        entries = self.entries()
        self.assertEqual({entry["uuid"] for entry in entries}, set(found))
        self.assertEqual(sum(1 + entry["more"] for entry in entries), DEATHS)
        print("%d of %d agents had ended before their deaths" % (ended, DEATHS), flush=True)

    def test_a_witness(self):
        """The agent dies while the program lives, when it ends, and after that."""
        self.target = self.server()
        listed = self.folder / "points"
        self.one_witness({"LAUNCHGUARD_AGENT_FAULT": "list:%s" % listed})
        points = [point for point in self.sample(self.passed("points")) if point.startswith(("witness", "agent", "composer", "runs"))]
        self.assertTrue([point for point in points if point.startswith("witness")])
        for number, point in enumerate(points):
            with self.subTest(point):
                self.state = self.folder / ("state-%d" % number)
                self.spool = self.state / "spool"
                self.target = self.server()  # a request of a dead agent may still be on its way
                run = self.one_witness({"LAUNCHGUARD_AGENT_FAULT": point})
                self.run_victim("deliver", "begin", "finish", endpoint=self.target.url(), agent_path=MISSING)
                self.all_is_sent()
                end = end_of(run)
                self.assertIn(end, ("killed", "unknown"))
                # A launch was under way, so that an unknown end is a report, too.
                self.assertEqual(set(self.identities(self.target)), {run.uuid})
                self.assertEqual([(entry["uuid"], entry["end"]) for entry in self.entries()], [(run.uuid, end)])

    def one_witness(self, environment):
        child = self.start("deliver", "begin", "loop", endpoint=self.target.url(), agent_path=MISSING)
        self.said(child, "begin: ok")
        agent = self.start_agent(agent=FAULTY_AGENT, **environment)
        wait_until(lambda: agent.poll() is not None or "waiting for the end of process %d" % child.pid in self.log(), "the agent waits, or is dead")
        child.kill()
        run = self.end(child)
        wait_until(lambda: agent.poll() is not None or self.entries("sent"), "the agent has done it, or is dead")
        if agent.poll() is None:
            agent.kill()
        return run


class OfTheProgram(Kills):
    def nothing_is_lost(self, server, runs):
        """Each run that ended badly has one report; the others have none."""
        self.run_victim("deliver", "begin", "finish", endpoint=server.url())
        wait_until(lambda: self.nudge() or not self.files("new"), lambda: "all is sent: " + self.log())
        for pid in agents_of(self.folder):
            self.end_agent(pid)
        self.all_is_sent()
        wanted = set()
        for run in runs:
            verdict = end_of(run)
            launching = "begin" in run.said or verdict == "crash"
            if verdict in ("crash", "killed") or (verdict == "unknown" and launching):
                wanted.add(run.uuid)
        found = self.identities(server)
        self.assertLessEqual(wanted, set(found))
        self.assertLessEqual(set(found), {run.uuid for run in runs})
        for uuid in wanted:
            self.assertEqual(sorted(set(found[uuid])), ["brief", "full"])
        self.assertEqual(sorted(entry["uuid"] for entry in self.entries()), sorted(found))

    def test_at_every_step_of_a_call(self):
        listing = self.server()  # of its own: its agents still send when the next states begin
        self.owe(server=listing)  # so that the agent is started within the call
        steps = ["deliver", "report-now:x", "consent:1", "begin"]
        self.run_victim(*steps, "crash", program=FAULTY_VICTIM, endpoint=listing.url(), environment={"VICTIM_FAULT": "list:%s" % (self.folder / "points")})
        points = sorted({point.split("#")[0] for point in self.passed("points")})
        ours = [point for point in points if point.split(":")[0] in ("spool", "delivery", "agent", "start agent")]
        print("%d points of %d: %s" % (len(ours), len(points), ours), flush=True)
        self.assertGreater(len(ours), 1)
        for number, point in enumerate(points if LONG else ours):
            with self.subTest(point):
                self.state = self.folder / ("state-%d" % number)
                self.spool = self.state / "spool"
                server = self.server()
                first = self.owe(server=server)
                self.run_victim(*steps, program=FAULTY_VICTIM, endpoint=server.url(), environment={"VICTIM_FAULT": point})
                last = self.run_victim("deliver", "begin", "finish", "pass:200", endpoint=server.url())
                self.assertEqual((last["start"], last["deliver"], last.status), ("ok", "ok", 0))
                wait_until(lambda: self.nudge() or not self.files("new"), lambda: "all is sent: " + self.log())
                # The full part of a report comes after its brief part.
                wait_until(lambda: first.uuid in self.identities(server) and all(set(parts) == {"brief", "full"}
                                                                                for parts in self.identities(server).values()),
                           lambda: "the first one is sent, and no part of any report is left: %s\n%s\n%s" % (self.identities(server), self.entries(), self.log()))
                for pid in agents_of(self.folder):
                    self.end_agent(pid)

    def test_between_the_word_of_the_user_and_its_deed(self):
        """The program dies before it has emptied the spool: what is there never goes."""
        server = self.server(status(503))
        self.owe(server=server)
        self.assertNotEqual(self.run_agent(), 0)
        self.assertEqual(len(self.files("new")), 1)
        run = self.run_victim("deliver", "report-now:x", "consent:2", program=FAULTY_VICTIM, endpoint=server.url(), agent_path=MISSING,
                              environment={"VICTIM_FAULT": "consent: withheld"})
        left = len(self.files("new")), len(list((self.spool / "requests").iterdir()))
        self.assertEqual((run.status, left), (-signal.SIGKILL, (1, 1)))
        self.run_victim("deliver", "begin", "witness", "finish", endpoint=server.url())
        self.nudge()
        for pid in agents_of(self.folder):
            self.end_agent(pid)
        self.nudge()
        self.run_agent()
        self.assertEqual(len(server.requests), 1)

    def test_at_any_moment(self):
        for number, (draw, again) in enumerate(seeds.draws("delivery-kills", "OfTheProgram.test_at_any_moment")):
            with self.subTest(again):
                self.state = self.folder / ("state-%d" % number)
                self.spool = self.state / "spool"
                self.die_at_any_moment(draw)

    def die_at_any_moment(self, draw):
        server = self.server()
        runs, files = [], set()
        for _ in range(ROUNDS):
            child = self.start("deliver", "begin", "loop", endpoint=server.url(), keep_reports=4000)
            pass_time(draw.random() * 0.1, "the death comes at any moment")
            child.kill()
            run = self.end(child)
            if "run" in run.said:
                runs.append(run)
            files |= {path.stem.split("-", 1)[1] for path in self.state.glob("runs/*.lgrun")}
        self.assertGreater(len(runs), ROUNDS // 4)
        self.run_victim("deliver", "begin", "finish", endpoint=server.url())
        for pid in agents_of(self.folder):
            self.end_agent(pid)
        self.run_agent()
        # Equal ends are counted together from some number on; none is counted twice.
        entries = self.entries()
        uuids = [entry["uuid"] for entry in entries]
        counted = {entry["uuid"]: 1 + entry["more"] for entry in entries}
        self.assertEqual(len(uuids), len(set(uuids)))
        self.assertLessEqual(set(uuids), files)
        bad = 0
        for run in runs:
            if pathlib.Path(run["run"]).exists():
                verdict = end_of(run)
                bad += verdict == "killed" or (verdict == "unknown" and "begin" in run.said)
        self.assertGreaterEqual(sum(counted.values()), bad)
        self.assertLessEqual(sum(counted.values()), len(files))


class Verdicts(Kills):
    """The next start comes right after the death. Ledger and report must say the same. The victim
    has the patience for an agent on a busy machine."""

    def test_the_next_start_agrees_with_the_report(self):
        server = self.server()
        ends = collections.Counter()
        child = self.start("deliver", "begin", "loop", program=FAULTY_VICTIM, endpoint=server.url(), keep_reports=4000)
        for _ in range(ROUNDS):
            self.said(child, "begin: ok")
            self.attached(child)
            child.kill()
            run = self.end(child)
            child = self.start("deliver", "begin", "loop", program=FAULTY_VICTIM, endpoint=server.url(), keep_reports=4000)
            self.said(child, "begin: ok")
            book = self.ledger()
            last = next(entry for entry in book["timeline"] if entry["ordinal"] == run.ordinal)
            verdict = end_of(run)
            self.assertEqual(ENDS[last["verdict"]["end"]], verdict, "ledger and run file of run %d" % run.ordinal)
            ends[verdict] += 1
        self.attached(child)
        child.kill()
        self.end(child)
        print("the next start said: %s" % dict(ends), flush=True)
        self.assertEqual(ends, {"killed": ROUNDS})
        self.assertTrue(all(entry["end"] == "killed" for entry in self.entries()))

    def ledger(self):
        return json.loads(subprocess.run([DUMP, self.state / "ledger.lg"], stdout=subprocess.PIPE, timeout=LIMIT, check=True).stdout)


if __name__ == "__main__":
    unittest.main()
