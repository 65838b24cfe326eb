"""Sections 1 to 3 and 13 of docs/FORMAT.md: conventions, the tables of the page, a file and its
sections."""
import functools
import os
import pathlib
import re
import stat
import struct

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/FORMAT.md"
NUMBERS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i", "i64": "q"}


class Damaged(Exception):
    """A checksum or a bound is wrong."""


def require(condition, what):
    if not condition:
        raise Damaged(what)


def part(read, *arguments):
    """A part of a file. A part that fails is damaged, the other parts stay readable."""
    try:
        return read(*arguments)
    except Damaged:
        return "damaged"


def _crc_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        yield byte


CRC_TABLE = list(_crc_table())


@functools.lru_cache(512)  # a damaged file is the same as the last one almost everywhere
def _crc_after(crc, piece):
    for byte in piece:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc


def crc32c(*parts):
    crc = 0xffffffff
    for piece in parts:
        crc = _crc_after(crc, bytes(piece))
    return crc ^ 0xffffffff


class Structure:
    """A structure as one table of the page has it: its size, and offset and type of its fields."""

    def __init__(self, size, rows):
        self.size = size
        self.fields = {name: (int(offset), kind) for offset, kind, name in rows}
        self.types = {name: re.match(r"(\w+)(?:\[(\d+)\])?", kind).groups() for _, kind, name in rows}

    def at(self, name):
        return self.fields[name][0]

    def get(self, block, name):
        """A number, a string with each byte as the character of its number, the bytes of an array,
        or its numbers."""
        offset, (kind, count) = self.fields[name][0], self.types[name]
        if kind == "string":
            return block[offset:offset + int(count)].split(b"\0")[0].decode("latin-1")
        if kind == "u8" and count:
            return block[offset:offset + int(count)]
        values = struct.unpack_from("<%s%s" % (count or 1, NUMBERS[kind]), block, offset)
        return list(values) if count else values[0]

    def pick(self, block, names):
        return {name: self.get(block, name) for name in names.split()}


def structures(page):
    chunks = re.split(r"\(`lg__(\w+)`, (\d+) bytes\)", page)[1:]
    for name, size, text in zip(chunks[::3], chunks[1::3], chunks[2::3]):
        yield name, Structure(int(size), re.findall(r"^(\d+) +(\S+) +(\w+)\b", text.split("```\n")[1], re.M))


def names(page, head):
    """Number and name, in the columns of the block whose first line has these words."""
    block = re.split("```\n%s\n" % head.replace(" ", " +"), page)[1].split("```")[0]
    return sorted((int(number), name) for number, name in re.findall(r"(?:^| ) *(\d+) +(\S.*?)(?=  |$)", block, re.M))


TEXT = PAGE.read_text(encoding="utf-8")
STRUCTURES = dict(structures(TEXT))
RESOURCES = {number: (name.split(" ", 1) + [""])[:2] for number, name in names(TEXT, "resource, unit")}
HEADER, SECTION = STRUCTURES["header"], STRUCTURES["section"]


def uuid(block):
    digits = block.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class File:
    def __init__(self, path):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            require(stat.S_ISREG(os.fstat(descriptor).st_mode), "not a regular file")
            self.bytes = file.read()
        head = self.bytes[:HEADER.size]
        require(len(head) == HEADER.size and head[:8] in (b"\x89LGR\r\n\x1a\n", b"\x89LGL\r\n\x1a\n"), "magic")
        require(HEADER.get(head, "byte_order") == 0x01020304, "byte order")
        require(HEADER.get(head, "major") <= 1 and HEADER.get(head, "incompat_flags") == 0, "a newer version")
        require(HEADER.get(head, "major") == 1 and HEADER.size <= HEADER.get(head, "header_bytes") <= 4096 and
                HEADER.get(head, "crc") == crc32c(head[:HEADER.at("crc")]) and HEADER.get(head, "section_count") <= 18, "header")
        self.kind = "run" if head[3:4] == b"R" else "ledger"
        self.sections = {}
        for i in range(HEADER.get(head, "section_count")):
            section = SECTION.pick(head[HEADER.at("sections") + SECTION.size * i:], "kind offset size")
            self.sections.setdefault(section["kind"], (section["offset"], section["size"]))

    def section(self, kind):
        offset, size = self.sections.get(kind, (len(self.bytes), 1))
        require(offset <= len(self.bytes) and size <= len(self.bytes) - offset, "section %d" % kind)
        return self.bytes[offset:offset + size]

    def block(self, kind, at, size):
        section = self.section(kind)
        require(at <= len(section) and size <= len(section) - at, "block of section %d" % kind)
        return section[at:at + size]
