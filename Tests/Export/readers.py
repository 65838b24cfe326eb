"""Readers that others wrote: lldb, and from PyPI, each in a folder of its own. read() returns what
one of them says of a file; of a minidump in the same shape, as far as it says it:

threads     [tid, instruction], in the order of the file
modules     [path, start, build id or None]
exception   tid, address, and the signal as the reader says it
memory      {start: bytes in hexadecimal digits}
"""
import functools
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "PyPI"))
import pypi

LIMIT_S = 120


@functools.cache
def install(folder, name):
    """The Python that has the reader, or None, and why not."""
    return pypi.install(pathlib.Path(folder) / name, name)


def read(python, name, path):
    """The reader's output for a file, and None; or None, and its complaint."""
    found, complaint = read_each(python, name, [path])
    return found and found[0], complaint


def read_each(python, name, paths):
    """The same of several files, as a list."""
    result = subprocess.run([python, "-B", __file__, name, *paths], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if result.returncode != 0:
        return None, f"status {result.returncode}: {(result.stderr.strip().splitlines() or [''])[-1]}"
    return [json.loads(line) for line in result.stdout.splitlines()[-len(paths):]], None


@functools.cache
def lldb():
    """An lldb that starts; None: there is none."""
    found = [shutil.which("lldb")] + sorted(glob.glob("/usr/bin/lldb-[0-9]*"), reverse=True)
    for path in filter(None, found):
        if subprocess.run([path, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT_S, check=False).returncode == 0:
            return path
    return None


def debug(path, program, *commands):
    """The output of lldb, which reads no start-up files and asks no server."""
    words = [part for command in commands for part in ("-o", command)]
    environment = {**os.environ, "HOME": "/nonexistent", "TERM": "dumb"}
    environment.pop("DEBUGINFOD_URLS", None)
    result = subprocess.run([lldb(), "--no-lldbinit", "--no-use-colors", "--script-language", "none", "--batch", "-c", path, program, *words], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment)
    return result.stdout + result.stderr


def _minidump(path):
    from minidump.minidumpfile import MinidumpFile

    file = MinidumpFile.parse(path)
    reader = file.get_reader()
    first = file.exception.exception_records[0] if file.exception else None
    segments = file.memory_segments.memory_segments if file.memory_segments else []
    contexts = [getattr(thread, "ContextObject", None) for thread in file.threads.threads]
    return {
        "threads": [[thread.ThreadId, context.Rip if context else None] for thread, context in zip(file.threads.threads, contexts)],
        "stacks": [[thread.Stack.StartOfMemoryRange, thread.Stack.MemoryLocation.DataSize] for thread in file.threads.threads],
        "modules": [[module.name, module.baseaddress, None] for module in file.modules.modules],
        "exception": first and {"tid": first.ThreadId, "signal": first.ExceptionRecord.ExceptionCode_raw, "address": first.ExceptionRecord.ExceptionAddress,
                                "flags": first.ExceptionRecord.ExceptionFlags},
        "memory": {str(segment.start_virtual_address): reader.read(segment.start_virtual_address, segment.size).hex() for segment in segments},
        "architecture": file.sysinfo.ProcessorArchitecture.name, "system": file.sysinfo.CSDVersion, "pid": file.misc_info.ProcessId,
    }


def _symbolic(path):
    from symbolic.minidump import ProcessState

    state = ProcessState.from_minidump(path)
    threads = list(state.threads())
    return {
        "threads": [[thread.thread_id, thread.get_frame(0).instruction if thread.frame_count else None] for thread in threads],
        "modules": [[module.code_file, module.addr, module.code_id] for module in state.modules()],
        "exception": state.crashed and {"tid": threads[state.requesting_thread].thread_id, "reason": state.crash_reason, "address": state.crash_address},
        "architecture": state.system_info.cpu_family, "system": state.system_info.os_name, "time": state.timestamp,
    }


def _sentry_sdk(path):
    """The head of an envelope, and head and text of each item."""
    from sentry_sdk.envelope import Envelope

    with open(path, "rb") as file:
        envelope = Envelope.deserialize_from(file)
    return {"headers": envelope.headers, "items": [[item.headers, item.payload.get_bytes().decode()] for item in envelope.items]}


def _sentry_relay(path):
    """The event as Sentry would store it, and whatever it says against the event."""
    from sentry_relay.processing import StoreNormalizer

    with open(path, encoding="utf-8") as file:
        event = StoreNormalizer(project_id=42).normalize_event(json.load(file))
    errors = list(event.get("errors") or [])

    def walk(meta, place):
        if isinstance(meta, dict):
            errors.extend([place, error] for error in meta.get("", {}).get("err", []))
            for key, value in meta.items():
                if key:
                    walk(value, f"{place}.{key}")

    walk(event.pop("_meta", None), "event")
    return {"event": event, "errors": errors}


def _opentelemetry(path):
    """The request, which the reader refuses where it has a field that it does not know."""
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    with open(path, encoding="utf-8") as file:
        message = json_format.Parse(file.read(), ExportLogsServiceRequest())
    again = ExportLogsServiceRequest.FromString(message.SerializeToString())
    assert again == message

    def value(any_value):
        kind = any_value.WhichOneof("value")
        if kind == "array_value":
            return [value(each) for each in any_value.array_value.values]
        return attributes(any_value.kvlist_value.values) if kind == "kvlist_value" else getattr(any_value, kind)

    def attributes(pairs):
        found = {pair.key: value(pair.value) for pair in pairs}
        assert len(found) == len(pairs), "a key twice"
        return found

    (resource_logs,) = message.resource_logs
    (scope_logs,) = resource_logs.scope_logs
    records = [{"time": record.time_unix_nano, "observed": record.observed_time_unix_nano, "severity": record.severity_number,
                "severity_text": record.severity_text, "event": record.event_name, "body": value(record.body), "attributes": attributes(record.attributes)}
               for record in scope_logs.log_records]
    return {"resource": attributes(resource_logs.resource.attributes), "scope": scope_logs.scope.name, "records": records}


def _datasette(path):
    """Datasette's view of a database, with the metadata and the queries in files beside it."""
    import asyncio
    from datasette.app import Datasette

    path = pathlib.Path(path)
    shown = Datasette(immutables=[str(path)], metadata=json.loads(path.with_name("datasette.json").read_text()))

    async def ask():
        whole = (await shown.client.get(f"/{path.stem}.json")).json()
        views = [view["name"] for view in whole["views"]]
        names = [table["name"] for table in whole["tables"]] + views
        run = (await shown.client.get(f"/{path.stem}/run.json?_labels=on")).json()
        queries = json.loads(path.with_name("queries.json").read_text())
        return {
            "tables": [table["name"] for table in whole["tables"] if not table["hidden"]], "views": views, "run": run,
            "statuses": {name: (await shown.client.get(f"/{path.stem}/{name}")).status_code for name in names},
            "answers": [(await shown.client.get(f"/{path.stem}.json", params={"sql": query, "_shape": "arrays"})).json() for query in queries],
        }

    return asyncio.run(ask())


READERS = {"minidump": _minidump, "symbolic": _symbolic, "sentry-sdk": _sentry_sdk, "sentry-relay": _sentry_relay, "opentelemetry-proto": _opentelemetry,
           "datasette": _datasette}

if __name__ == "__main__":
    for argument in sys.argv[2:]:
        print(json.dumps(READERS[sys.argv[1]](argument)))
