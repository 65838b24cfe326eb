#!/usr/bin/env python3
"""Measure delivery: Benchmarks/delivery.py BUILD_DIR [--rounds N]

From the fault of a program to the first byte of its report at a server on loopback, with the agent
waiting for the program, and, as crash reporters do that upload at the next start, with no agent
until the program is started again at once. What lg_delivery_start() costs the program. Memory and
wake-ups of an agent that waits. The order is drawn anew in each round.
"""

import argparse
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time


class Server(threading.Thread):
    """Answers 200 to all, and keeps the time of the first byte of each connection's request."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = "http://127.0.0.1:%d/reports" % self.listener.getsockname()[1]
        self.first = threading.Event()
        self.at = None

    def expect(self):
        self.at = None
        self.first.clear()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            data = b""
            while True:
                try:
                    piece = connection.recv(65536)
                except OSError:
                    return
                if not piece:
                    return
                if not self.first.is_set():
                    self.at = time.time_ns()
                    self.first.set()
                data += piece
                head, _, body = data.partition(b"\r\n\r\n")
                sizes = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                if sizes and len(body) >= int(sizes[0].split(b":")[1]):
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    data = b""


def agent_pid(state):
    try:
        return int(open(state + "/spool/agent").read().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def end_agent(state):
    pid = agent_pid(state)
    if pid is None:
        return
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    for _ in range(1000):
        if not os.path.exists("/proc/%d" % pid):
            return
        time.sleep(0.002)


def run(program, state, server, mode):
    result = subprocess.run([program, state, server.endpoint, mode], capture_output=True, text=True, timeout=30)
    if not result.stdout:
        sys.exit(f"{mode}: {result.stderr}")
    return int(result.stdout)


def fresh(root):
    state = tempfile.mkdtemp(dir=root)
    os.chmod(state, 0o700)
    return state


def with_agent(program, root, server):
    state = fresh(root)
    server.expect()
    fault = run(program, state, server, "crash")
    found = server.first.wait(10)
    end_agent(state)
    shutil.rmtree(state, ignore_errors=True)
    return (server.at - fault) / 1e6 if found else None


def at_next_start(program, root, server):
    """A crash that no agent saw; then the program starts again at once, and with it the agent."""
    state = fresh(root)
    os.environ["LAUNCHGUARD_NO_DELIVERY"] = "1"
    quiet = subprocess.run([program, state, server.endpoint, "start"], capture_output=True, timeout=30)
    del os.environ["LAUNCHGUARD_NO_DELIVERY"]
    assert quiet.returncode in (0, 1)
    server.expect()
    fault = run(program, state, server, "at-once")
    end_agent(state)
    if server.first.is_set():
        server.expect()
    again = subprocess.Popen([program, state, server.endpoint, "live"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    found = server.first.wait(10)
    again.stdin.close()
    again.wait(10)
    end_agent(state)
    shutil.rmtree(state, ignore_errors=True)
    return (server.at - fault) / 1e6 if found else None


def cost(program, root, server):
    """Microseconds of lg_delivery_start(): with an agent to start, and with one that lives."""
    state = fresh(root)
    first = run(program, state, server, "start") / 1e3
    time.sleep(0.1)
    later = run(program, state, server, "start") / 1e3
    end_agent(state)
    without = run(program, state, server, "start") / 1e3
    time.sleep(0.05)
    end_agent(state)
    shutil.rmtree(state, ignore_errors=True)
    return first, without, later


def idle(program, root, server):
    state = fresh(root)
    life = subprocess.Popen([program, state, server.endpoint, "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    life.stdout.readline()
    time.sleep(1)
    pid = agent_pid(state)

    def status():
        return dict(line.split(":", 1) for line in open(f"/proc/{pid}/status") if ":" in line)

    before = status()
    time.sleep(5)
    after = status()
    wakes = sum(int(after[key]) - int(before[key]) for key in ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"))
    resident = int(after["VmRSS"].split()[0]), int(after["RssAnon"].split()[0])
    life.stdin.close()
    life.wait(10)
    end_agent(state)
    shutil.rmtree(state, ignore_errors=True)
    return resident, wakes


def line(name, values, unit):
    values = sorted(value for value in values if value is not None)
    low, high = values[len(values) // 10], values[-1 - len(values) // 10]
    print(f"  {name + ', ' + unit:<62} {statistics.median(values):8.2f} {low:8.2f} {high:8.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    agent = os.path.abspath(options.build + "/Sources/launchguard-agent/launchguard-agent")
    if not os.access(agent, os.X_OK):
        sys.exit(f"{agent} is not there: install libcurl4-openssl-dev and libjansson-dev, and build again")
    os.environ["LAUNCHGUARD_AGENT"] = agent
    program = os.path.abspath(options.build + "/Benchmarks/delivering")
    server = Server()
    server.start()
    root = tempfile.mkdtemp(prefix="launchguard-delivery-")
    try:
        scenes = {"with the agent": [], "next start": []}
        costs = []
        for _ in range(options.rounds):
            rounds = [("with the agent", with_agent), ("next start", at_next_start)]
            random.shuffle(rounds)
            for name, scene in rounds:
                scenes[name].append(scene(program, root, server))
            costs.append(cost(program, root, server))
        ratios = [b / a for a, b in zip(scenes["with the agent"], scenes["next start"]) if a and b]
        missed = sum(value is None for values in scenes.values() for value in values)
        print(f"{f'Delivery, n = {options.rounds} on loopback':64} {'median':>8} {'10 %':>8} {'90 %':>8}" + (f"; {missed} reports did not come in 10 s" if missed else ""))
        line("fault to first byte, the agent waits for the program", scenes["with the agent"], "ms")
        line("fault to first byte, sent at a next start that comes at once", scenes["next start"], "ms")
        line("the second to the first, same round", ratios, "ratio")
        line("lg_delivery_start(), the first one in a directory", [first for first, _, _ in costs], "us")
        line("lg_delivery_start(), no crash pending, an agent to start", [without for _, without, _ in costs], "us")
        line("lg_delivery_start(), an agent lives", [later for _, _, later in costs], "us")
        (resident, anonymous), wakes = idle(program, root, server)
        print(f"  agent that waits: {resident} KiB resident, {anonymous} KiB of them its own; {wakes} wake-ups in 5 s")
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
