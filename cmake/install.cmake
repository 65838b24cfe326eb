# The library, for programs that are built outside of this tree. Each program installs itself.
if(launchguard_libraries)
    install(TARGETS ${launchguard_libraries} EXPORT LaunchGuardTargets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT LaunchGuardTargets NAMESPACE LaunchGuard:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/LaunchGuard)
    install(DIRECTORY include/launchguard DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(FILES docs/man/launchguard.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)

    configure_package_config_file(cmake/LaunchGuardConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/LaunchGuardConfig.cmake
        INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/LaunchGuard)
    write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/LaunchGuardConfigVersion.cmake COMPATIBILITY SameMinorVersion)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/LaunchGuardConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/LaunchGuardConfigVersion.cmake
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/LaunchGuard)

    # Relative to the file itself: the installed tree may be moved. What the static library needs is
    # always said where there is no other.
    file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    set(pc_static "-pthread -ldl -Wl,--eh-frame-hdr")
    set(pc_libraries "-llaunchguard")
    if(NOT LAUNCHGUARD_SHARED)
        string(APPEND pc_libraries " ${pc_static}")
    endif()
    configure_file(cmake/launchguard.pc.in ${CMAKE_CURRENT_BINARY_DIR}/launchguard.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/launchguard.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
