"""The corpus of programs in Swift, Rust and Python, which run under `launchguard run`: bugs by
number, and the ways that reach them."""

SWIFT_SHAPES = "\n".join(f"    var {name}: Int {{ @inline(never) get {{ unsafe pointer[{i}] }} }}"
                         for i, name in enumerate("title artist genre label year length rating number".split()))


def swift(version):
    added = lambda name: f"@inline(never) func {name}(_ of: Int) -> Int {{\n    counter += of\n    return of &* 3\n}}\n\n" if version > 1 else ""
    line = "    counter += 1\n" if version > 1 else ""
    return f"""import Glibc

nonisolated(unsafe) var counter = 0

struct Track {{
    let pointer: UnsafePointer<Int>
{SWIFT_SHAPES}
}}

{added("addedFirst")}struct Player {{
    var seconds: [Int]
    var title: String?

    @inline(never) func second(_ index: Int) -> Int {{
{line}        return seconds[index]
    }}

    @inline(never) func third(_ index: Int) -> Int {{
        return seconds[index] &+ 3
    }}

    @inline(never) func name() -> String {{
{line}        return title!
    }}
}}

{added("addedSecond")}@inline(never) func pick<Element>(_ list: [Element], _ index: Int) -> Element {{
    counter += index
    return list[index]
}}

@inline(never) func grow(_ value: Int) -> Int {{
{line}    return value + Int.max
}}

@inline(never) func divide(_ value: Int, by other: Int) -> Int {{
    return value / other
}}

{added("addedThird")}@inline(never) func refuse(_ way: Int) {{
    if counter >= 0 {{ fatalError("refused after \\(way) tries") }}
}}

@inline(never) func decline(_ way: Int) {{
{line}    if counter >= -1 {{ fatalError("refused after \\(way) tries") }}
}}

@inline(never) func mapped(_ list: [Int], _ limit: Int) -> [Int] {{
    return list.map {{ (value: Int) -> Int in
{line}        if value == limit {{ abort() }}
        return value &+ 1
    }}
}}

@inline(never) func loadPage(_ list: [Int], _ index: Int) async -> Int {{
    await Task.yield()
    return list[index]
}}

{added("addedFourth")}@inline(never) func storePage(_ list: [Int], _ index: Int) async -> Int {{
    await Task.yield()
{line}    return list[index] &+ 1
}}

@inline(never) func forEver(_ value: Int) -> Int {{
    counter &+= value
    let deeper = forEver(value &+ 1)
    counter &+= deeper
    return deeper &+ counter
}}

@inline(never) func firstCaller(_ bug: Int, _ way: Int) -> Int {{
    let value = perform(bug, way)
    counter += 1
    return value
}}

@inline(never) func otherCaller(_ bug: Int, _ way: Int) -> Int {{
    let value = perform(bug, way)
    counter += 2
    return value
}}

@inline(never) func perform(_ bug: Int, _ way: Int) -> Int {{
    let player = Player(seconds: [1, 2], title: counter == 0 ? nil : "a")
    let track = unsafe Track(pointer: UnsafePointer(bitPattern: 8 + counter * 8)!)
    switch bug {{
    case 1: return player.second(way + 5)
    case 2: return player.third(way + 5)
    case 3: return player.name().count
    case 4: return way == 1 ? pick(["a"], 4).count : pick([1], 4)
    case 5: return grow(way + 1)
    case 6: return divide(way, by: counter)
    case 7: refuse(way)
    case 8: decline(way)
    case 9: return mapped([1, 2, 3], 3).count
    case 10: return forEver(way)
    case 11: return track.title
    case 12: return track.artist
    case 13: return track.genre
    case 14: return track.label
    default: return track.rating
    }}
    return 0
}}

@main struct Main {{
    static func main() async {{
        let bug = Int(CommandLine.arguments[1])!, way = Int(CommandLine.arguments[2])!
        if bug == 20 {{ print(await loadPage([1], 3 + way)) }}
        if bug == 21 {{ print(await storePage([1], 3 + way)) }}
        print(way == 1 ? otherCaller(bug, way) : firstCaller(bug, way))
    }}
}}
"""


SWIFT_BUGS = {1: "an index", 2: "an index", 3: "nil", 4: "an index in a generic function", 5: "an overflow", 6: "a division", 7: "fatalError", 8: "fatalError",
              9: "abort() in a closure", 10: "a recursion", 11: "a getter", 12: "a getter", 13: "a getter", 14: "a getter", 20: "an asynchronous index", 21: "an asynchronous index"}
SWIFT_BUILDS = {"O": (["-O"], 1), "Onone": (["-Onone"], 1), "later": (["-O"], 2)}


def rust(version):
    added = lambda name: f"#[inline(never)]\nfn {name}(of: usize) -> usize {{\n    of * 3\n}}\n\n" if version > 1 else ""
    line = "    tick();\n" if version > 1 else ""
    return f"""#![allow(dead_code, unconditional_recursion)]
use std::collections::HashMap;
use std::sync::atomic::{{AtomicUsize, Ordering}};

static COUNTER: AtomicUsize = AtomicUsize::new(0);

fn tick() {{
    COUNTER.fetch_add(1, Ordering::Relaxed);
}}

{added("added_first")}#[inline(never)]
fn element(list: &[usize], index: usize) -> usize {{
{line}    list[index]
}}

#[inline(never)]
fn other_element(list: &[usize], index: usize) -> usize {{
    let value = list[index + 1];
    value + 1
}}

{added("added_second")}#[inline(never)]
fn owner(names: &HashMap<String, usize>, name: &str) -> usize {{
{line}    *names.get(name).unwrap()
}}

#[inline(never)]
fn number(text: &str) -> usize {{
    text.parse::<usize>().expect("no number")
}}

#[inline(never)]
fn refuse(way: usize) -> usize {{
{line}    if way < 100 {{
        panic!("refused after {{}} tries", way);
    }}
    way
}}

{added("added_third")}#[inline(never)]
fn write_nowhere(way: usize) -> usize {{
{line}    unsafe {{ std::ptr::write_volatile((COUNTER.load(Ordering::Relaxed) * 8) as *mut usize, way) }};
    way
}}

#[inline(never)]
fn read_nowhere(_way: usize) -> usize {{
    unsafe {{ std::ptr::read_volatile((COUNTER.load(Ordering::Relaxed) * 16) as *const usize) + 1 }}
}}

#[inline(never)]
fn copied<T: Copy>(list: *const T) -> T {{
{line}    unsafe {{ std::ptr::read_volatile(list) }}
}}

#[inline(never)]
fn give_up(way: usize) -> usize {{
    if way < 100 {{
        std::process::abort();
    }}
    way
}}

#[inline(never)]
fn leave(way: usize) -> usize {{
{line}    if way < 100 {{
        std::process::abort();
    }}
    way + 1
}}

#[inline(never)]
fn for_ever(depth: usize) -> usize {{
    let room = [depth; 8];
    for_ever(std::hint::black_box(room)[depth % 8] + 1) + depth
}}

fn perform(bug: usize, way: usize) -> usize {{
    match bug {{
        1 => element(&[1, 2], way + 5),
        2 => other_element(&[1, 2], way + 5),
        3 => owner(&HashMap::new(), if way == 1 {{ "bob" }} else {{ "alice" }}),
        4 => number("x"),
        5 => refuse(way),
        6 => write_nowhere(way),
        7 => read_nowhere(way),
        8 => if way == 1 {{ copied(std::ptr::null::<u8>()) as usize }} else {{ copied(std::ptr::null::<u64>()) as usize }},
        9 => give_up(way),
        10 => leave(way),
        _ => for_ever(way),
    }}
}}

#[inline(never)]
fn first_caller(bug: usize, way: usize) -> usize {{
    perform(bug, way) + 1
}}

#[inline(never)]
fn other_caller(bug: usize, way: usize) -> usize {{
    perform(bug, way) + 2
}}

fn main() {{
    let arguments: Vec<usize> = std::env::args().skip(1).map(|text| text.parse().unwrap()).collect();
    let sum = if arguments[1] == 1 {{ other_caller(arguments[0], 1) }} else {{ first_caller(arguments[0], arguments[1]) }};
    println!("{{}}", sum);
}}
"""


RUST_BUGS = {1: "an index", 2: "an index", 3: "unwrap()", 4: "expect()", 5: "panic!()", 6: "a write", 7: "a read", 8: "a read in a generic function", 9: "abort()", 10: "abort()",
             11: "a recursion"}
RUST_BUILDS = {"O2": (["-Copt-level=2"], 1), "O0": (["-Copt-level=0"], 1), "later": (["-Copt-level=2"], 2)}


def python(version):
    added = "def added(of):\n    return of * 3\n\n\n" if version > 1 else ""
    line = "    counter.append(1)\n" if version > 1 else ""
    return f"""import json
import sys

counter = []


{added}def parse(text):
{line}    return json.loads(text)


def number(text):
    return int(text)


{added}def other_number(text):
{line}    return int(text) + 1


def find(users, name):
    return users[name]


def refuse(way):
    raise RuntimeError("refused after %d tries" % way)


def leave(way):
    sys.exit(3)


def perform(bug, way):
    if bug == 1:
        parse("{{")
    if bug == 2:
        number("x%d" % way)
    if bug == 3:
        other_number("x%d" % way)
    if bug == 4:
        find({{}}, "bob" if way == 1 else "alice")
    if bug == 5:
        refuse(way)
    if bug == 6:
        leave(way)


def other_caller(bug, way):
    perform(bug, way)


if sys.argv[2] == "1":
    other_caller(int(sys.argv[1]), 1)
else:
    perform(int(sys.argv[1]), int(sys.argv[2]))
"""


PYTHON_BUGS = {1: "a parser", 2: "a number", 3: "a number", 4: "a key", 5: "an exception", 6: "an exit"}
