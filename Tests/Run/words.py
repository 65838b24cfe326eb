"""What a program says on standard error under `launchguard run`: it arrives as without the tool,
and its end is the reason of an exit."""
import os
import pathlib
import shutil
import subprocess
import sys

from children import LIMIT_S
from programs import Run, Terminal, wait_until
from records import Recorded
import json

RUST = "fn main() { let text: Result<u32, _> = \"abc\".parse::<u32>(); text.unwrap(); }"
JAVA = "class Bad { public static void main(String[] words) { throw new IllegalStateException(\"no notes\"); } }"
GO = """package main
/*
static void boom(int *to) { *to = 1; }
static void fails(void) { boom((int *)0); }
*/
import "C"
import "os"
type note struct{ size int }
func main() {
    var none *note
    switch os.Args[1] {
    case "c": C.fails()
    case "recovers": func() { defer func() { recover() }(); none.size = 1 }(); os.Exit(3)
    case "thread": go func() { none.size = 2 }(); select {}
    default: none.size = 3
    }
}
"""
KEPT_BYTES = 16320


class Words(Recorded):
    def newest(self, name):
        listed = self.runs(name)[-1]
        done = subprocess.run([self.options.tool, "inspect", "--json", "--no-symbols", listed["path"]], stdout=subprocess.PIPE, timeout=LIMIT_S)
        return listed, json.loads(done.stdout)

    def reason(self, status, command, words, name=None):
        self.ends(status, [*self.under(), *command])
        listed, run = self.newest(name or pathlib.Path(command[0]).name)
        self.assertEqual(listed["message"], words)
        self.assertIn(words, listed["headline"])
        self.assertEqual(run["lastWords"], {"source": "stderr", "text": words, "isCut": False})
        verdict = subprocess.run([self.options.tool, "verdict", pathlib.Path(listed["path"]).parents[1]], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S)
        self.assertTrue(verdict.stdout.startswith("exit with status %d: %s; run " % (status, words)), verdict.stdout)

    def test_shell(self):
        self.reason(3, ["sh", "-c", "echo reading >&2; echo 'cannot open notes.db' >&2; exit 3"], "cannot open notes.db")

    def test_python(self):
        self.reason(1, ["/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable, "-c", "int('abc')"],
                    "ValueError: invalid literal for int() with base 10: 'abc'")

    def test_node(self):
        if not shutil.which("node"):
            self.skipTest("there is no node")
        self.reason(1, [shutil.which("node"), "-e", "throw new TypeError('bad token')"], "TypeError: bad token")

    def test_java(self):
        if not shutil.which("java"):
            self.skipTest("there is no java")
        (self.directory / "Bad.java").write_text(JAVA)
        self.reason(1, [shutil.which("java"), self.directory / "Bad.java"], "java.lang.IllegalStateException: no notes", "Bad.java")

    def test_rust(self):
        if not shutil.which("rustc"):
            self.skipTest("there is no rustc")
        (self.directory / "bad.rs").write_text(RUST)
        built = subprocess.run(["rustc", "-o", self.directory / "bad", self.directory / "bad.rs"], stderr=subprocess.PIPE, timeout=LIMIT_S)
        if built.returncode:
            self.skipTest("rustc builds nothing here")
        self.ends(101, [*self.under(), self.directory / "bad"])
        self.assertRegex(self.newest("bad")[0]["headline"], r"^exit: exit status 101: panic: .*InvalidDigit.* \(.*bad.rs:1:\d+\)$")

    def test_go(self):
        """Its runtime ends the process outside of the handler: the crash is the cause all the same,
        unless the program recovered from it."""
        if not shutil.which("go"):
            self.skipTest("there is no go")
        (self.directory / "notes.go").write_text(GO)
        built = subprocess.run(["go", "build", "-o", "notes", "notes.go"], stderr=subprocess.PIPE, timeout=LIMIT_S, cwd=self.directory,
                               env=dict(os.environ, CGO_ENABLED="1", GOCACHE=str(self.directory / "cache"), GOFLAGS="-mod=mod", GO111MODULE="off"))
        if built.returncode:
            self.skipTest("go builds nothing here: %s" % built.stderr.decode()[-200:])
        for way, status, words in (("go", 2, r"invalid memory address .* \(panic\); the cause: write .* in main\.main\b"),
                                   ("thread", 2, r"invalid memory address .* \(panic\); the cause: write .* in main\.main\.func"),
                                   ("c", 2, r"fatal error: unexpected signal .*; the cause: write .* in boom\b"),
                                   ("recovers", 3, "it survived before: write .* in main.main.func")):
            self.assertEqual(Run([self.directory / "notes", way]).end()[0], status)
            self.ends(status, [*self.under(), self.directory / "notes", way])
            self.assertRegex(self.newest("notes")[0]["headline"], "^exit: exit status %d(: |; )%s" % (status, words))

    def test_all_arrives_and_the_end_is_kept(self):
        count = 200000
        _, said = self.ends(0, [*self.under(), "sh", "-c", "seq %d >&2" % count])
        whole = b"".join(b"%d\n" % number for number in range(1, count + 1))
        self.assertEqual(said, whole)
        kept = self.newest("sh")[1]["standardError"]
        self.assertEqual((kept["totalBytes"], kept["text"].encode()), (len(whole), whole[-KEPT_BYTES:]))

    def test_two_streams_to_one_place_keep_their_order(self):
        script = "for i in $(seq 50); do echo out $i; echo error $i >&2; done"
        run = Run([*self.under(), "sh", "-c", script], stderr=subprocess.STDOUT)
        self.assertEqual(run.end()[1], b"".join(b"out %d\nerror %d\n" % (number, number) for number in range(1, 51)))

    def test_a_child_that_lives_longer_still_writes(self):
        fifo = self.directory / "fifo"
        os.mkfifo(fifo)
        run = Run([*self.under(), "sh", "-c", "{ read line < %s; echo $line >&2; } & echo first >&2" % fifo])
        self.assertEqual(run.process.wait(LIMIT_S), 0)
        fifo.write_text("later\n")
        self.assertEqual(run.process.stderr.read(), b"first\nlater\n")

    def test_nobody_else_of_the_group_gets_a_signal(self):
        """The copy is asked whether it has all: by its number alone."""
        for _ in range(5):
            output, _ = self.ends(0, ["sh", "-c", '"$@"; echo alive', "sh", *self.under(), "sh", "-c", "echo x >&2; exit 3"])
            self.assertEqual(output, b"alive\n")

    def test_signals_to_the_group_lose_no_words(self):
        script = "trap '' USR1 RTMAX; kill -USR1 0; kill -RTMAX 0; seq 5000 >&2; echo 'the last word' >&2; exit 3"
        for _ in range(5):
            self.ends(3, [*self.under(), "bash", "-c", script])
            self.assertTrue(self.newest("bash")[1]["standardError"]["text"].endswith("the last word\n"))

    def test_a_reader_that_left_ends_the_program(self):
        script = "trap '' PIPE; while echo x >&2; do :; done; exit 7"
        run = Run([*self.under(), "sh", "-c", script])
        run.process.stderr.read(1)
        run.process.stderr.close()
        self.assertEqual(run.process.wait(LIMIT_S), 7)

    def test_not_kept(self):
        for way in (["--no-keep-stderr"], []):
            def close():
                if not way:
                    os.close(2)
            run = Run([*self.under(), *way, "sh", "-c", "readlink /proc/self/fd/2; exit 3"], before=close, stderr=subprocess.DEVNULL)
            self.assertEqual(run.end()[:2], (3, b"/dev/null\n" if way else b""))
            self.assertNotIn("standardError", self.newest("sh")[1])

    def test_a_terminal_stays_one(self):
        with Terminal([*self.under(), "sh", "-c", "test -t 2 && echo a terminal >&2"]) as terminal:
            terminal.expect("a terminal")
            wait_until(lambda: self.runs("sh") and self.runs("sh")[-1]["verdict"]["end"] == "clean", "the program ends")
        self.assertNotIn("standardError", self.newest("sh")[1])
