# The tool: written in Swift, built by SwiftPM, with the Swift libraries inside. The completions of
# shells are its own words.
find_program(LAUNCHGUARD_SWIFT swift)
set(swift_version 0)
if(LAUNCHGUARD_SWIFT)
    execute_process(COMMAND ${LAUNCHGUARD_SWIFT} --version OUTPUT_VARIABLE swift_version ERROR_QUIET)
    string(REGEX REPLACE "^.*Swift version ([0-9.]+).*$" "\\1" swift_version "${swift_version}")
endif()
if(NOT swift_version VERSION_GREATER_EQUAL 6.2)
    launchguard_left_out("launchguard, the tool, is left out: install Swift 6.2 or newer, https://www.swift.org/install/linux/, then run this again")
    return()
endif()

# Half the size without its symbols, with the same output. SwiftPM has a compiler of its own. Some
# object of Swift's runtime forgets to say that it needs no executable stack. Without the option
# against caching SwiftPM 6.3 fails at the second product ("unknown build description").
set(tool ${CMAKE_CURRENT_BINARY_DIR}/tool)
set(tool_built ${LaunchGuard_SOURCE_DIR}/Tools/.build/release/launchguard)
# With the C++ library inside, too, the loader has half as much to do before each command.
set(tool_linked)
file(MAKE_DIRECTORY ${tool}/linked)
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libstdc++.a OUTPUT_VARIABLE tool_cxx OUTPUT_STRIP_TRAILING_WHITESPACE)
if(IS_ABSOLUTE "${tool_cxx}")
    file(CREATE_LINK ${tool_cxx} ${tool}/linked/libstdc++.a SYMBOLIC)
    set(tool_linked -Xlinker -L${tool}/linked -Xswiftc -Xclang-linker -Xswiftc -static-libgcc)
endif()
set(tool_build ${CMAKE_COMMAND} -E env --unset=CC --unset=CXX
    ${LAUNCHGUARD_SWIFT} build --package-path ${LaunchGuard_SOURCE_DIR}/Tools --disable-build-manifest-caching
    -c release --static-swift-stdlib --disable-local-rpath -Xlinker -z -Xlinker noexecstack ${tool_linked})
add_custom_target(launchguard-tool ALL
    COMMAND ${tool_build} --product launchguard
    COMMAND ${tool_build} --product launchguard-run
    COMMAND ${tool_build} --product launchguard-fleet
    COMMAND ${CMAKE_STRIP} -o ${tool}/launchguard ${tool_built}
    COMMAND ${CMAKE_STRIP} -o ${tool}/launchguard-run ${tool_built}-run
    COMMAND ${CMAKE_STRIP} -o ${tool}/launchguard-fleet ${tool_built}-fleet
    COMMAND ${tool}/launchguard --generate-completion-script bash >${tool}/launchguard.bash
    COMMAND ${tool}/launchguard --generate-completion-script zsh >${tool}/_launchguard
    COMMAND ${tool}/launchguard --generate-completion-script fish >${tool}/launchguard.fish
    COMMENT "Building launchguard, the tool" USES_TERMINAL)

if(LAUNCHGUARD_INSTALL)
    # What a user calls runs programs, becomes the tool for all else, and the tool becomes the third
    # one for the commands that keep a database.
    install(PROGRAMS ${tool}/launchguard-run DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME launchguard)
    install(PROGRAMS ${tool}/launchguard ${tool}/launchguard-fleet DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/launchguard)
    install(FILES ${tool}/launchguard.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME launchguard)
    install(FILES ${tool}/_launchguard DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${tool}/launchguard.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    # A page for the tool and one for a command that needs more words; the agent's is in section 8.
    file(GLOB tool_pages CONFIGURE_DEPENDS ${LaunchGuard_SOURCE_DIR}/docs/man/*.1)
    list(FILTER tool_pages EXCLUDE REGEX "launchguard-faults\\.1$")
    install(FILES ${tool_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${LaunchGuard_SOURCE_DIR}/docs/schema/launchguard.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/launchguard)
endif()
