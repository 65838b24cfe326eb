#!/usr/bin/env python3
"""`launchguard export --format sentry` and `otlp`: what servers read from the file is what the
record holds, and no secret is in it."""
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import unittest
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Operator"), str(HERE.parent / "Support"), str(HERE)]

import operator_case
import seeds
from operator_case import LIMIT_S, ROOT
from test_export import DAMAGED, GOLDEN, NOT_FOUND, USAGE, ExportCase, number
from waiting import wait_until

FORMATS = ("sentry", "otlp")
ALL_FORMATS = (*FORMATS, "json", "text", "html", "journal", "swift", "minidump")
QUIET = ("clean", "terminated", "upgrade", "reboot", "debugger")
LEVELS = {"trace": ("debug", 1), "debug": ("debug", 5), "info": ("info", 9), "notice": ("info", 10), "warning": ("warning", 13), "error": ("error", 17),
          "critical": ("fatal", 21)}
SECRET = "planted"


def without_home(path):
    """As an export writes it: a checkout may lie in somebody's home directory."""
    homes = "|".join([re.escape(os.path.expanduser("~")), "/root", "(?:/var)?/home/[^/]+"])
    return re.sub(f"^(?:{homes})(?=/|$)", "~", path)


def nanoseconds(text):
    seconds, fraction = text.removesuffix("Z").split(".")
    return int(datetime.datetime.fromisoformat(seconds + "+00:00").timestamp()) * 10**9 + int(fraction)


class EndedCase(ExportCase):
    """Runs of the victim that ended in every way."""

    def inspected(self, path=None):
        """Nothing, where there is no run yet."""
        output = self.tool("inspect", "--json", "--no-symbols", *([path] if path else ["--last", self.state])).output
        return json.loads(output) if output else {}

    def ended(self, action, status):
        self.assertEqual(self.victim(action), status)
        return self.inspected()

    def hung(self):
        """A run that was killed while it hung, with the stacks of that moment."""
        process = subprocess.Popen([operator_case.options.victim, self.state, "hang"], stdout=subprocess.DEVNULL)
        try:
            wait_until(lambda: any(snapshot["isComplete"] for snapshot in self.inspected().get("snapshots", [])),
                       "the stacks of the hang are taken")
        finally:
            process.kill()
            process.wait()
        return self.inspected()

    def out_of_memory(self):
        script = ('group=/sys/fs/cgroup/launchguard-export-$$; [ -e /sys/fs/cgroup/cgroup.controllers ] || group=/sys/fs/cgroup/memory/launchguard-export-$$; '
                  'mkdir "$group" || exit 77; { echo 48M >"$group/memory.max" || echo 48M >"$group/memory.limit_in_bytes"; } 2>/dev/null || { rmdir "$group"; exit 77; }; '
                  '( echo 0 >"$group/cgroup.procs"; exec "$0" "$1" oom ); status=$?; '
                  'for i in 1 2 3 4 5 6 7 8 9 10; do rmdir "$group" 2>/dev/null && break; sleep .2; done; exit $status')
        result = operator_case.run(["/bin/sh", "-c", script, operator_case.options.victim, self.state])
        if result.status == 77:
            self.leave_out(f"no cgroup with a limit of memory can be made, which needs root: {result.errors.strip()}")
        run = self.inspected()
        if run["verdict"]["end"] != "oom":
            self.leave_out(f"what the kernel ended is not known here, which /dev/kmsg would say: {run['verdict']}")
        return run


class ServerCase(EndedCase):
    def setUp(self):
        super().setUp()
        self.agent = operator_case.options.agent
        if not self.agent or not self.agent.is_file():
            self.leave_out("launchguard-agent was not built: its libraries are missing")

    def tool(self, *arguments, **variables):
        return super().tool(*arguments, **{"LAUNCHGUARD_AGENT": str(self.agent), **variables})

    def exported(self, format, *arguments):
        """What the agent sends: it has no symbols."""
        return super().exported(format, "--no-symbols", *arguments)

    def named(self, format):
        """With symbols, the same, and the functions of a crash as inspect shows them."""
        self.assertEqual(self.victim("crash"), -signal.SIGSEGV)
        ExportCase.exported(self, format, self.state)
        run = json.loads(self.tool("inspect", "--json", "--last", self.state).output)
        crash = run["crash"]
        return run, (crash.get("dwarfStack") or crash["framePointerStack"])["frames"]

    def event(self):
        """The event as Sentry would store it, and the attachment. The envelope is whole, and
        Sentry says nothing against the event."""
        envelope = self.read("sentry-sdk")
        self.assertEqual([headers["type"] for headers, _ in envelope["items"]], ["event", "attachment"])
        self.assertEqual(set(envelope["headers"]), {"event_id"})
        event = self.directory / "event.json"
        event.write_text(envelope["items"][0][1])
        found = self.read("sentry-relay", event)
        self.assertEqual(found["errors"], [])
        headers, text = envelope["items"][1]
        self.assertEqual((headers["filename"], headers["attachment_type"]), ("launchguard.json", "event.attachment"))
        return found["event"], json.loads(text)

    def moment(self, run):
        """The event of the stacks, its thread with the frames, and the other threads."""
        crash = run.get("crash")
        if run["verdict"]["end"] == "crash" and crash:
            stack = crash.get("dwarfStack") or crash.get("framePointerStack")
            return crash["threadID"], stack and stack["frames"], crash.get("registers", []), crash.get("threads", [])
        going = [snapshot for snapshot in run.get("snapshots", []) if "resolvedNanoseconds" not in snapshot]
        if not going:
            return None, None, [], []
        newest = max(going, key=lambda snapshot: snapshot["takenNanoseconds"])
        own = [thread for thread in newest["threads"] if thread["threadID"] == newest["threadID"]]
        if run["verdict"]["end"] != "hang" or not own:
            return None, None, [], newest["threads"]
        return own[0]["threadID"], own[0]["stack"]["frames"], own[0].get("registers", []), [thread for thread in newest["threads"] if thread != own[0]]


class Sentry(ServerCase):
    def test_names(self):
        """An inlined function is a frame of its own, after its caller."""
        run, frames = self.named("sentry")
        event, _ = self.event()
        wanted = [(hex(number(frame["lookup"])), symbol["name"], symbol.get("line")) for frame in frames for symbol in frame.get("symbols") or [{"name": None}]]
        (exception,) = event["exception"]["values"]
        self.assertEqual([(hex(number(frame["instruction_addr"])), frame.get("function"), frame.get("lineno")) for frame in reversed(exception["stacktrace"]["frames"])], wanted)
        self.assertTrue(any(line for _, _, line in wanted))
        self.assertRegex(dict(event["tags"])["launchguard.bug"], "^[0-9a-f]{32}$")
        self.assertNotEqual(dict(event["tags"])["launchguard.bug"], run["fingerprint"])
        self.assertNotIn(os.path.expanduser("~") + "/", self.file.read_text())

    def addresses(self, trace):
        return [number(frame["instruction_addr"]) for frame in reversed((trace or {}).get("frames") or [])]

    def check(self, run):
        event, attachment = self.event()
        identity, end = run["identity"], run["verdict"]["end"]
        self.assertEqual(event["event_id"], identity["uuid"].replace("-", ""))
        self.assertEqual(event["level"], "info" if end in QUIET else "fatal")
        self.assertNotIn("fingerprint", event)  # the server groups by its own rules
        self.assertEqual(dict(event["tags"])["launchguard.fingerprint"], run["fingerprint"])
        self.assertEqual(attachment["report"]["fingerprint"], run["fingerprint"])
        differ = ("executable", "userID", "bootID")
        self.assertEqual({key: value for key, value in attachment["identity"].items() if key != "executable"},
                         {key: value for key, value in identity.items() if key not in differ})
        self.assertEqual(dict(event["tags"])["end"], end)
        own, frames, registers, others = self.moment(run)
        (exception,) = event["exception"]["values"]
        threads = {thread["id"]: thread for thread in (event.get("threads") or {}).get("values", [])}
        self.assertEqual(set(threads), {thread["threadID"] for thread in others} | ({own} if own else set()))
        if own:
            self.assertEqual((exception["thread_id"], threads[own]["crashed"]), (own, True))
            self.assertEqual(self.addresses(exception["stacktrace"]), [number(frame["lookup"]) for frame in frames])
            self.assertEqual(exception["stacktrace"].get("registers", {}), {cell["name"]: hex(number(cell["value"])) for cell in registers})
        for thread in others:
            found = threads[thread["threadID"]]
            self.assertEqual((found.get("name"), found["crashed"]), (thread.get("name"), False))
            self.assertEqual(self.addresses(found.get("stacktrace")), [number(frame["lookup"]) for frame in thread.get("stack", {}).get("frames", [])])
        modules = [module for module in run.get("modules", []) if "buildID" in module]
        self.assertEqual([(image["code_file"], image["code_id"], uuid.UUID(image["debug_id"]), number(image["image_addr"]), image["image_size"])
                          for image in (event.get("debug_meta") or {}).get("images", [])],
                         [(without_home(module["path"]), module["buildID"], uuid.UUID(bytes_le=bytes.fromhex(module["buildID"])[:16]), number(module["start"]),
                           number(module["end"]) - number(module["start"])) for module in modules])
        self.check_words(event, run)
        return event

    def check_words(self, event, run):
        wanted = {entry["key"]: entry["value"].replace("/home/planted-user", "~") for entry in run.get("annotations", []) if not entry["isRedacted"]}
        found = dict(event["contexts"].get("annotations", {}))
        self.assertEqual(found.pop("type", "annotations"), "annotations")
        self.assertEqual({key.removeprefix("annotation."): value for key, value in found.items()}, wanted)
        tags = dict(event["tags"])
        self.assertEqual((tags["screen"], tags["document"], tags["end"]), ("settings", "~/letter", run["verdict"]["end"]))
        self.assertFalse({"lines", "a key with spaces", "token"} & set(tags))
        crumbs, entries = event["breadcrumbs"]["values"], run["breadcrumbs"]["entries"]
        self.assertEqual(len(crumbs), len(entries))
        for crumb, entry in zip(crumbs, entries):
            self.assertEqual((crumb["message"], crumb["level"], crumb.get("category")),
                             (entry["text"].replace("/home/planted-user", "~"), LEVELS[entry["level"]][0], entry.get("category")))
            self.assertAlmostEqual(crumb["timestamp"] * 10**9, nanoseconds(entry["time"]), delta=10**6)
            fields = {field["key"]: field["value"].replace("/home/planted-user", "~") for field in entry.get("fields", []) if "value" in field}
            self.assertEqual(crumb["data"], {"thread.id": entry["threadID"], **fields})

    def test_crash(self):
        run = self.ended("crash", -signal.SIGSEGV)
        self.exported("sentry", self.state)
        event = self.check(run)
        (exception,) = event["exception"]["values"]
        mechanism = exception["mechanism"]
        self.assertEqual((exception["type"], mechanism["meta"]["signal"]["code_name"]), ("SIGSEGV", "SEGV_MAPERR"))
        self.assertEqual(number(mechanism["data"]["relevant_address"]), number(run["crash"]["address"]))
        self.assertEqual(len(event["threads"]["values"]), 4)
        self.assertEqual([thread["main"] for thread in event["threads"]["values"]].count(True), 1)
        self.assertEqual((event["release"], event["dist"], event["environment"]),
                         ("org.example.server@1.1_beta 2", run["identity"]["buildID"], "the_test bench"))
        self.assertEqual(exception["value"], run["crash"]["what"])
        self.assertEqual(len(event["breadcrumbs"]["values"]), 7)

    def test_hang(self):
        run = self.hung()
        self.assertEqual(run["verdict"]["end"], "hang")
        self.exported("sentry", self.state)
        event = self.check(run)
        self.assertEqual(event["exception"]["values"][0]["type"], "hang")
        self.assertGreaterEqual(len(event["threads"]["values"]), 4)

    def test_thread_without_frames(self):
        """Its registers are there and its walk is not, as where a handler was killed between the
        two: an event's stack needs a frame."""
        run = self.ended("crash", -signal.SIGSEGV)
        (path,) = (self.state / "runs").iterdir()
        thread = run["crash"]["threads"][0]
        data = path.read_bytes()
        walk = b"".join(struct.pack("<Q", number(frame["address"])) for frame in thread["stack"]["frames"])
        self.assertIn(walk, data)
        damaged = self.directory / "damaged.lgrun"
        damaged.write_bytes(data.replace(walk, bytes([walk[0] ^ 1]) + walk[1:]))
        run = self.inspected(damaged)
        self.assertTrue(run["crash"]["threads"][0]["registers"])
        self.assertNotIn("stack", run["crash"]["threads"][0])
        self.assertEqual(self.export("sentry", "--no-symbols", "-o", self.file, damaged).status, DAMAGED)
        self.check(run)

    def test_killed(self):
        run = self.ended("kill", -signal.SIGKILL)
        self.exported("sentry", self.state)
        self.assertNotIn("stacktrace", self.check(run)["exception"]["values"][0])

    def test_out_of_memory(self):
        run = self.out_of_memory()
        self.exported("sentry", self.state)
        self.check(run)

    def test_clean(self):
        """Delivery would not send it, but who names a run gets its file."""
        run = self.ended("exit", 0)
        self.exported("sentry", "--run", "1", self.state)
        self.assertEqual(self.check(run)["level"], "info")

    def test_size(self):
        """Sentry takes an event of 1 MiB: the outermost frames of the other threads give way, and
        are in the attachment."""
        folder = self.directory / ("a-long-name-" * 12)
        folder.mkdir()
        program = shutil.copy(operator_case.options.victim, folder)
        self.assertEqual(operator_case.run([program, self.state, "many"]).status, -signal.SIGSEGV)
        run = self.inspected()
        self.exported("sentry", self.state)
        envelope = self.read("sentry-sdk")
        self.assertLess(len(envelope["items"][0][1]), 1 << 20)
        event, attachment = self.event()
        others = {thread["threadID"]: [number(frame["lookup"]) for frame in thread["stack"]["frames"]] for thread in run["crash"]["threads"]}
        self.assertGreater(sum(map(len, others.values())), 5000)
        shown = {thread["id"]: self.addresses(thread.get("stacktrace")) for thread in event["threads"]["values"]}
        self.assertEqual(set(shown), set(others) | {run["crash"]["threadID"]})
        for thread, frames in others.items():
            self.assertGreater(len(shown[thread]), 9)
            self.assertEqual(shown[thread], frames[:len(shown[thread])])
        self.assertLess(sum(map(len, shown.values())), sum(map(len, others.values())), "nothing gave way: the test shows nothing")
        self.assertEqual({thread["threadID"]: [number(frame["lookup"]) for frame in thread["stack"]["frames"]] for thread in attachment["crash"]["threads"]}, others)
        self.assertEqual(self.addresses(event["exception"]["values"][0]["stacktrace"]), [number(frame["lookup"]) for frame in self.moment(run)[1]])


class OpenTelemetry(ServerCase):
    def lines(self, frames):
        return "".join(f"#{index} {hex(number(frame['lookup']))}"
                       + (f" {frame['module'].rsplit('/', 1)[-1]}+{hex(number(frame['fileAddress']))}" if "module" in frame else "") + "\n"
                       for index, frame in enumerate(frames))

    def without_functions(self, text):
        return re.sub(r"(?m) in \S.* \+ \d+$", "", text)

    def test_names(self):
        run, frames = self.named("otlp")
        (record,) = [record for record in self.read("opentelemetry-proto")["records"] if record["event"] == "app.crash"]
        lines = record["attributes"]["exception.stacktrace"].splitlines()
        wanted = [symbol for frame in frames for symbol in frame.get("symbols") or [{}]]
        self.assertEqual(len(lines), len(wanted))
        for line, symbol in zip(lines, wanted):
            if symbol:
                self.assertIn(f" in {symbol['name']}", line)
            if "line" in symbol:
                self.assertTrue(line.endswith(f":{symbol['line']}"), line)
        self.assertTrue(any("line" in symbol for symbol in wanted))
        self.assertTrue(any(" in " in thread.get("stacktrace", "") for thread in record["attributes"]["launchguard.threads"]))
        self.assertNotEqual(record["attributes"]["launchguard.bug"], run["fingerprint"])

    def check(self, run):
        found = self.read("opentelemetry-proto")
        *crumbs, record = found["records"]
        identity, end, attributes = run["identity"], run["verdict"]["end"], record["attributes"]
        self.assertEqual((record["event"], record["severity"]), ("app.crash", 9 if end in QUIET else 21))
        self.assertEqual((found["resource"]["service.name"], found["resource"]["service.version"], found["resource"]["service.instance.id"]),
                         (identity["appID"], identity["appVersion"], identity["uuid"]))
        self.assertEqual((attributes["log.record.uid"], attributes["launchguard.end"], attributes["launchguard.fingerprint"]),
                         (identity["uuid"], end, run["fingerprint"]))
        _, frames, registers, others = self.moment(run)
        self.assertEqual(self.without_functions(attributes.get("exception.stacktrace", "")), self.lines(frames or []))
        self.assertEqual(attributes.get("launchguard.registers", {}), {cell["name"]: hex(number(cell["value"])) for cell in registers})
        for thread in attributes["launchguard.threads"]:
            if "stacktrace" in thread:
                thread["stacktrace"] = self.without_functions(thread["stacktrace"])
        self.assertEqual(attributes["launchguard.threads"],
                         [{"thread.id": thread["threadID"], **({"thread.name": thread["name"]} if "name" in thread else {}),
                           **({"stacktrace": self.lines(thread["stack"]["frames"])} if thread.get("stack", {}).get("frames") else {})} for thread in others])
        self.assertEqual(attributes["launchguard.modules"],
                         [{"path": without_home(module["path"]), "start": module["start"], "end": module["end"], **({"build_id": module["buildID"]} if "buildID" in module else {})}
                          for module in run.get("modules", [])])
        self.assertEqual({key.removeprefix("launchguard.annotation."): value for key, value in attributes.items() if key.startswith("launchguard.annotation.")},
                         {entry["key"]: entry["value"].replace("/home/planted-user", "~") for entry in run.get("annotations", []) if not entry["isRedacted"]})
        entries = run["breadcrumbs"]["entries"]
        self.assertEqual(len(crumbs), len(entries))
        for crumb, entry in zip(crumbs, entries):
            self.assertEqual((crumb["event"], crumb["body"], crumb["severity"], crumb["severity_text"]),
                             ("launchguard.breadcrumb", entry["text"].replace("/home/planted-user", "~"), LEVELS[entry["level"]][1], entry["level"]))
            self.assertEqual(crumb["time"], nanoseconds(entry["time"]))
            # Where a key comes twice, the first value counts.
            fields = {field["key"]: field["value"].replace("/home/planted-user", "~") for field in reversed(entry.get("fields", [])) if "value" in field}
            self.assertEqual(crumb["attributes"], {"thread.id": entry["threadID"], **({"launchguard.category": entry["category"]} if "category" in entry else {}),
                                                   **{f"launchguard.field.{key}": value for key, value in fields.items()}})
        return attributes

    def test_crash(self):
        run = self.ended("crash", -signal.SIGSEGV)
        self.exported("otlp", self.state)
        attributes = self.check(run)
        self.assertEqual((attributes["exception.type"], len(attributes["launchguard.threads"])), ("SIGSEGV", 3))
        self.assertRegex(attributes["exception.stacktrace"], r" in main \+ \d+\n")
        self.assertEqual(number(attributes["launchguard.fault_address"]), number(run["crash"]["address"]))

    def test_hang(self):
        run = self.hung()
        self.exported("otlp", self.state)
        self.assertEqual(self.check(run)["exception.type"], "hang")

    def test_killed(self):
        run = self.ended("kill", -signal.SIGKILL)
        self.exported("otlp", self.state)
        self.check(run)

    def test_out_of_memory(self):
        run = self.out_of_memory()
        self.exported("otlp", self.state)
        self.check(run)

    def test_many(self):
        run = self.ended("many", -signal.SIGSEGV)
        self.exported("otlp", self.state)
        self.assertGreater(len(self.check(run)["launchguard.threads"]), 60)


class Redaction(ServerCase):
    """Where a secret may be: annotations, fields, paths in texts, and the paths of files."""

    def setUp(self):
        super().setUp()
        home = self.directory / "planted-home"
        home.mkdir()
        program = shutil.copy(operator_case.options.victim, home)
        self.home = str(home)
        self.assertEqual(operator_case.run([program, self.state, "assert"]).status, -signal.SIGABRT)
        (path,) = (self.state / "runs").iterdir()
        self.record = path.read_bytes()

    def forms(self):
        for format in FORMATS:
            result = self.export(format, "-o", self.file, self.state, HOME=self.home)
            self.assertEqual((result.status, result.errors), (0, ""), result)
            text = self.file.read_text()
            self.assertNotIn(SECRET, text)
            yield format, text

    def test_redacted_annotation(self):
        self.assertIn(b"planted-annotation", self.record)
        for _, text in self.forms():
            self.assertNotIn("planted-annotation", text)
            self.assertIn("settings", text)

    def test_field_of_a_redacted_key(self):
        self.assertIn(b"planted-field", self.record)
        for _, text in self.forms():
            self.assertNotIn("planted-field", text)
            self.assertIn('"12"', text)

    def test_home_in_texts(self):
        self.assertIn(b"no /home/planted-user/index", self.record)
        for _, text in self.forms():
            for words in ("no ~/index", "opened ~/notes.db", "~/letter", "~/notes.db"):
                self.assertIn(words, text)

    def test_home_in_paths(self):
        self.assertIn(self.home.encode(), self.record)
        for _, text in self.forms():
            self.assertIn("~/server-victim", text)

    def test_damage_that_hides_what_is_redacted(self):
        (path,) = (self.state / "runs").iterdir()
        damaged = self.directory / "damaged.lgrun"
        damaged.write_bytes(self.record.replace(b"token\0", b"nekot\0"))
        self.assertNotEqual(damaged.read_bytes(), path.read_bytes())
        for format in FORMATS:
            result = self.export(format, "-o", self.file, damaged, HOME=self.home)
            self.assertEqual(result.status, DAMAGED, result)
            text = self.file.read_text()
            self.assertIn("opened ~/notes.db", text)
            self.assertNotIn(SECRET, text)


class RedactionOfTexts(ServerCase):
    def test_no_format_has_a_value_in_a_text(self):
        self.assertEqual(self.victim("texts"), -signal.SIGABRT)
        (path,) = (self.state / "runs").iterdir()
        record = path.read_bytes()
        for format in ALL_FORMATS:
            data = self.exported(format, self.state)
            self.assertTrue(b"harmless" in data, f"{format} has no text: the test shows nothing")
            for secret in b"planted-annotat", b"planted-field", b"planted-after-key":
                self.assertTrue(secret in record, f"{secret} is not there: the test shows nothing")
                for form in secret, secret.decode().encode("utf-16-le"):
                    # what only the text knows as a secret is in the memory that a minidump has
                    if format != "minidump" or secret != b"planted-after-key":
                        self.assertFalse(form in data, f"{format} has {secret}")


class Schema(EndedCase):
    def test_json(self):
        """The output of --format json fits docs/schema, and has a fingerprint."""
        lines = []
        for make, end in [(lambda: self.ended("crash", -signal.SIGSEGV), "crash"), (self.hung, "hang"), (lambda: self.ended("kill", -signal.SIGKILL), "unknown"),
                          (lambda: self.ended("exit", 0), "clean"), (self.out_of_memory, "oom")]:
            try:
                run = make()
            except unittest.SkipTest:
                continue  # the reason is printed
            self.assertEqual(run["verdict"]["end"], end)
            self.assertRegex(run["fingerprint"], "^[0-9a-f]{32}$")
            newest = max((self.state / "runs").iterdir())
            lines.append(self.exported("json", newest))
            self.assertEqual(json.loads(lines[-1])["fingerprint"], run["fingerprint"])
            damaged = bytearray(newest.read_bytes())
            for place in range(4096, len(damaged), 61):
                damaged[place] ^= 0xFF
            path = self.directory / "damaged.lgrun"
            path.write_bytes(damaged)
            self.assertEqual(self.export("json", "-o", self.file, path).status, DAMAGED)
            lines.append(self.file.read_bytes())
        every = self.directory / "every.json"
        every.write_bytes(b"".join(lines))
        command = [sys.executable, "-B", ROOT / "Tests/Schema/validate.py", operator_case.options.tool.parent / "export-readers/jsonschema", every]
        result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if result.returncode == 77:
            self.leave_out(result.stdout.strip())
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(f" run={len(lines)} ", result.stdout.replace("\n", " ") + " ")


class Choice(ServerCase):
    def test_agent_writes_the_same(self):
        """Without symbols the bytes are those of the agent, and the same at each time."""
        self.ended("crash", -signal.SIGSEGV)
        (path,) = (self.state / "runs").iterdir()
        before = sorted((entry, entry.stat().st_mtime_ns, entry.stat().st_size) for entry in self.state.rglob("*"))
        for format in FORMATS:
            theirs = operator_case.run([self.agent, "--export", format, "--run", path])
            self.assertEqual((theirs.status, theirs.errors), (0, ""))
            self.assertEqual(self.export(format, "--no-symbols", self.state).output, theirs.output)
            self.assertEqual(self.exported(format, path).decode(), theirs.output)
        self.assertEqual(sorted((entry, entry.stat().st_mtime_ns, entry.stat().st_size) for entry in self.state.rglob("*")), before)

    def test_all_and_tarball(self):
        self.ended("crash", -signal.SIGSEGV)
        self.ended("kill", -signal.SIGKILL)
        self.ended("exit", 0)
        subprocess.run(["tar", "-C", self.directory, "-czf", self.directory / "device.tar.gz", "state"], check=True, timeout=LIMIT_S)
        stems = [path.name.removesuffix(".lgrun") for path in sorted((self.state / "runs").iterdir())]
        for format, suffix in [("sentry", ".envelope"), ("otlp", ".otlp.json")]:
            folders = [self.directory / format, self.directory / (format + "-of-tarball")]
            for folder, source in zip(folders, [self.state, self.directory / "device.tar.gz"]):
                result = self.export(format, "--all", "-o", folder, source)
                self.assertEqual((result.status, result.errors), (0, ""), result)
                self.assertEqual(sorted(path.name for path in folder.iterdir()), [stem + suffix for stem in stems[:2]])
            self.assertEqual(*[(folder / (stems[1] + suffix)).read_bytes() for folder in folders])
            # A path of the agent is meant from where the tool is started.
            (self.directory / "agent").unlink(missing_ok=True)
            (self.directory / "agent").symlink_to(self.agent)
            for words, variables in [(["--agent", "./agent"], {}), ([], {"LAUNCHGUARD_AGENT": "./agent"})]:
                result = operator_case.run([operator_case.options.tool, "export", "--format", format, *words, "device.tar.gz"], variables, cwd=self.directory)
                self.assertEqual((result.status, result.output.encode()), (0, (folders[0] / (stems[1] + suffix)).read_bytes()), result.errors)

    def test_living_run(self):
        process = subprocess.Popen([operator_case.options.victim, self.state, "hang"], stdout=subprocess.PIPE)
        try:
            self.assertEqual(process.stdout.readline(), b"hangs\n")
            for format in FORMATS:
                for source in (["--run", "1", self.state], [next((self.state / "runs").iterdir())]):
                    result = self.export(format, "-o", self.file, *source)
                    self.assertEqual(result.status, NOT_FOUND, result)
                    self.assertIn(f"process {process.pid} lives", result.errors)
            self.assertFalse(self.file.exists())
            (path,) = (self.state / "runs").iterdir()
            self.assertEqual(operator_case.run([self.agent, "--export", "otlp", "--run", path]).status, 7)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_no_agent(self):
        self.ended("crash", -signal.SIGSEGV)
        for format in FORMATS:
            result = self.export(format, self.state, LAUNCHGUARD_AGENT="/nonexistent")
            self.assertEqual((result.status, result.output), (NOT_FOUND, ""))
            self.assertIn("launchguard-agent was not found; install it, or name it with --agent", result.errors)
            for program in ("/bin/false", "/bin/true"):
                result = self.export(format, "--agent", program, "-o", self.file, self.state)
                self.assertEqual(result.status, NOT_FOUND)
                self.assertIn(program + ": it wrote no report", result.errors)
        self.assertFalse(self.file.exists())
        self.assertEqual(self.export("json", self.state, LAUNCHGUARD_AGENT="/nonexistent").status, 0)

    def test_words_of_the_agent(self):
        for words in (["--export", "sentry"], ["--run", "x"], ["--export", "pdf", "--run", "x"], ["--export", "otlp", "--run", "x", "--state", "."]):
            result = operator_case.run([self.agent, *words])
            self.assertEqual((result.status, result.output), (USAGE, ""), result)

    def test_full_disk(self):
        self.ended("many", -signal.SIGSEGV)
        script = 'mount -t tmpfs -o size=16k none "$2" || exit 77; "$0" export --format sentry -o "$2/out" "$1"; echo "status $?"; ls -A "$2"'
        folder = self.directory / "full"
        folder.mkdir()
        result = operator_case.run(["unshare", "-m", "sh", "-c", script, operator_case.options.tool, self.state, folder], {"LAUNCHGUARD_AGENT": str(self.agent)})
        if result.status != 0:
            self.leave_out(f"no small disk can be mounted, which needs root: {result.errors.strip()}")
        self.assertEqual(result.output, f"status {NOT_FOUND}\n", result)
        self.assertIn("No space left on device", result.errors)
        with open("/dev/full", "wb") as full:
            (path,) = (self.state / "runs").iterdir()
            process = subprocess.run([self.agent, "--export", "sentry", "--run", path], stdout=full, stderr=subprocess.PIPE, timeout=LIMIT_S, check=False)
        self.assertEqual((process.returncode, b"standard output cannot be written" in process.stderr), (5, True), process)


class Hostile(ServerCase):
    """Whatever is in the file, what is written is read without an error."""

    def setUp(self):
        super().setUp()
        self.written = {format: [] for format in FORMATS}

    def write(self, path, name):
        for format in FORMATS:
            file = self.directory / f"{len(self.written[format])}.{format}"
            result = self.export(format, "-o", file, path)
            self.assertIn(result.status, (0, NOT_FOUND, DAMAGED), f"{name} as {format}: {result}")
            self.assertEqual(file.exists(), result.errors == "", f"{name} as {format}: {result}")
            if file.exists():
                self.written[format].append(file)

    def read_written(self, again=None):
        self.read_each("opentelemetry-proto", self.written["otlp"])
        events = []
        for envelope in self.read_each("sentry-sdk", self.written["sentry"]):
            events.append(self.directory / f"{len(events)}.json")
            events[-1].write_text(envelope["items"][0][1])
        self.assertEqual([found["errors"] for found in self.read_each("sentry-relay", events)], [[]] * len(events), again)
        return len(events)

    def test_golden_files(self):
        for path in GOLDEN[::3]:
            self.write(path, path)
        self.assertEqual(self.read_written(), len(GOLDEN[::3]))

    def test_damaged_files(self):
        path = self.directory / "damaged.lgrun"
        self.ended("crash", -signal.SIGSEGV)
        (fresh,) = (self.state / "runs").iterdir()
        for draw, again in seeds.draws("servers", "Hostile.test_damaged_files"):
            for count in range(8):
                whole = draw.choice([*GOLDEN, fresh, fresh, fresh])
                data = bytearray(whole.read_bytes())
                for _ in range(draw.randrange(1, 200)):
                    # The identity is spared: without one there is no report.
                    data[draw.randrange(4096, len(data))] = draw.randrange(256)
                path.write_bytes(data[:draw.randrange(len(data))] if draw.random() < .2 else data)
                self.write(path, f"{again}\n{count}: {whole}")
            self.assertGreater(self.read_written(again), 0)

    def test_no_identity(self):
        """Where the damage leaves open which run it was, the tool says so."""
        path = self.directory / "damaged.lgrun"
        whole = next(file for file in GOLDEN if b"org.example.writer" in file.read_bytes())
        data = bytearray(whole.read_bytes())
        place = data.index(b"org.example.writer")
        data[place] ^= 0xFF
        path.write_bytes(data)
        for format in FORMATS:
            result = self.export(format, "-o", self.file, path)
            self.assertEqual((result.status, self.file.exists()), (DAMAGED, False), result)
            self.assertIn("the damage leaves open which run this is", result.errors)

    def test_other_files(self):
        for path in [ROOT / "Tests/Golden/ledger.lg", "/dev/null", self.directory, self.directory / "none", pathlib.Path(__file__)]:
            for format in FORMATS:
                result = self.export(format, "-o", self.file, path)
                self.assertIn(result.status, (NOT_FOUND, DAMAGED), result)
                self.assertNotEqual(result.errors, "")
                self.assertFalse(self.file.exists())
                if path != self.directory:
                    direct = operator_case.run([self.agent, "--export", format, "--run", path])
                    self.assertEqual((direct.status, direct.output), (7, ""), direct)


if __name__ == "__main__":
    operator_case.main()
