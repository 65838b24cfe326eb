"""A row of the table of programs, and what is seen of it."""
import dataclasses
import difflib
import re


# Lines that are not compared, as docs/man/launchguard-run.1.in says what they show.
BY_DESIGN = (
    # the files of the run
    r"descriptor \d+: (\S+/runs/\S+\.lgrun|\S+/ledger\.lg|/proc/[#\d]+/maps) ?.* 1$",
    # the program ends with the tool
    r"^signal of the parent's death",
)


@dataclasses.dataclass
class Row:
    name: str
    command: object  # a list of words; or a text for sh
    needs: str = ""  # commands, beside the first word
    short: bool = False  # in `make test` too
    input: str = ""  # standard input
    steps: tuple = None  # on a terminal: what is typed, and what is waited for (life.py)
    is_outer: bool = False  # `under` starts a program with the tool, where the command says so
    user: str = ""  # who lives it, where root runs the tests
    needs_root: bool = False
    before: str = ""  # a script of sh, without the tool
    mounts: tuple = ()  # folders that are empty in the life
    stays: tuple = ()  # names of processes that live on
    # The runs that are listed with a bad end: name, end, signal; with "perhaps" where the process
    # may end before it has a run.
    deaths: tuple = ()
    has_run: bool = True  # not a static program, nor one with more rights: the tool would say so
    masks: tuple = ()  # what may differ, as (expression, replacement)
    is_sorted: bool = False  # lines come in any order
    environment: dict = dataclasses.field(default_factory=dict)
    # Differences that are known, as (expression of a line, reason). One that is gone is an error,
    # unless the reason begins with "sometimes".
    known: tuple = ()
    limit: int = 60


def tokens(text):
    return re.findall(r"\w+|\W", text)


class Noise(Exception):
    pass


def without_noise(first, second, third):
    """Three texts, in which what differs between the first two is gone."""
    if first == second:
        return first, third
    parts, others, thirds = tokens(first), tokens(second), tokens(third)
    if len(parts) != len(others):
        raise Noise("two lives without the tool differ:\n" + "\n".join(difflib.unified_diff(first.splitlines(), second.splitlines(), "first", "second", n=0, lineterm="")))
    noise = [at for at, part in enumerate(parts) if part != others[at]]
    if len(thirds) == len(parts):
        for at in noise:
            parts[at] = thirds[at] = "#"
    return "".join(parts), "".join(thirds)


def lines(facet, seen, row):
    """A facet as lines."""
    value = seen.get(facet)
    if isinstance(value, dict):
        value = ["%s %s" % item for item in sorted(value.items())]
    found = value.splitlines() if isinstance(value, str) else [str(entry) for entry in value] if isinstance(value, list) else [str(value)]
    text = re.sub(r"\b\d{5}\b", lambda number: "#" if 0 <= int(number[0]) - seen["first"] < 900 else number[0], "\n".join(found))
    for expression, replacement in row.masks:
        text = re.sub(expression, replacement, text)
    found = [line for line in text.split("\n") if not any(re.search(expression, line) for expression in BY_DESIGN)]
    return sorted(found) if row.is_sorted or facet == "tree" else found


FACETS = "lost", "status", "output", "errors", "left", "modes", "foreground", "tree", "ipc", "shm"


def differences(row, first, second, third):
    """Lines of what differs in the third life, each with its facet."""
    found = []
    for facet in ["lost"] if third.get("lost") else FACETS:
        texts = ["\n".join(lines(facet, seen, row)) for seen in (first, second, third)]
        expected, got = without_noise(*texts)
        for line in difflib.unified_diff(expected.split("\n"), got.split("\n"), lineterm="", n=0):
            if line[:1] in "+-" and line[:3] not in ("+++", "---"):
                found.append("%s: %s" % (facet, line))
    return found
