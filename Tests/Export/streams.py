"""The streams of a minidump that no reader at hand shows, read by the public layouts."""
import struct

THREAD_NAMES, MAPS, STATUS, CRASHPAD, BREAKPAD = 24, 0x47670009, 0x47670004, 0x43500001, 0x47670001


def streams(data):
    """By their kind."""
    signature, version, count, offset = struct.unpack_from("<4sIII", data)
    assert signature == b"MDMP" and version & 0xffff == 0xa793, "no minidump"
    found = {}
    for index in range(count):
        kind, size, place = struct.unpack_from("<III", data, offset + 12 * index)
        assert kind not in found and place + size <= len(data) and place % 4 == 0, f"stream {kind}"
        found[kind] = data[place:place + size]
    return found


def thread_names(data):
    stream = streams(data)[THREAD_NAMES]
    names = {}
    for index in range(struct.unpack_from("<I", stream)[0]):
        tid, place = struct.unpack_from("<IQ", stream, 4 + 12 * index)
        size = struct.unpack_from("<I", data, place)[0]
        names[tid] = data[place + 4:place + 4 + size].decode("utf-16-le")
    return names


def annotations(data):
    stream = streams(data)[CRASHPAD]
    version, guid, _, size, place = struct.unpack_from("<I16s16sII", stream)
    assert version == 1

    def text(at):
        length = struct.unpack_from("<I", data, at)[0]
        return data[at + 4:at + 4 + length].decode()

    count = struct.unpack_from("<I", data, place)[0]
    assert size == 4 + 8 * count
    pairs = [struct.unpack_from("<II", data, place + 4 + 8 * index) for index in range(count)]
    return guid, {text(key): text(value) for key, value in pairs}
