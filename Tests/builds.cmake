# The tests of `make check` with other builds of the core, and the Swift tests with sanitizers: each
# test here is one of these runs, and its output is that of the run.
include(ProcessorCount)
ProcessorCount(cores)
math(EXPR all "${busy} * ${cores}")

function(build_test name label script)
    add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/scripts/${script} ${ARGN})
    set_tests_properties(${name} PROPERTIES TIMEOUT 7200 LABELS ${label} PROCESSORS ${all} SKIP_RETURN_CODE 77)
endfunction()

build_test(core-clang test check-core clang Tests/Core/capture) # the most that depends on the compiler
set_tests_properties(core-clang PROPERTIES PROCESSORS ${busy})   # it waits as long as it builds
build_test(core-clang-long long check-core clang)
build_test(core-undefined long check-core undefined) # the core traps on undefined behaviour
build_test(core-hardened long check-core hardened)   # the flags of distributions, all checks of libc
build_test(core-aarch64 long check-core aarch64)     # under emulation
build_test(guest-arm64-check long guest-arm64 check) # on a kernel for AArch64
build_test(guest-arm64-faults long guest-arm64 faults --failures)
build_test(core-musl long check-core musl)
foreach(release trixie sid)
    build_test(core-debian-${release} long check-debian ${release}) # their compilers and libcs
endforeach()

foreach(sanitizer thread address)
    build_test(swift-${sanitizer} long check-swift ${sanitizer} --filter "^LaunchGuardTests\\.")
    build_test(swift-${sanitizer}-guards long check-swift ${sanitizer} --filter "^LaunchGuardGuardsTests\\.")
    build_test(swift-${sanitizer}-tools long check-swift ${sanitizer} --package-path Tools)
endforeach()
build_test(swift-docs long build-docs) # the pages of the modules

# Each test of `make long` is in a part of it.
add_test(NAME long-parts COMMAND ${PROJECT_SOURCE_DIR}/scripts/long ${PROJECT_BINARY_DIR} list)
set_tests_properties(long-parts PROPERTIES TIMEOUT 120 LABELS test)
