"""emulate.py EMULATOR ARGUMENT…: run a user-mode emulator as the tests of the core need one.

The emulator ends, by a failed assertion, where a process sends itself a signal in the name of a
fault: it takes that signal for a fault of its own. A filter refuses that system call for the
signals that a fault can raise, and the handler of LaunchGuard lets the fault happen again instead,
as it does in a sandbox.
"""
import ctypes
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_WORD, JUMP_IF_EQUAL, JUMP_IF_MORE, RETURN = 0x20, 0x15, 0x25, 0x06
REFUSE, ALLOW = 0x00050001, 0x7FFF0000  # with EPERM; let pass
CALLS = {"x86_64": 297, "aarch64": 240}  # rt_tgsigqueueinfo() of this system
SIGNAL, LAST_FAULT = 32, 31  # where a filter finds the third argument


def refuse(call):
    steps = ((LOAD_WORD, 0, 0, 0), (JUMP_IF_EQUAL, 0, 3, call), (LOAD_WORD, 0, 0, SIGNAL), (JUMP_IF_MORE, 1, 0, LAST_FAULT),
             (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program):
        sys.exit("emulate.py: the system refuses a filter: %s" % os.strerror(ctypes.get_errno()))


refuse(CALLS[platform.machine()])
os.execvp(sys.argv[1], sys.argv[1:])
