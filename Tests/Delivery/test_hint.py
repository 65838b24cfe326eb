"""The way back: a hint that the vendor signed comes with a positive answer, and the next launch
follows it. Hints are made with the commands of docs/DELIVERY.md."""
import base64
import json
import re
import shutil
import subprocess
import time
import unittest

from delivery import DUMP, HERE, LIMIT, DeliveryTest
from waiting import wait_until

APP = "org.example.victim"
LEAVE_OUT, REPAIR, SAFE_MODE, HOLD_BELOW = (1 << bit for bit in range(17, 21))  # LG_EVENT_HINT_*
BY_RULE, GO_ON = 0, 1
CUSTODY, NO_HOLD = 1, 2
DONE = 0


def openssl(*arguments, folder, **options):
    return subprocess.run(["openssl", *arguments], cwd=folder, check=True, timeout=LIMIT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options).stdout


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Hints(DeliveryTest):
    def setUp(self):
        super().setUp()
        self.key = self.make_key("vendor")

    def make_key(self, name):
        """A key of the vendor; returns its public half as hint_key."""
        openssl("genpkey", "-algorithm", "ed25519", "-out", name + ".pem", folder=self.folder)
        public = openssl("pkey", "-in", name + ".pem", "-pubout", "-outform", "DER", folder=self.folder)
        return base64.b64encode(public[-32:]).decode()

    def sign(self, document, key="vendor"):
        """The header of a document: a text, or members that are added to those of a right one."""
        if isinstance(document, dict):
            whole = {"app": APP, "serial": 1, "expires": int(time.time()) + 3600} | document
            document = json.dumps({name: value for name, value in whole.items() if value is not None})
        (self.folder / "hint.json").write_text(document)
        openssl("pkeyutl", "-sign", "-rawin", "-inkey", key + ".pem", "-in", "hint.json", "-out", "hint.sig", folder=self.folder)
        return base64url(document.encode()) + "." + base64url((self.folder / "hint.sig").read_bytes())

    def answer(self, *headers):
        """A server whose answers have these headers."""
        def answer(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + b"".join(b"X-LaunchGuard-Hint: %s\r\n" % header.encode() for header in headers) + b"\r\n{}")
        answer.code = 200
        return self.server(otherwise=answer)

    def bring(self, *headers, key="", **options):
        """A program that crashes, and an agent that gets these hints with the answer."""
        options.setdefault("hint_key", self.key if key == "" else key)
        shutil.rmtree(self.spool, ignore_errors=True)  # else the fourth equal crash would wait
        server = self.answer(*headers)
        run = self.owe("begin", "crash", server=server, **options)
        self.assertEqual(self.run_agent(), DONE)
        self.assertIn(run.uuid, self.identities(server))

    def hint(self):
        """The hint in the ledger, as the public reader has it; None: there is none."""
        done = subprocess.run([DUMP, str(self.state / "ledger.lg")], stdout=subprocess.PIPE, timeout=LIMIT, check=True)
        return json.loads(done.stdout).get("hint")

    def launch(self, *steps, **options):
        """A life that launches all its tasks and ends well, without a word to the agent."""
        run = self.run_victim(*(steps or ("task:maps", "task:music", "repair:reset", "repair:wipe")), "begin", "launched:60000", "show", "finish", **options)
        return run, run.said.get("task", []), run.said.get("repair", [])

    def events(self):
        """What the timeline says of the last run, once another one has begun."""
        self.run_victim()
        done = subprocess.run([DUMP, str(self.state / "ledger.lg")], stdout=subprocess.PIPE, timeout=LIMIT, check=True)
        return json.loads(done.stdout)["timeline"][-1]["events"][0]


class Page(Hints):
    def test_the_commands_of_the_page(self):
        page = (HERE.parents[1] / "docs/DELIVERY.md").read_text()
        commands = re.search(r"```sh\n(openssl genpkey.*?)```", page, re.S)[1].replace("org.example.player", APP)
        done = subprocess.run(["bash", "-euc", commands], cwd=self.folder, check=True, timeout=LIMIT, stdout=subprocess.PIPE, text=True)
        key, header = done.stdout.split("\n", 1)
        self.bring(header.split(": ")[1].strip(), key=key)
        self.assertEqual((self.hint()["kind"], self.hint()["name"]), (1, "maps"), self.log())


class Loops(Hints):
    """A loop that a hint ends, from the crash to the server and back."""

    def test_leave_out(self):
        server = self.answer(self.sign({"leave_out": "maps"}))
        steps = "deliver", "witness", "bad-task:maps", "task:music", "begin"
        first = self.run_victim(*steps, endpoint=server.url(), hint_key=self.key)
        self.assertEqual((first.said["task"], first.status), (["maps"], -11))
        wait_until(lambda: 'hint 1 of the vendor: leave out the task "maps" of launch "main"' in self.log(), self.log)
        second = self.run_victim(*steps, "launched:60000", "show", "finish", endpoint=server.url(), hint_key=self.key)
        self.assertEqual((second.said["task"], second.status, second["mode"]), (["music"], 0, "normal"))
        self.assertEqual(self.events() & LEAVE_OUT, LEAVE_OUT)

    def test_a_loop_that_asks_for_a_repair(self):
        """The hint leaves out the task that the last end came in: no repair is needed."""
        for _ in range(2):
            self.run_victim("bad-task:maps", "begin")
        self.bring(self.sign({"leave_out": "maps"}))  # which also crashes, in no task
        self.run_victim("bad-task:maps", "begin", decision=GO_ON, shadow=1)
        run, tasks, repairs = self.launch("bad-task:maps", "task:music", "repair:reset")
        self.assertEqual((tasks, repairs, run.status), (["music"], [], 0))


class Acts(Hints):
    """What each hint does in the next life."""

    def test_repair(self):
        self.bring(self.sign({"repair": "wipe"}))
        run, tasks, repairs = self.launch()
        self.assertEqual((tasks, repairs, run["mode"]), (["maps", "music"], ["wipe"], "probation"))
        self.assertEqual(self.launch()[2], [])  # once
        self.bring(self.sign({"repair": "wipe", "serial": 2}))
        self.assertEqual(self.launch()[2], ["wipe"])
        self.assertTrue(self.events() & REPAIR)

    def test_a_repair_that_fails_is_tried_once(self):
        self.bring(self.sign({"repair": "reset"}))
        steps = "task:maps", "bad-repair:reset", "repair:wipe"
        run, tasks, repairs = self.launch(*steps)
        self.assertEqual((tasks, repairs, run["mode"]), (["maps"], ["reset"], "normal"))
        self.assertEqual(self.launch(*steps)[1:], (["maps"], []))

    def test_safe_mode(self):
        self.bring(self.sign({"safe_mode": True}))
        for _ in range(4):  # as long as it is in force, no trial
            self.assertEqual(self.launch()[0]["mode"], "safe")
        self.bring(self.sign({"withdraw": True, "serial": 2}))
        self.assertEqual((self.launch()[0]["mode"], self.launch()[0]["mode"]), ("trial", "normal"))

    def test_hold_below(self):
        self.bring(self.sign({"hold_below": "2.4"}))
        for version in ("2.3", "2.3.9", "1.10"):
            held = self.run_victim("task:maps", "begin", "launched:100", "show", version=version, hold=CUSTODY)
            self.assertEqual((held["launched"], held["status"], held.said.get("task")), ("timeout", "needs-repair", None), version)
        self.assertTrue(self.events() & HOLD_BELOW)
        self.assertEqual(self.run_victim("begin", "query", version=version, hold=CUSTODY)["query"], "needs-repair, normal")
        self.assertEqual(self.run_victim("query", version=version)["query"], "needs-repair, normal")
        for version in ("2.4", "2.10", "2.4.1"):
            self.assertEqual(self.launch(version=version)[1], ["maps", "music"], version)

    def test_hold_until_it_expires(self):
        """The hold's deadline does not end it, and its end does."""
        self.bring(self.sign({"hold_below": "2.4", "expires": int(time.time()) + 6}))
        self.assertIsNotNone(self.hint(), self.log())
        began = time.time()
        run, tasks, _ = self.launch(version="2.3", hold_ms=1)
        self.assertEqual((tasks, run["mode"]), (["maps", "music"], "normal"))
        self.assertGreater(time.time() - began, 0)
        self.assertEqual(run.said["held"], ["3"])  # LG_HELD_HINT, once

    def test_a_hold_that_turns_into_a_halt(self):
        """The program is asked for its last way, as where no hint held the launch."""
        loop = {"safe_crash_limit": 1, "version": "2.3", "hold": CUSTODY, "hint_key": self.key}
        server = self.answer(self.sign({"hold_below": "2.4"}))
        while self.owe("begin", "launched:60000", "show", "crash", server=server, **loop)["mode"] != "safe":
            pass
        self.assertEqual(self.run_agent(), DONE)
        self.assertIsNotNone(self.hint(), self.log())
        run = self.run_victim("begin", "skip", "halted", **loop)
        # the first answer that it waited for was that of the hold
        self.assertEqual((run["skip"], run.said["gave up"], run.status), ("ok", ["2"], 0))

    def test_the_program_has_the_last_word(self):
        self.bring(self.sign({"hold_below": "2.4"}))
        run, tasks, _ = self.launch(version="2.3", decision=GO_ON)
        self.assertEqual((tasks, int(run["asked"]) & HOLD_BELOW), (["maps", "music"], HOLD_BELOW))
        held = self.run_victim("task:maps", "begin", "launched:100", "skip", "launched:60000", "show", version="2.3", decision=BY_RULE, hold=CUSTODY)
        self.assertEqual((held["launched"], held.said["task"], held["mode"]), ("ok", ["maps"], "normal"))
        self.assertEqual(self.launch(version="2.3", shadow=1)[1], ["maps", "music"])
        self.assertEqual(self.launch(version="2.3", hold=NO_HOLD)[0]["mode"], "normal")
        self.assertFalse(self.events() & HOLD_BELOW)

    def test_names_that_nobody_registered(self):
        for serial, document in enumerate(({"leave_out": "nothing"}, {"repair": "/bin/true"}, {"repair": "leave out the suspect task"}), 1):
            self.bring(self.sign(document | {"serial": serial}))
            self.assertIsNotNone(self.hint())
            run, tasks, repairs = self.launch()
            self.assertEqual((tasks, repairs, run["mode"]), (["maps", "music"], [], "normal"), document)

    def test_another_launch(self):
        self.bring(self.sign({"safe_mode": True, "context": "maps"}))
        self.assertEqual(self.launch()[0]["mode"], "normal")


class Refused(Hints):
    """Hints that are none, or not for this device."""

    def refuses(self, why, *headers, **options):
        self.bring(*headers, **options)
        self.assertIsNone(self.hint())
        self.assertIn(why, self.log())

    def test_without_a_key(self):
        self.bring(self.sign({"safe_mode": True}), key=None)
        self.assertIsNone(self.hint())
        self.assertNotIn("hint", self.log())

    def test_signatures(self):
        self.make_key("other")
        right, whole = self.sign({"safe_mode": True}), self.sign({"leave_out": "maps"})
        document, signature = right.split(".")
        foreign = "its signature is not of the key"
        self.refuses(foreign, self.sign({"safe_mode": True}, "other"))
        self.refuses(foreign, whole.split(".")[0] + "." + signature)
        self.refuses("its signature is not 64 bytes", right[:-2])
        self.refuses("its signature is not 64 bytes", right + "AAAA")
        self.refuses("its signature is not 64 bytes", document + ".")
        self.refuses("it has no signature", document)
        self.refuses("its document is not in base64url", "." + signature)
        self.refuses("its document is not in base64url", document + "=." + signature)
        self.refuses("hints of the vendor are refused", right, right)
        self.refuses("it has no signature", "A" * 10240)
        self.refuses("its document is not in base64url", "A" * 1400 + "." + signature)

    def test_documents(self):
        no_object, lacks, one = "it is no JSON object", "it lacks app", "it must have one of"
        for why, document in (
                (no_object, "{"), (no_object, "[]"), (no_object, "true"), (no_object, '{"app":"%s"} {}' % APP), (no_object, "[" * 1000),
                (no_object, '{"app":"%s","serial":1,"serial":2,"expires":9999999999,"safe_mode":true}' % APP),
                (no_object, {"safe_mode": True, "command": "rm"}), (no_object, {"safe_mode": 1}), (no_object, {"safe_mode": False}),
                (no_object, {"leave_out": ["maps"]}), (no_object, {"leave_out": ""}), (no_object, {"leave_out": "m" * 64}),
                (no_object, {"leave_out": "m\u001b[31m"}), (no_object, {"leave_out": "m\u0000"}), (no_object, {"repair": 1}), (no_object, {"hold_below": 2.4}),
                (no_object, {"safe_mode": True, "serial": 0}), (no_object, {"safe_mode": True, "serial": -1}), (no_object, {"safe_mode": True, "serial": 1 << 32}),
                (no_object, {"safe_mode": True, "serial": "1"}), (no_object, {"safe_mode": True, "serial": 1.5}),
                (no_object, {"safe_mode": True, "expires": 1 << 62}), (no_object, {"safe_mode": True, "expires": "tomorrow"}),
                (no_object, {"safe_mode": True, "device": "all"}), (lacks, {"safe_mode": True, "app": None}), (lacks, {"safe_mode": True, "serial": None}),
                (lacks, {"safe_mode": True, "expires": None}), (one, {}), (one, {"safe_mode": True, "repair": "reset"}),
                (one, {"withdraw": True, "leave_out": "maps"})):
            self.refuses(why, self.sign(document))

    def test_places(self):
        self.refuses("it is for another application", self.sign({"safe_mode": True, "app": "org.example.other"}))
        self.refuses("it is for another device", self.sign({"safe_mode": True, "device": "0" * 32}))
        self.refuses("it has expired", self.sign({"safe_mode": True, "expires": int(time.time()) - 1}))

    def test_this_device(self):
        """The identity that reports carry."""
        server = self.answer()
        self.owe("begin", "crash", server=server)
        self.assertEqual(self.run_agent(), DONE)
        device = server.accepted()[0].json()["system"].get("machineID")
        if not device:
            self.skipTest("the machine has no id")
        self.bring(self.sign({"leave_out": "maps", "device": device}))
        self.assertEqual(self.hint()["name"], "maps", self.log())

    def test_an_older_one(self):
        self.bring(self.sign({"leave_out": "maps", "serial": 7}))
        kept = self.hint()
        self.bring(self.sign({"safe_mode": True, "serial": 6}))
        self.assertEqual(self.hint(), kept)
        self.assertIn("hint 6 of the vendor is refused: its serial is older", self.log())
        self.bring(self.sign({"safe_mode": True, "serial": 7}))
        self.assertEqual(self.hint(), kept)


class Over(Hints):
    """The end of a hint."""

    def test_withdrawn(self):
        self.bring(self.sign({"leave_out": "maps"}))
        self.bring(self.sign({"withdraw": True, "serial": 2}))
        self.assertEqual((self.hint()["kind"], self.hint()["serial"]), (0, 2))
        self.assertEqual(self.launch()[1], ["maps", "music"])

    def test_expired(self):
        self.bring(self.sign({"leave_out": "maps", "expires": int(time.time()) + 5}))
        expires = self.hint()["expires_ns"]
        wait_until(lambda: time.time_ns() > expires, "it expires")
        self.assertEqual(self.launch()[1], ["maps", "music"])

    def test_a_device_without_a_clock(self):
        """The time that the device was on ends a hint too."""
        self.bring(self.sign({"leave_out": "maps", "expires": 9000000000}))
        self.has_been_on(days=29)
        self.assertEqual((self.run_agent(), self.hint()["kind"]), (DONE, 1))
        self.has_been_on(days=31)
        self.assertEqual((self.run_agent(), self.hint()["kind"]), (DONE, 0))
        self.assertIn("hint 1 of the vendor is over", self.log())

    def test_its_key_is_gone(self):
        for key in (None, self.make_key("new")):
            self.bring(self.sign({"leave_out": "maps", "serial": 1 + bool(key)}))
            self.assertEqual(self.hint()["kind"], 1)
            self.bring(key=key)
            self.assertEqual(self.hint()["kind"], 0)
        # A new key begins a series of its own.
        self.bring(self.sign({"leave_out": "maps", "serial": 1}, "new"), key=key)
        self.assertEqual((self.hint()["kind"], self.hint()["serial"]), (1, 1))

    def test_a_damaged_one(self):
        self.bring(self.sign({"leave_out": "maps"}))
        path = self.state / "ledger.lg"
        block = bytearray(path.read_bytes())
        block[4792 + 112] ^= 1  # its name
        path.write_bytes(block)
        self.assertIsNone(self.hint())
        self.assertEqual(self.launch()[1], ["maps", "music"])


class Keys(Hints):
    def test_wrong_keys(self):
        for key in ("", "key", "0" * 63, "g" * 64, "A" * 42, "A" * 45, "-" * 43, "A" * 43 + "\n"):
            run = self.run_victim("deliver", endpoint="http://127.0.0.1:1/", hint_key=key)
            self.assertEqual(run["deliver"], "option", key)
            self.assertIn("hint_key", run["message"])

    def test_right_keys(self):
        for key in (base64.b64decode(self.key).hex(), base64.b64decode(self.key).hex().upper(), self.key.rstrip("=")):
            self.bring(self.sign({"leave_out": "maps"}), key=key)
            self.assertIsNotNone(self.hint(), key)
            (self.state / "ledger.lg").unlink()


if __name__ == "__main__":
    unittest.main()
