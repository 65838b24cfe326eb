"""The ways to run an entry, and the right outcome of each."""
import signal

# The signals of LaunchGuard's crash handlers, where a handler of the program may replace them.
CRASH_SIGNALS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGSYS}
SILENT = ["killed", "unknown"]


class Modifiers:
    """The way to run the entry: options of the program, and the state of Swift's own backtracer:
    off, on, or missing."""

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

# AddressSanitizer with its defaults, and with the options for a core file. The test is not about
# leaks. Names of functions would take the sanitizer seconds.
SANITIZERS = {"none": {}, "asan": {"ASAN_OPTIONS": "detect_leaks=0:symbolize=0"},
              "asan-abort": {"ASAN_OPTIONS": "detect_leaks=0:symbolize=0:abort_on_error=1"}}
# Signals for which the sanitizer has handlers of its own, which report and end the process: with
# status 1, or by abort().
REPORTED = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE}
# The sanitizer notices these before the C library or the CPU does.
FOUND = {"double-free", "bad-free", "heap-top-smashed", "heap-next-smashed", "heap-top-smashed-threads", "use-after-free"}
# The sanitizer's report may crash too: it reads damaged memory, or the alternate stack is too small
# for it.
REPORT_CRASHES = {"jump-garbage", "stack-pointer-garbage", "frame-pointer-garbage", "frame-chain-overwritten", "altstack-small", "altstack-replaced",
                  "fault-small-altstack"}
# An earlier handler of the program never returns.
HANGS = {"earlier-handler-hangs"}
# An earlier handler of the program is in the place of the sanitizer's handler.
REPLACED = {"earlier-handler-faults", "earlier-handler-hangs", "fault-while-handler-runs"}
# The program blocks the signal: the kernel asks no handler of the sanitizer.
BLOCKED = {"segv-blocked", "all-blocked", "timer-thread"}
# These entries interfere with the sanitizer: they limit the memory that it counts on, look at the
# death of a child, send more signals during its report, hold a lock that its report needs, end with
# a status that encodes the signal, or leave marks of variables where the next handler has its own.
NOT_WITH_SANITIZER = {"malloc-null-write", "bad-alloc", "swift-huge-allocation", "fork-child-crashes", "vfork-child-crashes", "segv-storm", "loader-lock-held",
                      "pid-one-raise", "earlier-handler-overflows", "stack-overflow-altstack"}


def makes_sense(entry, sanitizer):
    return sanitizer == "none" or entry["name"] not in NOT_WITH_SANITIZER


def with_sanitizer(name, expected, sanitizer):
    if name == "oom-beside":
        # While the large child still gives its memory back, the kernel may end the parent too, and
        # says so in its log.
        expected.update(end=[*expected["end"], "oom"])
    elif name in FOUND:
        expected.update(message=None, says="ERROR: AddressSanitizer")
        if sanitizer == "asan":
            expected.update(status="exit", numbers=[1], record="none", end=SILENT, launch="W")
        else:
            expected.update(status="signal", numbers=[signal.SIGABRT], signals=[signal.SIGABRT], kinds=["abort.explicit"], has_address=False)
    elif name in REPORT_CRASHES:
        expected.update(status="any", says=None if "altstack" in name else "AddressSanitizer")
        # the overwritten frame also holds the data of instrumented code
        if name == "frame-chain-overwritten":
            expected.update(kinds=[], has_address=None)
    elif REPORTED & set(expected["signals"]) and (expected["record"] != "none" or expected["end"] == ["no-run"]) and name not in REPLACED | BLOCKED:
        end = ("exit", [1]) if sanitizer == "asan" else ("signal", [signal.SIGABRT])
        expected.update(status=end[0], numbers=end[1], says="ERROR: AddressSanitizer")


def expectation(entry, modifiers, sanitizer="none"):
    """The right outcome of this entry under these modifiers: the one place with exceptions from the
    catalogue."""
    expected = dict(entry["expected"])
    expected.update(signals=expected["numbers"] if expected["status"] == "signal" else [], says=None)
    unseen = dict(record="none", kinds=[], end=SILENT, has_address=None, message=None, launch="W")
    signals = {number for number in expected["numbers"] if expected["status"] == "signal"}
    if modifiers.own_handler == "after" and signals & CRASH_SIGNALS and expected["record"] != "none":
        expected.update(unseen)  # LaunchGuard's handler was replaced
    if modifiers.phase == "finished":
        expected.update(launch="N")
    if modifiers.altstack == "absent" and "fault.stack_overflow" in expected["kinds"]:
        expected.update(unseen)  # no handler can run on that stack
    if sanitizer != "none":
        with_sanitizer(entry["name"], expected, sanitizer)
    return expected
