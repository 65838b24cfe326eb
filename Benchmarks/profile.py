"""Where the time of lg_start() goes: samples of many starts, by step.

python3 -B Benchmarks/profile.py BUILD_DIR [STARTS]

Needs perf(1). Builds nothing: the probe of `Benchmarks/quick.sh` must be there. Each line is a
function of LaunchGuard, with its share in per cent: in system calls, in their entry and exit, in
page faults, in its own work and that of libc.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

LIMIT = 120
HZ = 25000


def step(names):
    """The innermost function of LaunchGuard in a stack, and what it spends; the outermost function
    comes first."""
    inner = names[names.index("lg_start"):]
    owner = [name for name in inner if name.startswith(("lg_", "open_files", "start_session"))][-1]
    call = next((name for name in inner if "_sys_" in name), None)
    if call:
        return owner, call.split("_sys_", 1)[1]
    if any(name.startswith(("asm_exc_page_fault", "do_mem_abort")) for name in inner):
        return owner, "page faults"
    return owner, "entry" if any("SYSCALL" in name or "syscall" in name for name in inner) else "own work"


def stacks(data):
    script = subprocess.Popen(["perf", "script", "-i", data, "-F", "ip,sym"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    stack = []
    for line in script.stdout:
        if line.strip():
            stack.append(line.split(None, 1)[1].strip() if len(line.split(None, 1)) > 1 else "?")
        elif stack:
            yield [re.sub(r"\.(constprop|isra|part)\.\d+", "", name) for name in stack[::-1]]
            stack = []
    script.wait(LIMIT)


def main():
    build, starts = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 400
    with tempfile.TemporaryDirectory(prefix="launchguard-bench-") as directory:
        data, state = directory + "/samples", directory + "/state"
        os.mkdir(state, 0o700)
        probe = f"{os.path.abspath(build)}/Benchmarks/probe-static - start {state} 10"
        subprocess.run(["sh", "-c", f"for i in $(seq 40); do {probe}; done"], check=True, timeout=LIMIT)
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(HZ), "-g", "-o", data, "sh", "-c", f"for i in $(seq {starts}); do {probe}; done"],
                       check=True, timeout=LIMIT, stderr=subprocess.DEVNULL)
        steps = collections.Counter(step(names) for names in stacks(data) if "lg_start" in names)
    total = sum(steps.values())
    if not total:
        sys.exit("no sample of lg_start(): perf has no access to the clock of the CPU, or the probe has no symbols")
    print(f"{starts} starts, static core, 10 ended runs, {total} samples of lg_start()")
    owners = collections.Counter()
    for (owner, _), count in steps.items():
        owners[owner] += count
    for owner, count in owners.most_common():
        if count < total / 200:
            break
        parts = [f"{what} {100 * part / total:.1f}" for (name, what), part in steps.most_common() if name == owner and part >= total / 300]
        print(f"{100 * count / total:5.1f} %  {owner:32} {', '.join(parts)}")


if __name__ == "__main__":
    main()
