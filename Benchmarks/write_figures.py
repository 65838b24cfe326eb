#!/usr/bin/env python3
"""Put measured tables into docs/BENCHMARKS.md: Benchmarks/write_figures.py [FOLDER]

FOLDER is what run.sh keeps, build/gcc/bench by default. The page has a fence below each
`<!-- TABLE: TITLE | TITLE -->`: the first line of TABLE.txt, which says when and where, and its
paragraphs that begin with one of the titles; without titles all of them. A table that is not in
FOLDER keeps its old fence, and with it its old first line.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/BENCHMARKS.md"
MARKED = re.compile(r"<!-- ([\w-]+):? ?([^\n]*?) -->\n```\n(.*?)```\n", re.S)


def chosen(text, titles):
    """The text of a fence; an exception where the table is not whole."""
    first, *paragraphs = re.split(r"\n\n+", text.strip("\n"))
    for paragraph in paragraphs:
        if paragraph.startswith("not measured: "):
            raise LookupError(paragraph)
    for title in titles:
        if not any(paragraph.startswith(title) for paragraph in paragraphs):
            raise LookupError(f"no table begins with {title!r}")
    kept = [paragraph for paragraph in paragraphs if not titles or paragraph.startswith(tuple(titles))]
    return "\n\n".join([first, *kept]) + "\n"


def write(page, folder):
    """The new page, and a line on each of its sections."""
    said = []

    def fence(found):
        table, titles = found[1], [title for title in found[2].split(" | ") if title]
        path = folder / f"{table}.txt"
        text = found[3]
        if not path.exists():
            said.append(f"{table}: kept; there is no {path}")
        else:
            try:
                text = chosen(path.read_text(), titles)
                said.append(f"{table}: " + ("as before" if text == found[3] else "written"))
            except LookupError as reason:
                said.append(f"{table}: kept; {path}: {reason}")
        return found[0][:found.start(3) - found.start()] + text + "```\n"

    return MARKED.sub(fence, page), said


if __name__ == "__main__":
    text, said = write(PAGE.read_text(), pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/gcc/bench"))
    PAGE.write_text(text)
    print("\n".join(said))
