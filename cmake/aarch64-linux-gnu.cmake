# Cross-compile for AArch64 with Debian's gcc-aarch64-linux-gnu, and run the tests under user-mode
# emulation. scripts/foreign-packages has put the libraries that the tests need into the folder.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(foreign ${CMAKE_CURRENT_LIST_DIR}/../build/foreign-arm64 ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${foreign} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${foreign}/usr/lib/aarch64-linux-gnu/pkgconfig)

set(libraries ${foreign}/usr/lib/aarch64-linux-gnu)
set(CMAKE_C_FLAGS_INIT "-idirafter ${foreign}/usr/include -idirafter ${foreign}/usr/include/aarch64-linux-gnu")
# Not by the emulator's option -L, which leads every path, "/" too, to the folder of the cross
# compiler first: the loader is named in the program.
set(cross /usr/aarch64-linux-gnu/lib)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--dynamic-linker=${cross}/ld-linux-aarch64.so.1 -Wl,-rpath-link,${libraries} -Wl,-rpath-link,${foreign}/lib/aarch64-linux-gnu")
set(CMAKE_CROSSCOMPILING_EMULATOR
    python3 -B ${CMAKE_CURRENT_LIST_DIR}/../Tests/Core/emulate.py qemu-aarch64 -L / -E LD_LIBRARY_PATH=${libraries}:${foreign}/lib/aarch64-linux-gnu:${cross})
