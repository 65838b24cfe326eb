# Other handlers, where they are installed. They are not built by default, and nothing else needs
# them. A file that the benchmark prints lists the missing ones with the reason.

add_custom_target(peers)

function(peer name reason)
    set(program ${CMAKE_CURRENT_BINARY_DIR}/${name})
    if(reason STREQUAL "")
        file(WRITE ${program}.missing "it did not build\n")
        if(TARGET ${name})
            set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
            add_dependencies(peers ${name})
        endif()
    else()
        file(WRITE ${program}.missing "${reason}\n")
        file(REMOVE ${program})
    endif()
endfunction()

if(launchguard_unwind)
    find_library(LAUNCHGUARD_BENCH_LIBUNWIND unwind)
    scene_program(peer-libunwind peer-libunwind.c ${LAUNCHGUARD_BENCH_LIBUNWIND} ${launchguard_unwind})
    peer(peer-libunwind "")
else()
    peer(peer-libunwind "libunwind-dev is not installed")
endif()

find_package(absl CONFIG QUIET)
if(TARGET absl::failure_signal_handler)
    scene_program(peer-abseil peer-abseil.cpp absl::failure_signal_handler absl::symbolize)
    peer(peer-abseil "")
else()
    peer(peer-abseil "libabsl-dev is not installed")
endif()

find_package(glog CONFIG QUIET)
if(TARGET glog::glog)
    scene_program(peer-glog peer-glog.cpp glog::glog)
    peer(peer-glog "")
else()
    peer(peer-glog "libgoogle-glog-dev is not installed")
endif()

find_path(LAUNCHGUARD_BENCH_BOOST boost/stacktrace.hpp)
if(LAUNCHGUARD_BENCH_BOOST)
    scene_program(peer-boost peer-boost.cpp)
    target_include_directories(peer-boost SYSTEM PRIVATE ${LAUNCHGUARD_BENCH_BOOST})
    peer(peer-boost "")
else()
    peer(peer-boost "libboost-dev is not installed")
endif()

find_program(LAUNCHGUARD_BENCH_SWIFTC swiftc)
if(LAUNCHGUARD_BENCH_SWIFTC)
    set(program ${CMAKE_CURRENT_BINARY_DIR}/peer-swift)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/peer-swift/main.swift)
    add_custom_command(OUTPUT ${program}
        COMMAND ${LAUNCHGUARD_BENCH_SWIFTC} -O -g -module-name peer -module-cache-path ${CMAKE_CURRENT_BINARY_DIR}/modules
                -import-objc-header ${CMAKE_CURRENT_SOURCE_DIR}/scene.h ${source} $<TARGET_OBJECTS:bench-scene> -o ${program}
        DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/scene.h $<TARGET_OBJECTS:bench-scene>
        COMMENT "Compiling peer-swift" COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(build-peer-swift DEPENDS ${program})
    add_dependencies(peers build-peer-swift)
    peer(peer-swift "")
else()
    peer(peer-swift "there is no swiftc")
endif()
