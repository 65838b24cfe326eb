#!/usr/bin/env python3
"""Ways to end of a program that knows nothing of LaunchGuard: with the library preloaded it ends as
without, prints the same, and its record says what happened."""
import os
import signal
import unittest

from preload import EXEC, EXIT_MARK, NO_MARK, TERMINATE_MARK, Case, main

NAME = "preload-ways"
FAULT, ABORT = -signal.SIGSEGV, -signal.SIGABRT
NOTHING_ELSE = 97  # status of the program after a way that goes on
NOWHERE = 0x10     # the address of its faults


class Ways(Case):
    def way(self, *arguments, status):
        return self.same(self.ways, *arguments, status=status)

    def first_fault(self, run):
        self.expect(run, "crash", signal=signal.SIGSEGV, code=1)
        self.assertEqual((run["crash"]["address"], run["crash"]["handled"]), (NOWHERE, 0))
        self.assertEqual(run["crash"]["stages"] & 0x1fe, 0x1fe, "not the whole record")
        self.assertTrue(run["modules"])

    def test_crashes(self):
        for how, status in (("fault", FAULT), ("raise", FAULT), ("handler-abort", ABORT), ("handler-leave", 7), ("handler-exit", 8),
                            ("handler-reset", FAULT), ("handler-once", ABORT), ("handler-large", ABORT),
                            ("handler-large-on-a-thread", ABORT), ("ignore", FAULT), ("late", FAULT), ("recover-then-die", FAULT),
                            ("cannot-execute", FAULT), ("closes-all", FAULT)):
            with self.subTest(how=how):
                self.setUp()
                self.way(how, status=status)
                self.first_fault(self.one(NAME))

    def test_after_many_recoveries(self):
        """The handler is expected to recover, and the fault has no record until it does not."""
        for how, status in (("raise", FAULT), ("abort", ABORT), ("leave", 7), ("exit", 8), ("reset", FAULT), ("raise-go-on", FAULT), ("raise-leave", 9),
                            ("raise-open", FAULT), ("fault", FAULT), ("kill", FAULT)):
            with self.subTest(how=how):
                self.setUp()
                self.way("often-" + how, status=status)
                self.first_fault(self.one(NAME))

    def test_fault_beside_threads_that_recover(self):
        for milliseconds in 0, 1, 20, 50:
            with self.subTest(milliseconds=milliseconds):
                self.setUp()
                self.way("healers", str(milliseconds), status=ABORT)
                self.first_fault(self.one(NAME))

    def test_abort(self):
        self.way("abort", status=ABORT)
        self.expect(self.one(NAME), "crash", signal=signal.SIGABRT)

    def test_overflow_on_a_stack_of_its_own(self):
        self.assertIn("own stack", self.way("own-stack", status=FAULT))
        self.expect(self.one(NAME), "crash", signal=signal.SIGSEGV)

    def test_recovers(self):
        self.way("recover", "20000", status=NOTHING_ELSE)
        run = self.one(NAME)
        self.expect(run, "exit", EXIT_MARK, code=NOTHING_ELSE)
        self.assertEqual(run["crash"]["handled"], 1)

    def test_ends_without_exit(self):
        for how in "leave", "leave-iso", "leave-by-call", "quick-exit", "exit":
            for status in 3, 0:
                with self.subTest(how=how, status=status):
                    self.setUp()
                    self.way(how, str(status), status=status)
                    self.expect(self.one(NAME), "exit" if status else "clean", EXIT_MARK, code=status)

    def test_ends_under_a_filter(self):
        """Of a filter that allows the end alone, the program sees nothing more than without."""
        for how in "prctl strict", "seccomp strict", "prctl generous", "seccomp by-argument":
            for way in "confined-exit", "confined-leave":
                with self.subTest(how=how, way=way):
                    self.setUp()
                    self.way(way, how, status=3)
                    self.expect(self.one(NAME), "exit", EXIT_MARK, code=3)

    def test_children_under_a_filter(self):
        """One that allows all that a child's start asks of the kernel costs no records. One that
        may end the child there costs the child its record."""
        for how, is_recorded in ("prctl generous", True), ("seccomp generous", True), ("prctl by-argument", False), ("seccomp by-argument", False):
            for way in "crash", "leave", "execute":
                with self.subTest(how=how, way=way):
                    self.setUp()
                    self.way("confined-fork", how, way, status=NOTHING_ELSE)
                    parent, *child = self.runs(NAME)
                    self.expect(parent, "exit", EXIT_MARK, code=NOTHING_ELSE)
                    if way == "execute" or not is_recorded:
                        self.assertEqual(child, [])
                    else:
                        self.expect(child[0], "crash" if way == "crash" else "exit")

    def test_signals(self):
        for number, end, evidence in ((signal.SIGTERM, "terminated", TERMINATE_MARK), (signal.SIGINT, "terminated", TERMINATE_MARK),
                                      (signal.SIGHUP, "terminated", TERMINATE_MARK), (signal.SIGPIPE, "terminated", TERMINATE_MARK),
                                      (signal.SIGKILL, "unknown", NO_MARK), (signal.SIGUSR1, "unknown", NO_MARK)):
            with self.subTest(signal=number):
                self.setUp()
                self.way("kill", str(int(number)), status=-number)
                run = self.one(NAME)
                self.expect(run, end, evidence)
                self.assertIsNone(run["crash"])

    def test_what_it_sees(self):
        self.way("actions", status=NOTHING_ELSE)
        ours = ("LD_PRELOAD=", "LAUNCHGUARD_")
        self.same(self.ways, "surroundings", status=NOTHING_ELSE,
                  change=lambda text: [line for line in text.splitlines() if not line.startswith(ours)])

    # ---- several processes ----

    def test_forked_children(self):
        """The child that crashed has its own record; one that left a status has its own end; a
        helper that did its work leaves nothing."""
        for how in "crash", "grandchild", "missing":
            with self.subTest(how=how):
                self.setUp()
                self.way("fork", how, status=NOTHING_ELSE)
                parent, child = self.runs(NAME)
                self.expect(parent, "exit", EXIT_MARK, code=NOTHING_ELSE)
                self.assertIsNone(parent["crash"])
                self.first_fault(child)
                self.assertNotEqual(parent["run"]["pid"], child["run"]["pid"])
        self.setUp()
        self.way("fork", "leave", status=NOTHING_ELSE)
        self.expect(self.runs(NAME)[1], "exit", EXIT_MARK, code=6)
        self.setUp()
        self.way("fork", "nothing", status=NOTHING_ELSE)
        self.expect(self.one(NAME), "exit", EXIT_MARK, code=NOTHING_ELSE)

    def test_child_of_a_thread(self):
        self.way("fork-on-a-thread", status=NOTHING_ELSE)
        parent, child = self.runs(NAME)
        self.expect(parent, "exit", EXIT_MARK)
        self.first_fault(child)

    def test_executing_children(self):
        for how in (("fork", "execute"), ("vfork", "execute"), ("vfork", "fails"), ("spawn",)):
            with self.subTest(how=how):
                self.setUp()
                text = self.way(*how, status=NOTHING_ELSE)
                self.assertIn("child: 600" if "fails" in how else "child: 500", text)
                self.expect(self.one(NAME), "exit", EXIT_MARK, code=NOTHING_ELSE)
                if "fails" not in how:
                    self.expect(self.one("sh"), "exit", EXIT_MARK, code=5)

    def test_daemon(self):
        self.same(self.ways, "daemon", status=0, kills=False)
        parent, child = self.await_runs(NAME, 2)
        self.expect(parent, "clean", EXIT_MARK)
        self.first_fault(child)
        self.assertEqual([run["run"]["secondary"] for run in (parent, child)], [0, 1])

    def test_first_process_of_a_namespace(self):
        """The kernel keeps signals from it for which it has no handler."""
        if os.geteuid() != 0:
            self.skipTest("needs root: a pid namespace")
        self.assertEqual(self.way("first-process", status=NOTHING_ELSE), "lives\nchild: b\n")
        self.first_fault(self.runs(NAME)[1])

    # ---- the program executes another ----

    def test_executes(self):
        self.way("execute", self.ways, "execute", "/bin/sh", "-c", "exit 9", status=9)
        first, second = self.runs(NAME)
        for run in first, second:
            self.expect(run, "clean", EXEC)
        shell = self.one("sh")
        self.expect(shell, "exit", EXIT_MARK, code=9)
        self.assertEqual({first["run"]["pid"], second["run"]["pid"]}, {shell["run"]["pid"]})
        self.assertEqual([run["run"]["secondary"] for run in (first, second, shell)], [0, 0, 0])

    def test_no_mark_of_others_or_of_a_failure(self):
        """A child of vfork(), in the memory of its parent, and an exec that failed leave no mark of
        an end."""
        for way in "vfork", "failure":
            with self.subTest(way=way):
                self.setUp()
                self.way("killed-after", way, status=-signal.SIGKILL)
                self.expect(self.one(NAME), "unknown", NO_MARK)

    def test_handler_executes(self):
        self.way("handler-execute", status=0)
        crash, restarted = self.runs(NAME)
        self.first_fault(crash)
        self.expect(restarted, "clean", EXIT_MARK)


if __name__ == "__main__":
    main(__doc__)
