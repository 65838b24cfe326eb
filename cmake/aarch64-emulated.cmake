# For AArch64; the tests run under user-mode emulation.
set(foreign build/foreign-arm64)
include(${CMAKE_CURRENT_LIST_DIR}/aarch64-linux-gnu.cmake)

# Not by the emulator's option -L, which leads every path, "/" too, to the folder of the cross
# compiler first: the loader is named in the program.
set(cross /usr/aarch64-linux-gnu/lib)
string(PREPEND CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--dynamic-linker=${cross}/ld-linux-aarch64.so.1 ")
set(CMAKE_CROSSCOMPILING_EMULATOR
    python3 -B ${CMAKE_CURRENT_LIST_DIR}/../Tests/Core/emulate.py qemu-aarch64 -L / -E LD_LIBRARY_PATH=${libraries}:${foreign}/lib/aarch64-linux-gnu:${cross})
