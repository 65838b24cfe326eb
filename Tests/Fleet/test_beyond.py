#!/usr/bin/env python3
"""docs/FLEET.md, docs/FLEET-AT-SCALE.md and docs/DELIVERY.md on servers: test_beyond.py --tool T
--victim V --agent A --entries E

One program crashes in two ways, and its agent sends the reports to servers on 127.0.0.1. Their
counts by fingerprint, made as the page says, equal those of `launchguard top` in the same runs.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGETS = (ROOT / "docs/DELIVERY.md").read_text(encoding="utf-8").split("## Targets")[1]
LIMIT_S = 300

parser = argparse.ArgumentParser()
for name in "--tool", "--victim", "--agent", "--entries":
    parser.add_argument(name, required=True, type=os.path.abspath)
options, rest = parser.parse_known_args()
if not os.path.exists(options.agent):
    print("test_beyond.py is left out: launchguard-agent was not built: its libraries are missing")
    sys.exit(0)
os.environ.update(VICTIM=options.victim, FAULTY_VICTIM=options.victim, AGENT=options.agent, FAULTY_AGENT=options.agent, ENTRIES=options.entries, DUMP="")
sys.path[:0] = [str(HERE.parent / "Delivery"), str(HERE.parent / "Export")]

import page_at_scale
import readers
from delivery import GIVEN, OTLP, SENTRY, DeliveryTest

CRASHES, ABORTS = 7, 2
# A container or a fresh image may have no id, and then no report names its machine.
MACHINE_ID = pathlib.Path("/etc/machine-id")
HAS_ID = MACHINE_ID.exists() and re.fullmatch("[0-9a-f]{32}", MACHINE_ID.read_text().strip()) is not None


class Beyond(DeliveryTest):
    def sent(self, target, endpoint):
        """The bodies that a server took, and the runs of each fingerprint that top counts."""
        server = self.server()
        for kind in ["crash"] * CRASHES + ["abort"] * ABORTS:
            self.owe("begin", kind, endpoint=endpoint(server), target=target, consent=GIVEN)
        self.assertEqual(self.run_agent(), 0)
        tool = [options.tool, "collect", "--no-symbols", "--into", self.folder / "fleet.db", self.state]
        subprocess.run(tool, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT_S)
        top = subprocess.run([options.tool, "top", "--json", self.folder / "fleet.db"], check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout
        wanted = {group["fingerprints"][0]: group["runs"] for group in map(json.loads, top.splitlines())}
        self.assertEqual(sorted(wanted.values()), [ABORTS, CRASHES])
        bodies = [request.body.decode() for request in server.accepted()]
        self.assertLess(len({request.headers["x-request-id"].split("/")[0] for request in server.accepted()}), CRASHES + ABORTS,
                        "no report stands for more runs: the test shows less than it says")
        return bodies, wanted

    def test_configuration(self):
        """What the page shows of spool/config is what is written."""
        wanted = re.search("^```\n(launchguard-delivery.*?)^```", TARGETS, re.MULTILINE | re.DOTALL).group(1)
        endpoint = re.search("^endpoint=(.*)$", wanted, re.M).group(1)
        self.assertIn(f'options.endpoint = "{endpoint}";', re.search("^```c\n(.*?)^```", TARGETS, re.M | re.S).group(1))
        self.run_victim("deliver", endpoint=endpoint, target=OTLP, consent=GIVEN, agent_path="/nonexistent/launchguard-agent")
        self.assertEqual((self.spool / "config").read_text(), wanted)

    def test_sentry(self):
        bodies, wanted = self.sent(SENTRY, lambda server: server.url("/42").replace("://", "://PUBLICKEY@"))
        counted = {}
        for body in bodies:
            lines = body.splitlines()
            if json.loads(lines[1])["type"] == "event":
                event = json.loads(lines[2])
                fingerprint = event["tags"]["launchguard.fingerprint"]
                counted[fingerprint] = counted.get(fingerprint, 0) + 1 + event["contexts"]["launchguard"].get("more", 0)
                self.assertEqual("user" in event and bool(event["user"]["id"]), HAS_ID)
        self.assertEqual(counted, wanted)

    def test_opentelemetry(self):
        bodies, wanted = self.sent(OTLP, lambda server: server.url("/v1/logs"))
        # As the collector's exporter `file` does: each request is a line.
        (self.folder / "crashes.json").write_text("".join(body.replace("\n", " ") + "\n" for body in bodies))
        python, reason = readers.install(pathlib.Path(options.tool).parent / "export-readers", "opentelemetry-proto")
        if not python:
            self.skipTest(f"opentelemetry-proto cannot be installed: {reason}")
        for number, body in enumerate(bodies):
            (self.folder / f"{number}.json").write_text(body)
            found, complaint = readers.read(python, "opentelemetry-proto", self.folder / f"{number}.json")
            self.assertIsNone(complaint)
            self.assertEqual([record["event"] for record in found["records"] if record["event"] != "launchguard.breadcrumb"], ["app.crash"])
            self.assertEqual("host.id" in found["resource"], HAS_ID)
        try:
            server = page_at_scale.Server(LIMIT_S, self.folder / "crashes.json")
        except page_at_scale.Missing as missing:
            self.skipTest(str(missing))
        self.addCleanup(server.stop)
        found = server.rows(page_at_scale.statements("postgresql").split("CREATE TEMP TABLE")[0] + page_at_scale.statements("collector") + page_at_scale.statements("devices"))
        self.assertEqual({row[0]: int(row[3]) for row in found}, wanted)
        self.assertEqual([row[1:3] for row in found], [["org.example.victim", str(int(HAS_ID))]] * 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
