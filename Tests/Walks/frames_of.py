"""For gdb: runs the program, and prints the frames of the thread that crashes, innermost first."""
import json

import gdb

for command in ("set pagination off", "set confirm off", "set debuginfod enabled off", "set backtrace past-main on", "set backtrace past-entry on",
                "handle SIGUSR1 nostop noprint pass", "handle SIGILL nostop noprint pass", "run"):
    gdb.execute(command, to_string=True)

frames, frame = [], gdb.newest_frame()
while frame is not None:
    # One that was inlined or left by a jump has no address of its own on the stack.
    if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
        frames.append(frame.pc())
    frame = frame.older() if len(frames) < 64 else None
print("FRAMES " + json.dumps(frames), flush=True)
for _ in range(8):
    if not gdb.selected_inferior().pid:
        break
    gdb.execute("continue", to_string=True)
gdb.execute("kill" if gdb.selected_inferior().pid else "info inferiors", to_string=True)
