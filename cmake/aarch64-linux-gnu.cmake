# Cross-compile for AArch64 with Debian's gcc-aarch64-linux-gnu; the two that include this say where
# the tests run. scripts/foreign-packages has put the libraries that the tests need into `foreign`.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(foreign ${CMAKE_CURRENT_LIST_DIR}/../${foreign} ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${foreign} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${foreign}/usr/lib/aarch64-linux-gnu/pkgconfig:${foreign}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${foreign})

set(libraries ${foreign}/usr/lib/aarch64-linux-gnu)
set(CMAKE_C_FLAGS_INIT "-idirafter ${foreign}/usr/include -idirafter ${foreign}/usr/include/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${libraries} -Wl,-rpath-link,${foreign}/lib/aarch64-linux-gnu")
