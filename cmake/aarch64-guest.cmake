# For AArch64; the tests run on a kernel of their own (scripts/guest-arm64).
set(foreign build/guest/packages)
include(${CMAKE_CURRENT_LIST_DIR}/aarch64-linux-gnu.cmake)

# A kernel and a CPU that know pointer authentication and branch targets: return addresses are
# signed, as in what distributions build.
string(PREPEND CMAKE_C_FLAGS_INIT "-mbranch-protection=standard ")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
