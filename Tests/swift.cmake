# The tests of what Swift builds: the modules, the tool, and the ways to die of the Swift build. The
# Makefile builds all of it before ctest runs; no test here builds anything of it but a sanitizer's.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
find_program(LAUNCHGUARD_SWIFT swift REQUIRED)
get_filename_component(compiler ${LAUNCHGUARD_SWIFT} DIRECTORY)
set(built ${PROJECT_SOURCE_DIR}/Tools/.build/debug)
set(released ${PROJECT_SOURCE_DIR}/Tools/.build/release)
set(with_tool --tool ${built}/launchguard)
set(with_preload --preload $<TARGET_FILE:launchguard_preload>)
set(with_dump --dump $<TARGET_FILE:format-dump>)
set(with_agent --agent ${PROJECT_BINARY_DIR}/Sources/launchguard-agent/launchguard-agent) # where it can be built

# A module's tests all run at once. Two modules in one process would wait for each other: tests that
# wait for programs keep the threads of the pool, and the launches of the others need them.
function(module_test module package)
    set(test ${LAUNCHGUARD_SWIFT} test --skip-build --disable-xctest --package-path ${PROJECT_SOURCE_DIR}/${package} ${ARGN})
    add_test(NAME ${module} COMMAND ${test})
    add_test(NAME ${module}-long COMMAND ${test})
    set_tests_properties(${module} ${module}-long PROPERTIES TIMEOUT 3600 LABELS "test;swift" PROCESSORS ${busy}
        RESOURCE_LOCK swift-${package})
    set_tests_properties(${module}-long PROPERTIES LABELS "long;swift" ENVIRONMENT LAUNCHGUARD_LONG=1)
endfunction()

module_test(LaunchGuardTests . --filter "^LaunchGuardTests\\.")
module_test(LaunchGuardGuardsTests . --filter "^LaunchGuardGuardsTests\\.")
module_test(ToolsTests Tools)

# The modules as `make` has built them.
add_test(NAME public-symbols COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/Tests/Docs/test_public_symbols.py --swift ${LAUNCHGUARD_SWIFT})
set_tests_properties(public-symbols PROPERTIES TIMEOUT 600 LABELS "test;swift")

function(tool_test name script)
    add_test(NAME ${name} COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/Tests/${script} ${ARGN})
    set_tests_properties(${name} PROPERTIES TIMEOUT 3600 LABELS "test;tool" PROCESSORS ${lively} ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endfunction()

# What `make test` runs a part of.
function(tool_long_test name)
    tool_test(${name}-long ${ARGN})
    set_tests_properties(${name}-long PROPERTIES TIMEOUT 7200 LABELS "long;tool")
endfunction()

set(test faults-swift Faults/run_faults.py ${with_dump} --failures)
tool_test(${test} --cross --sample 60 ${built}/launchguard-faults)
tool_long_test(${test} --cross ${built}/launchguard-faults)
# As a program is shipped: optimised, with the Swift libraries inside. A debug build says more of a
# trap.
set(test faults-swift-release Faults/run_faults.py ${with_dump} --failures)
tool_test(${test} ${released}/launchguard-faults)
tool_long_test(${test} --cross ${released}/launchguard-faults)
# The callers of asynchronous functions.
tool_test(async Faults/run_async.py ${with_dump} ${with_tool} ${built}/launchguard-faults)
tool_test(async-release Faults/run_async.py ${with_dump} ${with_tool} ${released}/launchguard-faults)
# Swift's own backtracer beside LaunchGuard.
tool_test(backtracer Faults/run_backtracer.py ${with_dump} ${built}/launchguard-faults)
tool_test(backtracer-release Faults/run_backtracer.py ${with_dump} ${released}/launchguard-faults)
set_tests_properties(async-release backtracer-release PROPERTIES LABELS "long;tool")

tool_test(plugin-host-swift Guards/test_plugin_host.py ${with_dump} ${built}/plugin-host-swift)
set(test run Run/test_run.py ${built}/launchguard-run $<TARGET_FILE:launchguard_preload>)
tool_test(${test})
tool_long_test(${test} --services)
set(test run-table Differential/test_table.py ${built}/launchguard-run $<TARGET_FILE:launchguard_preload>)
tool_test(${test})
tool_long_test(${test} --long)

# A package that depends on SwiftNIO, which it builds.
tool_test(consumer-nio Consumer/test_nio.py ${with_tool})
set_tests_properties(consumer-nio PROPERTIES LABELS "long;consumer"
    ENVIRONMENT "BUILD=${PROJECT_BINARY_DIR};CONSUMER_CC=${CMAKE_C_COMPILER};PYTHONDONTWRITEBYTECODE=1")

foreach(part witness doctor supervisors booted container)
    tool_test(operator-${part} Operator/test_${part}.py ${with_tool} ${with_preload} --victim $<TARGET_FILE:operator-victim>)
endforeach()
set_tests_properties(operator-booted operator-container PROPERTIES LABELS "long;tool")

tool_test(tool-pages Docs/test_tool_pages.py ${built}/launchguard)
set(test cookbook Cookbook/test_cookbook.py ${with_tool} --programs ${PROJECT_BINARY_DIR}/Examples)
tool_test(${test})
tool_long_test(${test} --server)
set(test symbols Symbols/test_symbols.py ${with_tool} ${with_preload} --swiftc ${compiler}/swiftc)
tool_test(${test})
tool_long_test(${test} --reports 1000)

set(test walks Walks/test_walks.py ${with_tool} --library $<TARGET_FILE:launchguard_static>)
tool_test(${test} KnownStacks)
tool_long_test(${test} --damages 200)

# Readers that others wrote: PyPI's, lldb, a browser, systemd's programs, the Swift runtime's log.
tool_test(export Export/test_export.py ${with_tool} --victim $<TARGET_FILE:export-victim>)
tool_test(export-servers Export/test_servers.py ${with_tool} --victim $<TARGET_FILE:server-victim> ${with_agent})
tool_test(export-page Export/test_html.py ${with_tool} --victim $<TARGET_FILE:page-victim> --browser ${PROJECT_SOURCE_DIR}/build/page-browser)
tool_test(export-journal Export/test_journal.py ${with_tool} --victim $<TARGET_FILE:journal-victim>)
tool_test(export-swift-log Export/test_swift_log.py ${with_tool} ${with_preload} --victim $<TARGET_FILE:journal-victim>)

# The keys of crashes: their programs are those of gcc.
if(TARGET fingerprint-read)
    set(keys Fingerprint/test_keys.py ${with_tool} --read $<TARGET_FILE:fingerprint-read> --builds ${PROJECT_BINARY_DIR}/Tests/Fingerprint --library ${PROJECT_BINARY_DIR})
    tool_test(bug-keys ${keys} --sample)
    tool_long_test(bug-keys ${keys})
    tool_long_test(bug-keys-held-back ${keys} --held-back)
endif()

set(fleet ${with_tool} --victim $<TARGET_FILE:fleet-victim> --copies $<TARGET_FILE:fleet-copies>)
tool_test(fleet Fleet/test_fleet.py ${fleet})
tool_long_test(fleet Fleet/test_fleet.py ${fleet} --long)
tool_test(fleet-truth Fleet/test_truth.py ${fleet})
tool_test(fleet-scale Fleet/test_scale.py ${fleet})
tool_test(fleet-pages Fleet/test_fleet_html.py ${fleet} --browser ${PROJECT_SOURCE_DIR}/build/page-browser)

if(TARGET launchguard-agent)
    tool_test(fleet-beyond Fleet/test_beyond.py ${with_tool} --victim $<TARGET_FILE:delivery-victim> ${with_agent}
        --entries $<TARGET_FILE:delivery-entries>)
endif()
