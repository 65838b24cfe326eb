"""Readers that others wrote take every event and log record, and find in it what the brief part
says.

They come from PyPI, into a folder of the build directory, once. Where pip cannot get them, the test
is skipped, and says why.
"""

import glob
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
GOLDEN = sorted(glob.glob(os.path.join(ROOT, "Tests/Golden/*.lgrun")))
SKIPPED = 77

sys.path += [os.path.join(ROOT, "Tests", folder) for folder in ("PyPI", "Export", "Delivery")]
import forms
import pypi
import streams

# Ends that somebody wished for.
QUIET = ("clean", "terminated", "upgrade", "reboot", "debugger")


def brief_of(path):
    return json.loads(subprocess.run([os.environ["COMPOSE_DUMP"], "--redact", "--brief", path], check=True, capture_output=True, timeout=60).stdout)


def secret_run(folder):
    """The run file of a program with a version and texts that no server takes as they are."""
    subprocess.run([os.environ["SECRETS"], folder], capture_output=True, timeout=60, check=False)
    return glob.glob(os.path.join(folder, "**/*.lgrun"), recursive=True)[0]


class Readers(unittest.TestCase):
    def setUp(self):
        import tempfile

        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.paths = GOLDEN + [secret_run(folder.name)]
        self.assertGreater(len(self.paths), 10)

    def test_sentry(self):
        from agent_requests import requests
        from sentry_sdk.envelope import Envelope

        for path in self.paths:
            with self.subTest(path):
                brief = brief_of(path)
                whole, small = requests("sentry", path)
                self.assertEqual((whole.url, small.url), ("https://reports.example:9000/path/api/42/envelope/",) * 2)
                self.assert_event(self.event(small, brief), brief)
                event = self.event(whole, brief)
                self.assertEqual(dict(event["tags"])["launchguard.fingerprint"], brief["fingerprint"])
                (attachment,) = [item for item in Envelope.deserialize(whole.body).items if item.headers["type"] == "attachment"]
                self.assertEqual(attachment.headers["filename"], "launchguard.json")
                full = json.loads(attachment.payload.get_bytes())
                self.assertEqual(full["report"]["uuid"], brief["uuid"])
                if path == self.paths[-1]:  # a program that is there
                    frames = event["exception"]["values"][0]["stacktrace"]["frames"]
                    self.assertIn("main", [frame.get("function") for frame in frames])
                    self.assertTrue(all("symbol_addr" in frame for frame in frames if frame.get("function")))
                crumbs = (event.get("breadcrumbs") or {}).get("values", [])
                self.assertEqual([crumb["message"] for crumb in crumbs], [entry["text"] for entry in full.get("breadcrumbs", {}).get("entries", [])])

    def event(self, request, brief):
        """The event as the server stores it, which finds nothing wrong in it."""
        from sentry_relay.processing import StoreNormalizer
        from sentry_sdk.envelope import Envelope

        envelope = Envelope.deserialize(request.body)
        self.assertEqual(envelope.headers["event_id"], brief["uuid"].replace("-", ""))
        self.assertNotIn("dsn", envelope.headers)
        self.assertIn("sent_at", envelope.headers)
        normal = StoreNormalizer(project_id=42).normalize_event(dict(envelope.get_event()))
        self.assertFalse(normal.get("errors"))
        self.assertFalse(normal.get("_meta"))
        return normal

    def assert_event(self, event, brief):
        (exception,) = event["exception"]["values"]
        self.assertEqual((event["level"], event["platform"]), ("info" if brief["end"] in QUIET else "fatal", "native"))
        self.assertNotIn("fingerprint", event)  # the server groups by its own rules
        self.assertEqual(exception["type"], brief.get("exception") or brief.get("signal") or brief["end"])
        self.assertFalse(exception["mechanism"]["handled"])
        tags = dict(event["tags"])
        self.assertEqual((tags["end"], tags["streak"]), (brief["end"], str(brief["streak"])))
        frames = exception.get("stacktrace", {}).get("frames", [])
        self.assertEqual([frame["instruction_addr"] for frame in reversed(frames)], [frame["address"] for frame in brief.get("frames", [])])
        self.assertEqual([frame.get("package") for frame in reversed(frames)], [frame.get("module") for frame in brief.get("frames", [])])
        images = event.get("debug_meta", {}).get("images", [])
        self.assertEqual({image["code_id"] for image in images}, {frame["buildID"] for frame in brief.get("frames", []) if "buildID" in frame})

    def test_opentelemetry(self):
        from google.protobuf import json_format
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        from agent_requests import requests

        def attributes(values):
            return {item.key: getattr(item.value, item.value.WhichOneof("value")) for item in values}

        for path in self.paths:
            with self.subTest(path):
                brief = brief_of(path)
                whole, small = requests("otlp", path)
                message = json_format.Parse(whole.body.decode(), ExportLogsServiceRequest())
                record = message.resource_logs[0].scope_logs[0].log_records[-1]
                self.assertEqual(record.event_name, "app.crash")
                if path == self.paths[-1]:
                    self.assertRegex(attributes(record.attributes)["exception.stacktrace"], r"(?m)^#\d+ 0x\w+ report-secrets\+0x\w+ in main \+ \d+$")
                message = json_format.Parse(small.body.decode(), ExportLogsServiceRequest())
                (resource_logs,) = message.resource_logs
                (scope_logs,) = resource_logs.scope_logs
                (record,) = scope_logs.log_records
                found, resource = attributes(record.attributes), attributes(resource_logs.resource.attributes)
                self.assertEqual((record.severity_number, record.event_name), (9 if brief["end"] in QUIET else 21, "app.crash"))
                self.assertEqual(record.observed_time_unix_nano, 1767225601000000000)
                self.assertEqual(found["log.record.uid"], brief["uuid"])
                self.assertEqual(found["exception.type"], brief.get("exception") or brief.get("signal") or brief["end"])
                self.assertEqual(found["launchguard.streak"], brief["streak"])
                self.assertEqual(found.get("exception.stacktrace", "").count("\n"), len(brief.get("frames", [])))
                self.assertEqual(resource["service.name"], brief["appID"])
                self.assertEqual(resource.get("host.id"), brief.get("system", {}).get("machineID"))


    def test_minidumps(self):
        """Both forms are read by Python's parser of mail, the minidump in them by PyPI's minidump:
        what it says of the thread is what the brief part says."""
        from agent_requests import requests

        for path in self.paths:
            with self.subTest(path):
                brief = brief_of(path)
                crashed = "signalNumber" in brief and "kind" in brief
                for request in requests("minidump", path):
                    fields, files = forms.read(request.headers["Content-Type"], request.body)
                    self.assertEqual({"prod": brief["appID"], "sentry[event_id]": brief["uuid"].replace("-", "")}, {key: fields[key] for key in ("prod", "sentry[event_id]")})
                    self.assertEqual((fields.get("ver"), fields.get("Version"), fields["launchguard.run"]), (brief.get("appVersion"),) * 2 + (brief["runUUID"],))
                    self.assertEqual(fields["launchguard.end"].split()[0], brief["end"])
                    self.assertEqual(list(files), ["upload_file_minidump"])
                    name, kind, dump = files["upload_file_minidump"]
                    self.assertEqual((name, kind), (brief["uuid"] + ".dmp", "application/octet-stream"))
                    self.assertLessEqual({3, 4, 5, 7}, set(streams.streams(dump)))
                    for key, value in streams.annotations(dump)[1].items():
                        if key.isascii() and key.isprintable():  # others are escaped
                            self.assertEqual(fields[key], value)
                    self.assert_dump(dump, brief, crashed)

    def assert_dump(self, dump, brief, crashed):
        import io
        import logging
        from minidump.minidumpfile import MinidumpFile

        logging.disable()  # it looks for parts that only Windows has
        found = MinidumpFile.parse_buff(io.BytesIO(dump))
        self.assertEqual(bool(found.exception), crashed)
        if crashed:
            (record,) = found.exception.exception_records
            self.assertEqual((record.ExceptionRecord.ExceptionCode_raw, record.ThreadId), (brief["signalNumber"], brief["thread"]["id"]))
        by_address = {module.baseaddress: module for module in found.modules.modules}
        for frame in brief.get("frames", []):
            if "module" in frame:
                module = by_address[int(frame["address"], 16) - int(frame["offset"], 16)] if "start" not in frame else by_address[int(frame["start"], 16)]
                self.assertEqual(module.name.rsplit("/")[-1], frame["module"].rsplit("/")[-1])
                self.assertLess(int(frame["address"], 16), module.endaddress)


if __name__ == "__main__":
    reason = pypi.run_again(os.environ["VENV"], "sentry-relay", "sentry-sdk", "opentelemetry-proto", "minidump")
    if reason:
        print(f"skipped: the readers cannot be had: {reason}")
        sys.exit(SKIPPED)
    unittest.main()
