# The library, for programs that are built outside of this tree. Each program installs itself.
if(launchguard_libraries)
    install(TARGETS ${launchguard_libraries} EXPORT LaunchGuardTargets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT LaunchGuardTargets NAMESPACE LaunchGuard:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/LaunchGuard)
    install(DIRECTORY include/launchguard DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

    # The manual: section 3 from the comments of the headers.
    install(FILES docs/man/launchguard.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
    install(FILES docs/man/launchguard.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
    find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
    if(Python3_FOUND)
        set(man_pages ${LaunchGuard_SOURCE_DIR}/scripts/man-pages)
        set(manual ${CMAKE_CURRENT_BINARY_DIR}/man3)
        file(GLOB public_headers CONFIGURE_DEPENDS ${LaunchGuard_SOURCE_DIR}/include/launchguard/*.h)
        add_custom_command(OUTPUT ${manual}/launchguard.3 DEPENDS ${man_pages} ${public_headers}
            COMMAND ${Python3_EXECUTABLE} -B ${man_pages} ${LaunchGuard_SOURCE_DIR}/include/launchguard ${manual})
        add_custom_target(launchguard-manual ALL DEPENDS ${manual}/launchguard.3)
        install(DIRECTORY ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR})
    else()
        launchguard_left_out("The manual of the C functions, man 3 launchguard, is left out: install python3, then run this again")
    endif()

    configure_package_config_file(cmake/LaunchGuardConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/LaunchGuardConfig.cmake
        INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/LaunchGuard)
    write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/LaunchGuardConfigVersion.cmake COMPATIBILITY SameMinorVersion)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/LaunchGuardConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/LaunchGuardConfigVersion.cmake
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/LaunchGuard)

    # Relative to the file itself: the installed tree may be moved. The needs of the
    # static library are always there if it is the only one.
    file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    set(pc_static "-pthread -ldl -Wl,--eh-frame-hdr")
    set(pc_libraries "-llaunchguard")
    if(NOT LAUNCHGUARD_SHARED)
        string(APPEND pc_libraries " ${pc_static}")
    endif()
    foreach(name launchguard launchguard-reader launchguard-guards)
        configure_file(cmake/${name}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
        install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    endforeach()
endif()
