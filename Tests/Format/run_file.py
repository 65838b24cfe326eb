"""Sections 4 to 8 of docs/FORMAT.md: the parts of a run file."""
import re
import struct

from page import RESOURCES, STRUCTURES, Damaged, crc32c, part, require, uuid

IDENTITY, SYSTEM, MACHINE, STATE, CONTEXT, OWNER, MODULES, MODULE = (STRUCTURES[name] for name in (
    "identity", "system", "machine", "state", "state_context", "owner", "module_table", "module_entry"))
RECORD, STAGE, NOTE, CRASH, CPU, FRAMES, WALK, FUNCTIONS, FUNCTION = (STRUCTURES[name] for name in (
    "record", "stage", "note", "crash_header", "crash_context", "crash_frames", "frames_head", "functions", "function"))
MESSAGES, MESSAGE, PROCESS, COUNTED, THREADS, THREAD, CHUNK, TAIL, DONE = (STRUCTURES[name] for name in (
    "crash_messages", "message", "crash_process", "crash_threads", "threads", "thread", "chunk", "tail", "crash_done"))
RING, LANE, ENTRY, FIELDS, FIELD = (STRUCTURES[name] for name in ("ring_header", "lane", "entry", "fields", "field"))
NOTES, NOTE_SLOT, NOTE_VALUE = (STRUCTURES[name] for name in ("annotations", "annotation_slot", "annotation"))
BRIEFS, BRIEF, BRIEF_COMMIT = (STRUCTURES[name] for name in ("briefs", "brief", "brief_commit"))
PULSE, HEARTBEAT, DEADLINE, SNAPSHOTS, SNAPSHOT, MEMORY_SNAPSHOT = (STRUCTURES[name] for name in (
    "pulse", "heartbeat", "deadline", "snapshots", "snapshot", "memory_snapshot"))

ASYNC, CHAIN = (STRUCTURES[name] for name in ("crash_async", "async_chain"))
GUARDS, GUARD, GUARD_FIELD = (STRUCTURES[name] for name in ("guards", "guard_site", "guard_field"))

X86_64 = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip eflags".split()
AARCH64 = ["x%d" % i for i in range(31)] + ["sp", "pc", "pstate"]
REASONS = ["", "the frame pointer chain leaves the stack", "memory of the stack cannot be read",
           "no unwind information for the next frame", "the chain of frames loops", "the limit of frames was reached",
           "the module table was not ready", "the walk itself crashed", "the unwinder gave up",
           "the next return address is not after a call"]


# ---- §4, §5: identity and state ----

def read_run(file):
    block, state = file.block(1, 0, IDENTITY.size), file.block(2, 0, STATE.size)
    id_size = IDENTITY.get(block, "build_id_size")
    require(IDENTITY.get(block, "crc") == crc32c(block[:IDENTITY.at("crc")]) and id_size <= 32, "identity")
    run = IDENTITY.pick(block, "ordinal wall_ns monotonic_ns start_ticks pid proc_pid uid secondary app_id app_version executable")
    run |= {name: uuid(IDENTITY.get(block, name)) for name in ("uuid", "boot_id")}
    run["build_id"] = IDENTITY.get(block, "build_id")[:id_size].hex()
    run["boottime_ns"] = IDENTITY.get(block, "boottime_ns")
    run |= {name: value for name, value in rare_state(state, run["ordinal"]).items() if value}
    run |= STATE.pick(state, "ended exit_code healed_pages ended_ns term_ns term_signal term_pid term_uid")
    started = STATE.get(state, "started")
    run["started"] = int(started in (1, 2))
    run["secondary"] = int(run["secondary"] and started != 2)
    run["ended"] = run["ended"] if run["ended"] in (1, 2, 3) else 0
    count = min(STATE.get(state, "context_count"), 16)
    contexts = [read_context(state[STATE.at("contexts") + CONTEXT.size * i:], part(read_owner, file, i)) for i in range(count)]
    return run, contexts, IDENTITY.get(block, "arch")


def read_system(file):
    """The system that the run began on; empty where the start was not complete."""
    block = part(file.block, 14, 0, SYSTEM.size)
    if block == "damaged" or SYSTEM.get(block, "commit") == 0:
        return block if block == "damaged" else {}
    size, line = SYSTEM.get(block, "command_line_size"), SYSTEM.at("command_line")
    if SYSTEM.get(block, "commit") != 0x54535953 or size > 968 or SYSTEM.get(block, "crc") != crc32c(block[8:line + size]):
        return "damaged"
    machine = block[SYSTEM.at("machine"):]
    ids = {"machine": MACHINE.get(machine, "id"), "invocation": SYSTEM.get(block, "invocation")}
    return (SYSTEM.pick(block, "kernel hardware container unit parent_name parent_pid") | MACHINE.pick(machine, "model os_id os_version") |
            {name: value.hex() if any(value) else "" for name, value in ids.items()} |
            {"command_line": block[line:line + size].decode("latin-1"), "command_line_cut": int(SYSTEM.get(block, "command_line_cut") == 1)})


def rare_state(state, ordinal):
    """Fields that most runs do not have: one that is 0 is not shown."""
    rare = STATE.pick(state, "announced announced_ns witnessed witness_status oom_known oom_kills oom_cgroup hang_ns term_kept term_alive_ns "
                              "cpu_near_ns cpu_used_ns cpu_limit_s memory_near_ns memory_used memory_limit memory_own forked_ns "
                              "crash_noted_ns crash_type attached reported hung_alive_ns witnessed_ns")
    rare["term_kept"] = int(rare["term_kept"] == 1)
    rare["attached"] = int(rare["attached"] == 1)
    word, half = rare["reported"], 1 << 23
    rare["reported"] = word & 0xff if word & 0xff <= 6 else 0
    rare["counted_in"] = ordinal + ((word >> 8) - ordinal + half) % (2 * half) - half if rare["reported"] == 3 else 0
    rare["crash_type"] = rare["crash_type"] if rare["crash_noted_ns"] else ""
    for near, figures in (("cpu_near_ns", ("cpu_used_ns", "cpu_limit_s")), ("memory_near_ns", ("memory_used", "memory_limit", "memory_own"))):
        if not rare[near]:
            rare |= dict.fromkeys(figures, 0)
    for says, others in (("announced", ["announced_ns"]), ("witnessed", ["witness_status", "witnessed_ns"]), ("oom_known", ["oom_kills", "oom_cgroup"])):
        if rare[says] not in ((1, 2) if says == "announced" else (1,)):
            rare |= dict.fromkeys([says, *others], 0)
    return rare


def read_owner(file, index):
    """The thread of the task, and the names of the modules."""
    block = file.block(9, OWNER.size * index, OWNER.size)
    names, at = OWNER.get(block, "modules"), 0
    modules = []
    while names[at:at + 1] not in (b"", b"\0"):
        name = names[at:].split(b"\0")[0]
        modules.append(name.decode("latin-1"))
        at += len(name) + 1
    require(at < len(names), "list of modules")
    return OWNER.get(block, "task_tid"), modules


def read_context(block, owner):
    context = CONTEXT.pick(block, "name phase begun_ns launching_ns finished_ns window_ms finish rung attempt")
    if CONTEXT.get(block, "used") != 1 or context["phase"] > 7 or context["finish"] > 3:
        return None
    context["task"] = CONTEXT.get(block, "task") if CONTEXT.get(block, "task_set") == 1 else ""
    context |= {name: int(CONTEXT.get(block, name) == 1) for name in ("marked", "repaired")}
    tid, modules = (0, []) if owner == "damaged" else owner
    context |= ({"task_tid": tid} if tid else {}) | ({"modules": modules} if modules else {})
    return context


# ---- §5.3: annotations ----

def read_annotations(file):
    """The contents of those of the 64 places that are in use."""
    if 12 not in file.sections:
        return None
    places = [part(read_annotation, file, i) for i in range(64)]
    return [place for place in places if place] or None


def read_annotation(file, index):
    slot = NOTE_SLOT.pick(file.block(12, NOTE_SLOT.size * index, NOTE_SLOT.size), "current redacted")
    number, sequence = slot["current"] & 255, slot["current"] >> 8
    if number == 0:
        return None
    require(number <= 128, "number of a value")
    block = file.block(12, NOTES.at("values") + NOTE_VALUE.size * (number - 1), NOTE_VALUE.size)
    head = NOTE_VALUE.pick(block, "sequence monotonic_ns size flags key crc")
    text = NOTE_VALUE.get(block, "value")[:head["size"]]
    require(head["sequence"] == sequence and head["size"] <= 495 and head["key"] and len(head["key"]) < 64 and
            head["crc"] == crc32c(block[8:88], text, block[:8]), "annotation")
    none = head["flags"] & 2
    return {"key": head["key"], "monotonic_ns": head["monotonic_ns"], "redacted": int(slot["redacted"] != 0),
            "value": None if none else text.decode("latin-1"), "cut": 0 if none else head["flags"] & 1}


# ---- §5.4: guard events ----

def read_guards(file):
    """Counts, and what is known of each site; None where guards were never started."""
    if 19 not in file.sections:
        return None
    head = GUARDS.pick(file.block(19, 0, GUARDS.at("sites")), "events survived site_bytes site_count")
    size, count = head["site_bytes"], head["site_count"]
    if size == 0:
        return None
    require(size >= GUARD.size and count <= 32 and GUARDS.at("sites") + count * size <= len(file.section(19)), "head of the guard events")
    sites = [file.block(19, GUARDS.at("sites") + size * i, GUARD.size) for i in range(count)]
    used = [(i, site) for i, site in enumerate(sites) if GUARD.get(site, "key" if i else "count")]
    return {"events": head["events"], "survived": head["survived"], "sites": [read_guard(i, site) for i, site in used]}


def read_guard(index, block):
    key = GUARD.get(block, "key")
    site = GUARD.pick(block, "count survived last_ns action") | {"place": index, "guard_class": key >> 56, "site": key & 2**56 - 1}
    return site | {"description": part(read_description, block, key >> 56)}


def read_description(block, guard_class):
    head = GUARD.pick(block, "commit crc guard_class frame_count field_count")
    if head["commit"] == 0:
        return None
    require(head["commit"] == 0x53455447 and head["crc"] == crc32c(block[44:GUARD.size]) and head["guard_class"] == guard_class and
            head["field_count"] <= 4 and head["frame_count"] <= 32, "guard event")
    fields = [block[GUARD.at("fields") + GUARD_FIELD.size * i:] for i in range(head["field_count"])]
    return GUARD.pick(block, "first_ns tid thread_name text") | {
        "fields": [[GUARD_FIELD.get(field, "key"), GUARD_FIELD.get(field, "value")] for field in fields],
        "frames": GUARD.get(block, "frames")[:head["frame_count"]]}


# ---- §6: modules ----

def read_modules(file):
    if 3 not in file.sections:
        return []  # there was no space for them
    tables = [file.block(3, MODULES.size * i, MODULES.size) for i in (0, 1)]
    whole = [table for table in tables if modules_whole(table)]
    if not whole:
        require(not any(MODULES.get(table, "commit") for table in tables), "modules")
        return None
    table = max(whole, key=lambda table: MODULES.get(table, "generation"))
    return [read_module(table, i) for i in range(MODULES.get(table, "count"))]


def modules_whole(table):
    head = MODULES.pick(table, "commit count text_size crc")
    entries, text = table[MODULES.at("entries"):], table[MODULES.at("text"):]
    return (head["commit"] == 0x4d4f4443 and head["count"] <= 192 and head["text_size"] <= len(text) and
            head["crc"] == crc32c(table[4:20], entries[:MODULE.size * head["count"]], text[:head["text_size"]]))


def read_module(table, index):
    block = table[MODULES.at("entries") + MODULE.size * index:]
    place = MODULE.pick(block, "path_offset path_size build_id_size")
    module = MODULE.pick(block, "start end bias")
    end = place["path_offset"] + place["path_size"]
    require(end <= MODULES.get(table, "text_size") and place["build_id_size"] <= 32 and module["start"] <= module["end"], "module")
    module["build_id"] = MODULE.get(block, "build_id")[:place["build_id_size"]].hex()
    module["path"] = table[MODULES.at("text"):][place["path_offset"]:end].split(b"\0")[0].decode("latin-1")
    return module


# ---- §7, §7.5: record, brief records ----

def read_stage(place, stage, size):
    """The block, its missing rest zero, and its committed size; None if it was not committed."""
    entry, block_of = place.entry(stage)
    if entry is None or entry["commit"] == 0:
        return None
    require(entry["commit"] == 0x4547415453474c00 + stage and entry["size"] <= min(entry["capacity"], 1 << 20), "stage %d" % stage)
    block = block_of(entry["offset"], entry["size"])
    require(entry["crc"] == crc32c(block), "stage %d" % stage)
    return block[:size].ljust(size, b"\0"), entry["size"]


class Record:
    """The record, and the other parts about its crash."""
    brief = 0

    def __init__(self, file):
        self.block, self.section, self.sections = file.block, file.section, file.sections

    def entry(self, stage):
        entry = STAGE.pick(self.block(4, STAGE.size * stage, STAGE.size), "offset capacity size crc commit")
        return entry, lambda at, size: self.block(4, at, size)

    def words(self):
        return outcome_and_within(RECORD, self.block(4, 0, RECORD.size))

    def notes(self):
        record = self.block(4, 0, RECORD.size)
        return [record[RECORD.at("notes") + NOTE.size * i:][:NOTE.size] for i in range(16)]


def outcome_and_within(structure, block):
    words = structure.pick(block, "outcome within")
    return words | {"outcome": words["outcome"] & 255}


class Brief:
    """One of the places for brief records. Its three parts are all that is known of its crash."""
    brief, sections = 1, {}
    PARTS = {1: ("header", CRASH.size), 2: ("context", CPU.size), 3: ("head", WALK.size + 8 * 128)}

    def __init__(self, block):
        self.block = block

    def entry(self, stage):
        if stage not in self.PARTS:
            return None, None
        name, capacity = self.PARTS[stage]
        entry = BRIEF_COMMIT.pick(self.block[BRIEF.at("parts") + BRIEF_COMMIT.size * (stage - 1):], "size crc commit")
        return entry | {"offset": BRIEF.at(name), "capacity": capacity}, lambda at, size: self.block[at:at + size]

    def words(self):
        return outcome_and_within(BRIEF, self.block)

    def notes(self):
        return []


def read_briefs(file):
    """The places for brief records."""
    if 13 not in file.sections:
        return []
    section = file.section(13)
    head = BRIEFS.pick(file.block(13, 0, 64), "count brief_bytes")
    count, size = head["count"], head["brief_bytes"]
    require(count == 0 or size >= BRIEF.size and count <= 64 and 64 + count * size <= len(section), "head of the brief records")
    return [Brief(section[64 + size * i:][:size]) for i in range(count)]


def read_crashes(file, arch):
    """The crash that counts, and all of them in the order of their sequences where there are
    several."""
    briefs, found = part(read_briefs, file), []
    for place in [Record(file)] + (briefs if briefs != "damaged" else []):
        stage = part(read_stage, place, 1, CRASH.size)
        if stage is not None:
            found.append((place, CRASH.pick(stage[0], "sequence signal") if stage != "damaged" else None))
    found.sort(key=lambda one: (one[1] is not None, one[1]["sequence"] if one[1] else 0))
    end = find_end([head and head | place.words() for place, head in found])
    crashes = [part(read_crash, place, arch) for place, _ in found]
    crash = crashes[end] if crashes else None
    if briefs == "damaged":
        return crash, briefs
    return crash, [one | {"is_end": 1} if i == end and one != "damaged" else one for i, one in enumerate(crashes)] if len(found) > 1 else None


# ---- §11: the crash that counts ----

def find_end(crashes):
    """Its index; a crash is None where its header is damaged."""
    handled = [i for i, crash in enumerate(crashes) if crash and crash["outcome"] == 2]
    dumps = [i for i, crash in enumerate(crashes) if crash and crash["signal"] == 3 and i not in handled]
    others = [i for i, crash in enumerate(crashes) if crash and i not in handled + dumps]
    if not others:
        return (dumps or handled or [0])[-1]
    likely = [4, 1, 3]  # the last of the likeliest; any other outcome: the process was dying
    rank = {i: likely.index(crashes[i]["outcome"]) if crashes[i]["outcome"] in likely else 3 for i in others}
    end = [i for i in others if rank[i] == max(rank.values())][-1]
    while True:
        within = crashes[end]["within"]
        causes = [i for i in others if crashes[i]["sequence"] == within and 0 < within < crashes[end]["sequence"]]
        if not causes:
            return end
        end = causes[-1]


def read_crash(file, arch):
    stage = read_stage(file, 1, CRASH.size)
    if stage is None:
        return None
    crash = CRASH.pick(stage[0], "signal code kind pc sp fp trap error tid monotonic_ns boottime_ns wall_ns stack_low stack_high sequence")
    flags, valid = CRASH.get(stage[0], "flags"), CRASH.pick(stage[0], "address sender_pid sender_uid syscall_number")
    for bit, name, otherwise in ((1, "address", None), (2, "sender_pid", 0), (2, "sender_uid", 0), (4, "syscall_number", -1)):
        crash[name] = valid[name] if flags & bit else otherwise
    if flags & 8:
        crash["siginfo_lost"] = 1
    for stage, structure, name in ((8, DONE, "skipped"), (7, PROCESS, "stacks_cut")):
        found = part(read_stage, file, stage, structure.size)
        if isinstance(found, tuple) and structure.get(found[0], name) and (stage == 8 or isinstance(part(read_process, file), dict)):
            crash[name] = structure.get(found[0], name)
    for name, read in (("messages", read_messages), ("process", read_process), ("threads", lambda file: read_threads(file, arch)),
                       ("memory", read_memory)):
        found = part(read, file)
        if found is not None:
            crash[name] = found
    if crash.get("messages", "damaged") != "damaged":
        kind, crash["messages"] = crash["messages"]
        crash["kind"] = kind or crash["kind"]
    if crash["kind"] == 16 and crash["address"] is not None and is_memory(crash.get("process"), crash["address"]):
        crash["kind"] = 48
    for name, said in (("exiting", flags & 16), ("any_thread", crash["kind"] in (20, 21, 22, 44) and crash["code"] != -6)):
        if said:
            crash[name] = 1
    whole = [part(read_stage, file, stage, 0) not in (None, "damaged") for stage in range(1, 16)]
    crash["stages"] = sum(1 << stage for stage, is_whole in enumerate(whole, 1) if is_whole)
    words = file.words()
    crash["handled"] = int(words["outcome"] == 2)
    crash |= {name: value for name, value in (("brief", file.brief), ("within", words["within"])) if value}
    crash["notes"] = [NOTE.pick(note, "kind signal tid stage pc") for note in file.notes() if note_counts(note)]
    crash["cpu"] = part(read_cpu, file)
    crash["frames"] = [part(read_frames, file, stage) for stage in (3, 4)]
    chains = part(read_async, file)
    return crash | ({"async": chains} if chains is not None else {})


def read_async(file):
    found = read_stage(file, 9, ASYNC.size)
    if found is None:
        return None
    require(found[1] >= 8 and ASYNC.get(found[0], "count") <= 16, "asynchronous callers")
    words = found[0][8:found[1]]
    return {"async_omitted": ASYNC.get(found[0], "omitted"), "chains": read_chains(words[:len(words) // 8 * 8], ASYNC.get(found[0], "count"))}


def read_chains(words, count):
    chains = []
    for _ in range(count):
        require(len(words) >= CHAIN.size, "asynchronous callers")
        chain, words = CHAIN.pick(words, "pc frame count cut"), words[CHAIN.size:]
        require(8 * chain["count"] <= len(words), "asynchronous callers")
        callers = struct.unpack_from("<%dQ" % chain["count"], words)
        words = words[8 * chain["count"]:]
        chains.append([chain["frame"], chain["pc"], int(chain["cut"] == 1), *callers])
    return chains


def is_memory(process, address):
    for line in process["map"].split("\n")[:-1] if isinstance(process, dict) else []:
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \d+ *(.*)", line)
        if found and int(found[1], 16) <= address < int(found[2], 16):
            return not found[3] or found[3].startswith(("[", "/anon_hugepage"))
    return False


def note_counts(note):
    return NOTE.get(note, "commit") == 1 and NOTE.get(note, "crc") == crc32c(note[:24]) and NOTE.get(note, "kind") in (1, 2)


def read_cpu(file):
    stage = read_stage(file, 2, CPU.size)
    if stage is None:
        return None
    cpu = CPU.pick(stage[0], "arch register_count registers stack_start code_start stack_size code_size stack code")
    require(cpu["stack_size"] <= 512 and cpu["code_size"] <= 64, "context")
    names = {1: X86_64, 2: AARCH64}.get(cpu["arch"], [])[:cpu["register_count"]]
    return {"thread_name": CPU.get(stage[0], "thread_name"), "registers": [list(pair) for pair in zip(names, cpu["registers"])],
            "stack": [cpu["stack_start"], cpu["stack"][:cpu["stack_size"]].hex()],
            "code": [cpu["code_start"], cpu["code"][:cpu["code_size"]].hex()]}


def read_frames(file, stage):
    found = read_stage(file, stage, FRAMES.size)
    if found is None:
        return None
    frames = WALK.pick(found[0], "stored first total reason") | FRAMES.pick(found[0], "pcs")
    require(frames["stored"] <= 512 and frames["first"] <= frames["stored"] and 24 + 8 * frames["stored"] <= found[1], "frames")
    frames["pcs"] = frames["pcs"][:frames["stored"]]
    frames["reason"] = reason(frames["reason"])
    rare = {name: value for name, value in WALK.pick(found[0], "assumed signal_pc").items() if value}
    functions = read_functions(found[0][24:found[1]], frames["stored"]) if stage == 4 else {}
    return frames | rare | functions


def read_functions(words, stored):
    """From the words of a walk: number of each frame, offset in its function, size of that."""
    words = words[8 * stored:]
    if len(words) < 8:
        return {}
    count = FUNCTIONS.get(words, "count")
    if count > 66 or 8 + 8 * count > len(words) or FUNCTIONS.get(words, "crc") != crc32c(words[8:8 + 8 * count]):
        return {}
    each = [FUNCTION.pick(words[8 + 8 * i:], "offset size") for i in range(min(count, stored))]
    known = [[i, one["offset"], one["size"]] for i, one in enumerate(each) if one["offset"] < one["size"]]
    return {"functions": known} if known else {}


def reason(number):
    return dict(enumerate(REASONS)).get(number, "for a reason this version does not know")


def read_messages(file):
    """The kind that follows from the messages, and the messages."""
    found = read_stage(file, 5, MESSAGES.size)
    if found is None:
        return None
    head, text = MESSAGES.pick(found[0], "kind count text_size"), MESSAGES.get(found[0], "text")
    require(head["count"] <= 8 and head["text_size"] <= 6000 and found[1] >= 144 + head["text_size"], "messages")
    messages = []
    for i in range(head["count"]):
        message = MESSAGE.pick(found[0][MESSAGES.at("messages") + MESSAGE.size * i:], "source offset size cut")
        require(message["offset"] + message["size"] <= head["text_size"], "message")
        messages.append({"source": message["source"], "cut": int(message["cut"] == 1),
                         "text": text[message["offset"]:][:message["size"]].decode("latin-1")})
    return head["kind"], messages


def read_process(file):
    found = read_stage(file, 7, PROCESS.size)
    if found is None:
        return None
    process = PROCESS.pick(found[0], "resources map_size map_cut map")
    require(process["map_size"] <= 48864 and found[1] >= 288 + process["map_size"], "process")
    values = process["resources"]
    resources = []
    for number, (name, unit) in sorted(RESOURCES.items()):
        known, unlimited = values[number] != 2**64 - 1, name.endswith("_limit") and values[number] == 2**64 - 2
        resources.append([name, unit, int(known), 2**64 - 1 if unlimited else values[number] if known else 0])
    return {"map": process["map"][:process["map_size"]].decode("latin-1"), "map_cut": int(process["map_cut"] == 1), "resources": resources}


# ---- §7.1, §7.2, §7.3: other threads, stack memory, standard error ----

def read_threads(file, arch):
    if 6 not in file.sections:
        return None
    section = file.section(6)
    head = THREADS.pick(file.block(6, 0, THREADS.size), "slot_count slot_bytes")
    count, size = head["slot_count"], head["slot_bytes"]
    require(count == 0 or size >= THREAD.size and count <= 4096 and 64 + count * size <= len(section), "head of the threads")
    slots = [section[64 + size * i:][:size] for i in range(count)]
    while slots and THREAD.get(slots[-1], "commit") == 0:
        slots.pop()
    stage, header = part(read_stage, file, 6, COUNTED.size), part(read_stage, file, 1, CRASH.size)
    sequence = CRASH.get(header[0], "sequence") if header not in (None, "damaged") else 0
    complete = stage not in (None, "damaged")
    counted = COUNTED.pick(stage[0] if complete else bytes(COUNTED.size), "listed captured masked silent omitted error waited_ns")
    cpu = COUNTED.get(stage[0], "cpu_ns") if complete else 0
    counted |= {"crashed_cpu_ns": cpu} if cpu else {}
    return counted | {"complete": int(complete), "threads": [part(read_thread, slot, arch, sequence) for slot in slots]}


def read_thread(slot, arch, sequence):
    commit, of = THREAD.get(slot, "commit"), THREAD.get(slot, "sequence")
    if commit == 0:
        return None
    thread = THREAD.pick(slot, "tid how state name blocked pc sp stack_low stack_high")
    count = THREAD.get(slot, "register_count")
    require(commit == 0x44524854 and count <= 40 and THREAD.get(slot, "crc") == crc32c(slot[8:424]), "thread")
    if sequence and of != sequence:
        return None  # of an earlier crash or snapshot
    thread["state"] = thread["state"] if 33 <= thread["state"] <= 126 else 0
    names = {1: X86_64, 2: AARCH64}.get(arch, [])
    names += ["%s%d" % ("x" if arch == 2 else "r", i) for i in range(len(names), 40)]
    thread |= {"cpu_ns": THREAD.get(slot, "cpu_ns")} if THREAD.get(slot, "cpu_ns") else {}
    thread["registers"] = [list(pair) for pair in zip(names[:count], THREAD.get(slot, "registers"))]
    thread["walk"] = part(read_walk, slot)
    if thread["walk"] not in (None, "damaged") and THREAD.get(slot, "async_omitted"):
        thread["async_omitted"] = THREAD.get(slot, "async_omitted")
    return thread


def read_walk(slot):
    commit, head = THREAD.get(slot, "walk"), WALK.pick(slot[THREAD.at("head"):], "stored first total reason assumed")
    if commit == 0:
        return None
    room = 96 - THREAD.get(slot, "async_words")
    words, chains = slot[THREAD.at("pcs"):THREAD.size][:8 * max(room, 0)], slot[THREAD.at("pcs"):THREAD.size][8 * max(room, 0):]
    require(commit == 0x4b4c4157 and head["first"] <= head["stored"] <= room and
            THREAD.get(slot, "walk_crc") == crc32c(slot[432:][:32 + 8 * head["stored"]], chains), "walk")
    head["reason"], chains = reason(head["reason"]), read_chains(chains, THREAD.get(slot, "async_chains"))
    head |= {"chains": chains} if chains else {}
    functions = read_functions(words, head["stored"]) if THREAD.get(slot, "method") == 4 else {}
    signal_pc = WALK.get(slot[THREAD.at("head"):], "signal_pc")
    return head | ({"signal_pc": signal_pc} if signal_pc else {}) | {"method": THREAD.get(slot, "method"), "pcs": THREAD.get(slot, "pcs")[:head["stored"]]} | functions


def read_memory(file):
    if 7 not in file.sections:
        return None
    at, chunks = 0, []
    try:
        section = file.section(7)
        require(len(section) <= 64 << 20, "stack memory")
        while at + CHUNK.size <= len(section) and CHUNK.get(section[at:at + CHUNK.size], "commit") != 0:
            head = CHUNK.pick(section[at:at + CHUNK.size], "commit crc start size tid")
            end = at + CHUNK.size + head["size"]
            require(head["commit"] == 0x4b4e4843 and end <= len(section) and head["crc"] == crc32c(section[at + 8:end]), "chunk")
            chunks.append({"start": head["start"], "tid": head["tid"], "bytes": section[at + CHUNK.size:end].hex()})
            at = end + -end % 32
    except Damaged:
        chunks.append("damaged")
    return chunks or None


def read_stderr(file):
    if 8 not in file.sections:
        return None
    block = file.block(8, 0, min(TAIL.size, file.sections[8][1]))
    total, begun, data = TAIL.get(block, "total"), TAIL.get(block, "begun"), block[TAIL.at("bytes"):]
    if total == 0:
        return None
    oldest = max(0, (begun if total < begun < total + len(data) else total) - len(data))
    data = bytes(data[n % len(data)] for n in range(oldest, total))
    return {"total": total, "text": data.decode("latin-1")}


# ---- §5.2, §7.4: pulse and snapshots ----

def read_pulse(file):
    """Heartbeats and deadlines in use; None without any."""
    if 10 not in file.sections:
        return None
    block = file.block(10, 0, PULSE.size)
    heartbeats = [block[PULSE.at("heartbeats") + HEARTBEAT.size * i:] for i in range(16)]
    deadlines = [block[PULSE.at("deadlines") + DEADLINE.size * i:] for i in range(32)]
    heartbeats = [HEARTBEAT.pick(heartbeat, "tid name beat_ns hang_ns") | {"paused": int(HEARTBEAT.get(heartbeat, "paused") == 1)}
              for heartbeat in heartbeats if HEARTBEAT.get(heartbeat, "tid")]
    deadlines = [DEADLINE.pick(one, "name begun_ns near_ns limit_ms tid") for one in deadlines if DEADLINE.get(one, "number")]
    return {"heartbeats": heartbeats, "deadlines": deadlines} if heartbeats or deadlines else None


def read_snapshots(file, arch):
    """The snapshot of a hang and that of a deadline. Both are damaged where their head is."""
    if 11 not in file.sections:
        return None
    slots = part(read_snapshot_slots, file, 11, SNAPSHOTS)
    if slots == "damaged":
        return ["damaged", "damaged"]
    heads = [file.block(11, SNAPSHOTS.at("snapshots") + SNAPSHOT.size * i, SNAPSHOT.size) for i in (0, 1)]
    found = [part(read_snapshot, head, kind, slots, arch) for kind, head in enumerate(heads, 1)]
    return found if found != [None, None] else None


def read_memory_snapshot(file, arch):
    """The snapshot of a shortage of memory; None: there is none."""
    if 15 not in file.sections:
        return None
    slots = read_snapshot_slots(file, 15, MEMORY_SNAPSHOT)
    return read_snapshot(file.block(15, MEMORY_SNAPSHOT.at("snapshot"), SNAPSHOT.size), 3, slots, arch)


def read_snapshot_slots(file, kind, of):
    section = file.section(kind)
    head = of.pick(file.block(kind, 0, of.size), "slot_count slot_bytes")
    count, size = head["slot_count"], head["slot_bytes"]
    require(count == 0 or size >= THREAD.size and count <= 4096 and of.size + count * size <= len(section),
            "head of the snapshots")
    return [section[of.size + size * i:][:size] for i in range(count)]


def read_snapshot(block, kind, slots, arch):
    place = SNAPSHOT.pick(block, "first_slot slot_count commit crc counted counts_crc")
    require(place["first_slot"] + place["slot_count"] <= len(slots), "slots of a snapshot")
    if place["commit"] == 0:
        return None
    snapshot = SNAPSHOT.pick(block, "kind sequence tid name since_ns taken_ns resolved_ns")
    require(place["commit"] == 0x50414e53 and place["crc"] == crc32c(block[16:128]) and snapshot["kind"] == kind, "snapshot")
    slots = slots[place["first_slot"]:][:place["slot_count"]]
    while slots and THREAD.get(slots[-1], "commit") == 0:
        slots.pop()
    complete = place["counted"] == 0x53544e43 and place["counts_crc"] == crc32c(block[136:176])
    counts = SNAPSHOT.pick(block if complete else bytes(SNAPSHOT.size), "listed captured masked silent omitted error given_up took_ns")
    counts["given_up"] = int(counts["given_up"] == 1)
    return snapshot | counts | {"complete": int(complete), "threads": [part(read_thread, slot, arch, snapshot["sequence"]) for slot in slots]}


# ---- §8: ring log ----

def read_log(file):
    section = file.section(5)
    require(RING.size <= len(section) <= 256 << 20, "size of the ring log")
    ring = RING.pick(section, "lane_count lane_cells cell_bytes clock base_count base_ns mult shift crc")
    lanes, cells = ring["lane_count"], ring["lane_cells"]
    require(ring["crc"] == crc32c(section[:RING.at("crc")]) and ring["cell_bytes"] == 32 and lanes > 0 and cells > 0 and
            cells & (cells - 1) == 0, "ring header")
    lane_bytes = LANE.size + 32 * cells
    require((len(section) - RING.size) // lane_bytes >= lanes, "lanes")
    log = {"torn": 0, "overwritten_bytes": 0, "overwritten_entries": 0, "entries": []}
    for lane in range(lanes):
        read_lane(section[RING.size + lane * lane_bytes:][:lane_bytes], cells, lane, log)
    if ring["clock"] == 2:
        read_times(log["entries"], ring, later_point(file, ring))
    for entry in log["entries"]:
        del entry["monotonic"]
    if lanes > 1:
        log["entries"].sort(key=lambda entry: (entry["monotonic_ns"], entry["lane"], entry["sequence"]))
    return log


UNKNOWN = object()  # a whole entry of a kind that this page does not know


def line(ring, count):
    return ((count - ring["base_count"]) % 2**64 * ring["mult"] >> (ring["shift"] & 127)) % 2**64


def later_point(file, ring):
    """Counts and nanoseconds from the base of the ring's clock to the later point; None where the
    later point must not be used."""
    try:
        count, later_ns, turn = struct.unpack("<QQI4x", file.block(2, STATE.at("clock_count"), 24))
    except Damaged:
        return None
    counts, ns = (count - ring["base_count"]) % 2**64, (later_ns - ring["base_ns"]) % 2**64
    usable = turn and turn % 2 == 0 and 0 < counts < 2**63 and 0 < ns < 2**63
    return (counts, ns) if usable and abs(ns - line(ring, count)) <= ns // 16 else None


def read_times(entries, ring, later):
    latest = {}  # by lane and thread; the entries of a lane are in the order of their sequences
    for entry in entries:
        if not entry["monotonic"]:
            count = (entry["monotonic_ns"] - ring["base_count"]) % 2**64
            since = count * later[1] // later[0] if later else line(ring, entry["monotonic_ns"])
            entry["monotonic_ns"] = (ring["base_ns"] + since) % 2**64
        writer = entry["lane"], entry["tid"]
        entry["monotonic_ns"] = latest[writer] = max(entry["monotonic_ns"], latest.get(writer, 0))


def read_lane(lane, cells, index, log):
    head, body, taken = LANE.get(lane, "head"), lane[LANE.size:], len(log["entries"])
    at = overwritten = max(0, head - cells)
    unknown = 0
    log["overwritten_bytes"] = (log["overwritten_bytes"] + 32 * at) % 2**64
    while at < head:
        entry, used = entry_at(body, cells, at)
        if entry is None or used > head - at:
            begun = ENTRY.pick(body[at % cells * 32:][:32], "commit sequence tid")
            log["torn"] += (begun["sequence"] == at and begun["tid"] != 0) or begun["commit"] % 2**32 == (at + 1) % 2**32
            at += 1
            continue
        if entry is UNKNOWN:
            unknown += 1
        else:
            log["entries"].append(entry | {"lane": index})
        at += used
    gone = LANE.get(lane, "entries") - (len(log["entries"]) - taken + unknown)
    log |= {"unknown": log.get("unknown", 0) + unknown} if unknown else {}
    log["overwritten_entries"] = (log["overwritten_entries"] + min(max(gone, 0), overwritten)) % 2**64


def entry_at(body, cells, sequence):
    at = sequence % cells * 32
    head = body[at:at + 32]
    entry = ENTRY.pick(head, "commit sequence time tid size level kind")
    if entry["sequence"] != sequence or entry["commit"] % 2**32 != (sequence + 1) % 2**32 or entry["size"] > 4000:
        return None, 0
    follow, used, kind = (body[at + 32:] + body)[:entry["size"]], (32 + entry["size"] + 31) // 32, entry["kind"] & 0x3f
    if entry["commit"] >> 32 != crc32c(head[8:], follow):
        return None, 0
    if kind > 1:
        return UNKNOWN, used
    said = part(read_fields, follow) if kind == 1 else {"text": follow.decode("latin-1")}
    said = {"text": "", "damaged": 1} if said == "damaged" else said
    return said | {"sequence": sequence, "monotonic_ns": entry["time"], "tid": entry["tid"], "level": entry["level"],
                   "monotonic": entry["kind"] & 0x40, "cut": int(entry["kind"] & 0x80 != 0)}, used


def read_fields(block):
    """The rest of an entry of kind 1."""
    taken = 0

    def take(size):
        nonlocal taken
        require(size <= len(block) - taken, "entry with fields")
        taken += size
        return block[taken - size:taken]
    head = FIELDS.pick(take(FIELDS.size), "category_size field_count text_size")
    require(head["category_size"] <= 63, "category")
    category, text = take(head["category_size"]).split(b"\0")[0].decode("latin-1"), take(head["text_size"]).decode("latin-1")
    fields = []
    for _ in range(head["field_count"]):
        sizes = FIELD.pick(take(FIELD.size), "key_size value_size")
        fields.append([take(sizes[name]).decode("latin-1") for name in ("key_size", "value_size")])
    return {"text": text} | ({"category": category} if category else {}) | ({"fields": fields} if fields else {})
