"""A report gets out of a program that dies, once, whether the program starts again or not; and the
agent that brings it does the program no harm."""
import json
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import unittest
import uuid

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Export"))

import forms
import server as scripted
from delivery import AGENT, FAULTY_VICTIM, KINDS, HTTP, LIMIT, MINIDUMP, MISSING, OTLP, SENTRY, DeliveryTest, agents_of, end_of, is_gone, status_of
import streams
from waiting import pass_time, wait_until

BRIEF_MAX = 4096


class Arrival(DeliveryTest):
    def test_brief_goes_before_full_under_one_identity(self):
        server = self.server()
        run = self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url("/in/box"))
        self.assertEqual((run["deliver"], run.status), ("ok", -signal.SIGSEGV))
        self.until_sent(run.uuid)
        brief, full = server.requests
        for request, part, key in (brief, "brief", run.uuid), (full, "full", run.uuid + "/full"):
            headers = request.headers
            self.assertEqual((request.method, request.path), ("POST", "/in/box"))
            self.assertEqual((headers["idempotency-key"], headers["x-request-id"]), (key, key))
            self.assertEqual((headers["x-launchguard-part"], headers["x-launchguard-via"]), (part, "agent"))
            self.assertEqual((headers["x-launchguard-ordinal"], headers["x-launchguard-more"]), (str(run.ordinal), "0"))
            self.assertRegex(headers["x-launchguard-fingerprint"], "^[0-9a-f]{32}$")
            self.assertIn("json", headers["content-type"])
            self.assertIn("launchguard-agent/", headers["user-agent"])
            self.assertIn(run.uuid, request.body.decode())
            request.json()
        self.assertEqual([brief.headers["x-launchguard-attempt"], full.headers["x-launchguard-attempt"]], ["1", "2"])
        self.assertLessEqual(len(brief.body), BRIEF_MAX)
        self.assertGreater(len(full.body), len(brief.body))

    def test_a_delivered_report_leaves_its_parts_behind(self):
        server = self.server()
        run = self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url())
        self.until_sent(run.uuid)
        entry = self.entry()
        self.assertEqual((entry["state"], entry["end"], entry["run_uuid"], entry["ordinal"]), ("sent", "crash", run.uuid, run.ordinal))
        self.assertEqual((entry["attempts"], entry["http_status"], entry["error"]), (2, 200, ""))
        self.assertEqual([path.stat().st_size for path in self.files("sent")], [456])
        # It comes to sent/ first.
        wait_until(lambda: self.files("new") + self.files("tmp") == [], "the report is in one folder")

    def test_the_brief_part_alone(self):
        server = self.server()
        run = self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url(), brief=1)
        self.until_sent(run.uuid)
        self.assertEqual(self.identities(server), {run.uuid: ["brief"]})

    def test_each_run_has_its_own_report(self):
        server = self.server()
        runs = [self.run_victim("deliver", "begin", "witness", kind, endpoint=server.url()) for kind in KINDS]
        self.until_sent(*(run.uuid for run in runs))
        self.assertEqual(self.identities(server), {run.uuid: ["brief", "full"] for run in runs})
        self.assertEqual(len({request.headers["x-launchguard-fingerprint"] for request in server.requests}), 3)

    def test_equal_crashes_go_as_they_come(self):
        """Three of them; each has had its answer before the next one."""
        server = self.server()
        runs = []
        for _ in range(3):
            runs.append(self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url()))
            self.until_sent(runs[-1].uuid)
        self.assertEqual(self.identities(server), {run.uuid: ["brief", "full"] for run in runs})
        self.assertEqual(len({request.headers["x-launchguard-fingerprint"] for request in server.requests}), 1)

    def test_a_run_whose_file_is_made_slowly(self):
        """On a busy machine or a slow disk: the agent sees a file without a header for long."""
        server = self.server()
        runs = [self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url())]
        self.until_sent(runs[0].uuid)
        runs.append(self.run_victim("deliver", "begin", "witness", "crash", program=FAULTY_VICTIM, endpoint=server.url(),
                                    environment={"VICTIM_FAULT": "slow:run: without header"}))
        self.until_sent(*(run.uuid for run in runs))

    def sentry(self, *script):
        """The items of the envelopes that a server got which gives these answers."""
        server = self.server(*script)
        run = self.run_victim("deliver", "begin", "witness", "crash", target=SENTRY, endpoint=server.url("/42").replace("//", "//key@", 1))
        self.until_sent(run.uuid)
        found = []
        for request in server.requests:
            self.assertEqual(request.path, "/api/42/envelope/")
            self.assertIn("sentry_key=key", request.headers.get("x-sentry-auth", ""))
            self.assertEqual(request.headers["idempotency-key"], run.uuid)
            head, *items = request.body.rstrip(b"\n").split(b"\n")
            self.assertEqual(json.loads(head)["event_id"], run.uuid.replace("-", ""))
            found.append({json.loads(items[i])["type"]: json.loads(items[i + 1]) for i in range(0, len(items), 2)})
        return found

    def test_a_sentry_server_gets_all_in_one(self):
        (items,) = self.sentry()
        self.assertEqual(set(items), {"event", "attachment"})
        self.assertIn("breadcrumbs", items["event"])
        self.assertIn("crash", items["attachment"])

    def test_a_sentry_server_gets_a_small_event_where_it_refuses_a_large_one(self):
        whole, small = self.sentry(scripted.status(413))
        self.assertEqual((set(whole), set(small)), ({"event", "attachment"}, {"event"}))
        self.assertNotIn("breadcrumbs", small["event"])
        self.assertEqual(small["event"]["exception"]["values"][0]["type"], "SIGSEGV")

    def test_a_collector_gets_log_records(self):
        server = self.server()
        run = self.run_victim("deliver", "begin", "witness", "crash", target=OTLP, endpoint=server.url("/v1/logs"))
        self.until_sent(run.uuid)
        self.assertEqual([request.path for request in server.requests], ["/v1/logs"])
        *_, record = server.requests[0].json()["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
        self.assertEqual(record["eventName"], "app.crash")
        self.assertIn("launchguard.modules", [attribute["key"] for attribute in record["attributes"]])

    def minidumps(self, *script, steps=("begin", "witness", "crash")):
        """Fields and minidump of each form that a server got which gives these answers."""
        server = self.server(*script)
        server.otherwise = scripted.status(200, b"CrashID=bp-d101d046-638f-42e0-902d-bd245c200115\n")
        run = self.run_victim("deliver", *steps, target=MINIDUMP, endpoint=server.url("/post?key=7"))
        self.until_sent(run.uuid)
        found = []
        for request in server.requests:
            self.assertEqual((request.path, request.headers["idempotency-key"]), ("/post?key=7", run.uuid))
            fields, files = forms.read(request.headers["content-type"], request.body)
            (name, _, dump), = files.values()
            self.assertEqual((name, fields["sentry[event_id]"]), (run.uuid + ".dmp", run.uuid.replace("-", "")))
            guid, values = streams.annotations(dump)
            self.assertEqual((uuid.UUID(bytes_le=guid), values["launchguard.app"]), (uuid.UUID(run.uuid), fields["prod"]))
            found.append((fields, streams.streams(dump)))
        return found

    def test_a_server_of_minidumps_gets_all_in_one(self):
        ((fields, dump),) = self.minidumps()
        self.assertEqual((fields["launchguard.context"], fields["launchguard.streak"]), ("main", "1"))
        self.assertGreater(struct.unpack_from("<I", dump[5])[0], 0, "there is no memory")
        self.assertIn(streams.MAPS, dump)
        self.assertEqual(struct.unpack_from("<III", dump[6])[2], signal.SIGSEGV)

    def test_a_server_of_minidumps_gets_a_small_one_where_it_refuses_a_large_one(self):
        (_, whole), (fields, small) = self.minidumps(scripted.status(413))
        self.assertGreater(struct.unpack_from("<I", whole[3])[0], 0)
        self.assertEqual((struct.unpack_from("<I", small[3])[0], struct.unpack_from("<I", small[5])[0]), (1, 0))
        self.assertEqual((struct.unpack_from("<III", small[6])[2], fields["launchguard.kind"]), (signal.SIGSEGV, "fault.null_offset"))

    def test_a_server_of_minidumps_gets_an_end_without_stacks(self):
        ((fields, dump),) = self.minidumps(steps=("begin", "witness", "kill"))
        self.assertEqual((fields["launchguard.end"].split()[0], struct.unpack_from("<I", dump[3])[0]), ("killed", 0))

    def test_a_report_for_a_server_of_another_kind(self):
        """It goes without its second part, which has another form."""
        for first, second in (HTTP, MINIDUMP), (MINIDUMP, HTTP):
            with self.subTest(first):
                self.state = self.folder / str(first)
                self.spool = self.state / "spool"
                away, server = self.server(scripted.status(503)), self.server()
                run = self.owe(server=away, target=first)
                self.run_agent()
                self.run_victim("deliver", "begin", "finish", endpoint=server.url(), target=second, agent_path=MISSING)
                self.assertEqual(self.run_agent(), 0)
                (request,) = server.requests
                self.assertEqual((request.headers["idempotency-key"], request.headers["x-launchguard-part"]), (run.uuid, "brief"))
                self.assertEqual(self.entry()["state"], "sent")

    def test_the_program_is_told_at_its_next_finished_launch(self):
        server = self.server()
        run = self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url())
        self.until_sent(run.uuid)
        again = self.run_victim("deliver", "begin", "finish", "delivered", endpoint=server.url())
        self.assertEqual(again.said.get("delivered"), [run.uuid])
        self.assertEqual([entry["state"] for entry in self.entries()], ["told"])
        # Within a second on_delivered would be called once more.
        third = self.run_victim("deliver", "begin", "finish", "pass:1000", endpoint=server.url())
        self.assertNotIn("delivered", third.said)

    def test_a_program_that_dies_at_once_has_its_agent_at_the_second_start(self):
        """The call has started the agent before it returns, as a launch crash is pending."""
        server = self.server()
        runs = [self.run_victim("deliver", "begin", kind, endpoint=server.url()) for kind in KINDS]
        self.until_sent(*(run.uuid for run in runs))
        self.assertEqual(self.identities(server), {run.uuid: ["brief", "full"] for run in runs})

    def test_a_clean_end_is_no_report(self):
        server = self.server()
        run = self.run_victim("deliver", "begin", "finish", "witness", "exit:0", endpoint=server.url())
        self.assertEqual(run.status, 0)
        wait_until(lambda: agents_of(self.folder) == [], "the agent ends by itself, as nothing is left to do")
        self.assertEqual((server.requests, self.entries()), ([], []))

    def test_other_ends_on_request(self):
        server = self.server()
        run = self.run_victim("deliver", "begin", "finish", "witness", "exit:3", endpoint=server.url(), ends=1 << 7)
        self.until_sent(run.uuid)
        self.assertEqual(self.entry()["end"], "exit")


class NeverAgain(DeliveryTest):
    """The program never starts again, so that nobody but its agent can send the report."""

    def ends(self, end, *steps):
        server = self.server()
        child = self.start("deliver", "begin", "finish", "loop", endpoint=server.url()) if not steps else None
        if child:
            self.attached(child)
            os.killpg(child.pid, signal.SIGKILL)
            run = self.end(child)
        else:
            run = self.run_victim("deliver", *steps[:-1], "witness", steps[-1], endpoint=server.url())
        self.until_sent(run.uuid)
        self.assertEqual(self.identities(server), {run.uuid: ["brief", "full"]})
        self.assertEqual(self.entry()["end"], end)
        return run

    def test_a_crash_in_the_launch(self):
        self.assertEqual(self.ends("crash", "begin", "crash").status, -signal.SIGSEGV)

    def test_a_crash_after_the_launch(self):
        self.ends("crash", "begin", "finish", "crash")

    def test_a_crash_without_any_launch(self):
        self.ends("crash", "crash")

    def test_abort(self):
        self.assertEqual(self.ends("crash", "begin", "abort").status, -signal.SIGABRT)

    def test_sigkill_of_its_process_group(self):
        """No handler sees it: the witness does, and it is in no group of the program's."""
        run = self.ends("killed")
        self.assertEqual(end_of(run), "killed")

    def test_sigkill_of_itself(self):
        server = self.server()
        run = self.run_victim("deliver", "begin", "witness", "kill", endpoint=server.url())
        self.assertEqual(run.status, -signal.SIGKILL)
        self.until_sent(run.uuid)
        self.assertEqual(self.entry()["end"], "killed")

    def test_a_living_program_reports_on_request(self):
        """The request has an identity of its own, and the end of the run is another report."""
        server = self.server()
        child = self.start("deliver", "begin", "finish", "report-now:does not answer", "loop", endpoint=server.url())
        first = wait_until(lambda: self.entries("sent", "told"), lambda: "the request arrives: " + self.log())[0]
        self.assertEqual(first["end"], "running")
        self.assertIn("does not answer", server.requests[0].body.decode())
        self.attached(child)
        os.kill(child.pid, signal.SIGKILL)
        run = self.end(child)
        self.assertEqual((first["uuid"], first["run_uuid"]), (run["requested"], run.uuid))
        self.until_sent(run.uuid)
        self.assertEqual(self.identities(server), {run["requested"]: ["brief", "full"], run.uuid: ["brief", "full"]})
        self.assertEqual(list((self.spool / "requests").iterdir()), [])


class OneAgent(DeliveryTest):
    def test_it_lives_as_long_as_the_program_and_is_the_only_one(self):
        server = self.server()
        child = self.start("deliver", "begin", "finish", "loop", endpoint=server.url())
        self.attached(child)
        agent = self.agent()
        second = self.start_agent()
        self.assertEqual(second.wait(LIMIT), 0)
        pass_time(12, "an agent that has nothing to do stays for ten seconds")
        self.assertEqual(agents_of(self.folder), [agent])
        os.kill(child.pid, signal.SIGTERM)
        self.end(child)
        wait_until(lambda: is_gone(agent), "the agent ends by itself")

    def test_a_program_that_takes_orphans_in_can_wait_for_all(self):
        """The agent becomes its child, sends what is due, and ends: also where no server
        answers."""
        server = self.server()
        first = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
        ways = {"subreaper": (["subreaper"], ()), "first process": ([], first)}
        if subprocess.run([*first, "true"], stderr=subprocess.DEVNULL).returncode:
            print("left out: the first process of a namespace, which may not be made here")
            del ways["first process"]
        for name, (steps, within) in ways.items():
            for endpoint in server.url(), "http://127.0.0.1:1/":
                with self.subTest(way=name, endpoint=endpoint):
                    owed = self.owe(endpoint=endpoint)
                    steps = [*steps, "deliver", "begin", "finish", "witness", "wait-for-all"]
                    said = self.run_victim(*steps, within=within, endpoint=endpoint)
                    self.assertEqual((said.status, said["wait-for-all"]), (0, "none"), self.log())
                    self.assertIn("the parent of the agent", self.log())
                    self.assertEqual(agents_of(self.folder), [])
                    if endpoint == server.url():
                        self.until_sent(owed.uuid)
                    shutil.rmtree(self.state)

    def test_programs_that_start_at_once_have_one(self):
        server = self.server()
        children = [self.start("deliver", "begin", "finish", "loop", endpoint=server.url()) for _ in range(4)]
        for child in children:
            self.said(child, "finish: ")
        self.agent()
        wait_until(lambda: len(agents_of(self.folder)) == 1, "all but one agent have ended")
        for child in children:
            child.kill()
        said = [self.end(child)["deliver"] for child in children]
        self.assertEqual(sorted(said), ["ok", "secondary", "secondary", "secondary"])

    def foreign_files(self, agent):
        """Open files of the agent that are not its own."""
        found = []
        for entry in os.scandir("/proc/%d/fd" % agent):
            try:
                target = os.readlink(entry.path)
            except FileNotFoundError:
                continue  # closed meanwhile
            own = target == "/dev/null" or target.startswith((str(self.state), "anon_inode:", "socket:", "pipe:"))
            if not own or "/run/" in target:
                found.append(target)
        return found

    def test_it_shares_nothing_with_the_program(self):
        server = self.server()
        self.owe(server=server)
        # The agent is started after the call, or within it where a crash is pending.
        for crashed in False, True:
            with self.subTest(crashed=crashed), open(self.folder / "marker", "w") as marker:
                if not crashed:
                    self.run_agent()

                def inherit():
                    os.set_inheritable(marker.fileno(), True)
                    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
                    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                child = self.start("deliver", "begin", "finish", "witness", "children", "loop", endpoint=server.url(), prepare=inherit)
                self.attached(child)
                self.said(child, "children: ")
                agent = self.agent()
                descriptors = {}
                for entry in os.scandir("/proc/%d/fd" % agent):
                    try:
                        descriptors[int(entry.name)] = os.readlink(entry.path)
                    except FileNotFoundError:
                        pass  # closed meanwhile
                for number, target in descriptors.items():
                    # the agent looks at the map of a process now and then
                    own = target == "/dev/null" or target.startswith((str(self.state), "anon_inode:", "socket:", "pipe:", "/proc/"))
                    self.assertTrue(own and "/run/" not in target, "%d: %s" % (number, target))
                self.assertNotEqual(os.getsid(agent), os.getsid(child.pid))
                self.assertEqual(int(status_of(agent, "SigBlk"), 16), 0)
                self.assertEqual(int(status_of(agent, "SigIgn"), 16) & ~(1 << signal.SIGPIPE - 1), 0)
                os.kill(child.pid, signal.SIGKILL)
                self.assertEqual(self.end(child)["children"], "none")
                self.end_agent(agent)


class NoAgent(DeliveryTest):
    def starts_anyway(self, path, **environment):
        run = self.run_victim("deliver", "begin", "finish", "children", endpoint="http://127.0.0.1:9/", agent_path=path, environment=environment)
        self.assertEqual((run["deliver"], run["begin"], run["finish"], run["children"]), ("no-agent", "ok", "ok", "none"))
        self.assertEqual(run.status, 0)
        self.assertEqual(agents_of(self.folder), [])

    def test_missing(self):
        self.starts_anyway(MISSING)

    def test_not_executable(self):
        path = self.folder / "launchguard-agent"
        path.write_bytes(b"#!/bin/sh\n")
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        self.starts_anyway(path)
        self.starts_anyway(None, LAUNCHGUARD_AGENT=str(path))

    def test_no_program_at_all(self):
        """A file that is executable and cannot be executed."""
        path = self.folder / "launchguard-agent"
        path.write_bytes(b"\x7fELF nonsense")
        path.chmod(0o700)
        # Nothing says that the attempt is over.
        run = self.run_victim("deliver", "begin", "finish", "pass:300", "children", endpoint="http://127.0.0.1:9/", agent_path=path)
        self.assertEqual((run["begin"], run["finish"], run["children"], run.status), ("ok", "ok", "none", 0))

    def test_the_environment_names_it(self):
        server = self.server()
        run = self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url(), agent_path=None, environment={"LAUNCHGUARD_AGENT": AGENT})
        self.assertEqual(run["deliver"], "ok")
        self.until_sent(run.uuid)

    def test_what_is_owed_goes_when_an_agent_runs_again(self):
        server = self.server()
        run = self.owe(server=server)
        self.assertEqual(server.requests, [])
        self.run_victim("deliver", "begin", "finish", endpoint=server.url())
        self.until_sent(run.uuid)

    def test_a_bug_of_the_caller_is_named(self):
        for options in {"endpoint": None}, {"endpoint": "ftp://example.invalid/"}, {"endpoint": "http://user:word@example.invalid/"}, \
                {"endpoint": "http://h/" + "x" * 2000}, {"endpoint": "http://h/", "target": 9}, {"endpoint": "http://h/", "consent": 7}, \
                {"endpoint": "http://h/", "keep_reports": 5000}, {"endpoint": "http://h/", "keep_bytes": 5}, \
                {"endpoint": "http://h/", "agent_path": "relative/agent"}, {"endpoint": "http://h/", "ca_file": "relative.pem"}, \
                {"endpoint": "http://h/", "ends": 0x7fffffff}, {"endpoint": "no-dsn", "target": 2}:
            with self.subTest(options):
                run = self.run_victim("deliver", "begin", "finish", **options)
                self.assertEqual((run["deliver"], run["begin"], run.status), ("option", "ok", 0))
                name = [name for name in options if name != "endpoint" or len(options) == 1 or "target" in options]
                self.assertRegex(run["message"], "|".join(name))


class Asked(DeliveryTest):
    def test_a_report_that_was_asked_for_stands_for_no_end(self):
        """Also where the agent comes to it after the end, and finds the crash in it."""
        server = self.server()
        run = self.owe("begin", "report-now:x", "crash", server=server)
        self.run_agent()
        self.assertEqual([(entry["more"], entry["run_uuid"]) for entry in self.entries()], [(0, run.uuid)] * 2)
        found = self.identities(server)
        self.assertEqual((len(found), found[run.uuid]), (2, ["brief", "full"]))


class Waiting(DeliveryTest):
    def test_nothing_to_send(self):
        run = self.run_victim("deliver", "wait:3000", endpoint=self.server().url())
        self.assertEqual((run["wait"], run["result"]), ("ok", "nothing"))

    def test_delivered(self):
        server = self.server(scripted.status(200), scripted.hang)
        run = self.run_victim("deliver", "begin", "witness", "crash", endpoint=server.url())
        wait_until(lambda: len(server.requests) == 2, "the second part is on its way")
        server.down()
        self.until_tried(2)
        self.end_agent(self.agent())  # nobody sends before the program waits
        server.up()
        again = self.run_victim("deliver", "wait:5000", "begin", "finish", endpoint=server.url())
        self.assertEqual((again["wait"], again["result"]), ("ok", "delivered"))
        self.assertGreater(int(again["pumped"]), 0)
        self.assertEqual(self.identities(server), {run.uuid: ["brief", "full"]})

    def test_the_server_is_told_that_somebody_waits(self):
        server = self.server()
        self.owe(server=server)
        self.nudge("wait")
        self.run_agent()
        self.assertEqual([request.headers["x-launchguard-via"] for request in server.requests], ["wait"] * 2)

    def test_handed_over(self):
        server = self.server(otherwise=scripted.hang)
        self.owe(server=server)
        run = self.run_victim("deliver", "wait:400", "begin", "finish", endpoint=server.url())
        self.assertEqual((run["wait"], run["result"], run["begin"]), ("ok", "handed-over", "ok"))
        self.assertGreaterEqual(int(run["waited"]), 399)

    def test_no_agent_lives(self):
        server = self.server(otherwise=scripted.hang)
        self.owe(server=server)
        path = self.folder / "launchguard-agent"
        shutil.copy(AGENT, path)
        go = self.folder / "go"
        child = self.start("deliver", "until:%s" % go, "wait:500", "begin", "finish", endpoint=server.url(), agent_path=path)
        wait_until(lambda: server.requests, "the agent sends")
        path.unlink()  # none can be started again
        self.end_agent(self.agent())
        go.touch()
        run = self.end(child)
        self.assertEqual((run["wait"], run["result"], run["begin"]), ("ok", "timeout", "ok"))

    def test_without_delivery(self):
        run = self.run_victim("wait:100", "report-now:x")
        self.assertEqual((run["wait"], run["result"], run["report-now"]), ("state", "untouched", "state"))
        run = self.run_victim("deliver", "wait:5001", endpoint="http://127.0.0.1:9/", agent_path=MISSING)
        self.assertIn(run["wait"], ("option", "state"))

    def test_the_time_does_not_count_for_the_launch(self):
        server = self.server(otherwise=scripted.hang)
        self.owe(server=server)
        run = self.run_victim("deliver", "begin", "wait:1500", "finish", endpoint=server.url(), window=100000)
        self.assertEqual((run["result"], run["finish"], run.status), ("handed-over", "ok", 0))

    def test_killed_while_it_waits(self):
        server = self.server(otherwise=scripted.hang)
        first = self.owe(server=server)
        child = self.start("deliver", "begin", "wait:5000", endpoint=server.url())
        self.attached(child)
        wait_until(lambda: server.requests, "the agent sends")
        child.kill()
        run = self.end(child)
        server.down()
        server.otherwise = scripted.status(200)
        server.up()
        wait_until(lambda: self.nudge() or len(self.entries("sent")) == 2, lambda: "both are sent: " + self.log())
        self.assertEqual(self.identities(server), {uuid: ["brief", "full"] for uuid in (first.uuid, run.uuid)})


if __name__ == "__main__":
    unittest.main()
