"""How an entry is run, and what is right for it then."""
import signal

# What LaunchGuard's crash handlers are installed for; a program's own handler replaces them there.
CRASH_SIGNALS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGSYS}
SILENT = ["killed", "unknown"]


class Modifiers:
    """How the entry is run: options of the program, and what Swift's own backtracer does: off, on, or missing."""

    def __init__(self, thread="main", own_handler="none", altstack="ours", threads=1, idle=0, depth=0, phase=None, backtrace="off"):
        self.thread, self.own_handler, self.altstack, self.threads = thread, own_handler, altstack, threads
        self.idle, self.depth, self.phase, self.backtrace = idle, depth, phase, backtrace

    def arguments(self, entry):
        phase = self.phase or entry.get("phase") or "launching"
        return ["--thread", self.thread, "--own-handler", self.own_handler, "--altstack", self.altstack, "--threads", str(self.threads),
                "--idle-threads", str(self.idle), "--depth", str(self.depth), "--phase", phase]

    def environment(self):
        value = "enable=%s,color=no,interactive=no" % ("no" if self.backtrace == "off" else "yes")
        return {"SWIFT_BACKTRACE": value + ",swift-backtrace=/no/such/program" * (self.backtrace == "missing")}

    def __str__(self):
        words = [self.thread] * (self.thread != "main") + ["handler " + self.own_handler] * (self.own_handler != "none")
        words += ["altstack " + self.altstack] * (self.altstack != "ours") + ["%d threads" % self.threads] * (self.threads != 1)
        words += ["%d idle" % self.idle] * (self.idle != 0) + ["%d deep" % self.depth] * (self.depth != 0)
        return ", ".join(words + [self.phase] * bool(self.phase) + ["backtrace " + self.backtrace] * (self.backtrace != "off"))


PLAIN = Modifiers()


def expectation(entry, modifiers):
    """What is right for this entry under these modifiers: the one place with exceptions from the catalogue."""
    expected = dict(entry["expected"])
    unseen = dict(record="none", kinds=[], end=SILENT, has_address=None, message=None, launch="W")
    signals = {number for number in expected["numbers"] if expected["status"] == "signal"}
    if modifiers.own_handler == "after" and signals & CRASH_SIGNALS and expected["record"] != "none":
        expected.update(unseen)  # ours was replaced
    if modifiers.phase == "finished":
        expected.update(launch="N")
    if modifiers.altstack == "absent" and "fault.stack_overflow" in expected["kinds"]:
        expected.update(unseen)  # nothing can run there
    return expected
