# The tests of the core against musl: static programs, with the static library of the core.

# No Debian package has cmocka for musl: it is one file.
set(cmocka ${PROJECT_SOURCE_DIR}/build/foreign-source/cmocka)
add_library(cmocka_musl STATIC ${cmocka}/src/cmocka.c)
target_include_directories(cmocka_musl PUBLIC ${cmocka}/include)
target_compile_definitions(cmocka_musl PRIVATE _GNU_SOURCE HAVE_INTTYPES_H HAVE_MALLOC_H HAVE_SIGNAL_H HAVE_STRINGS_H HAVE_STRSIGNAL
    HAVE_GCC_THREAD_LOCAL_STORAGE HAVE_CLOCK_REALTIME HAVE_SIGLONGJMP HAVE_STRUCT_TIMESPEC)
set(CMOCKA cmocka_musl)

# In place of the shared library: the static one with the definitions of the Swift package, whose
# SDK for static programs has this libc.
launchguard_library(launchguard_package STATIC ${launchguard_reader_sources})
target_compile_definitions(launchguard_package PRIVATE LG_INTERPOSE_PTHREAD_CREATE LG_LIBUNWIND)
set_target_properties(launchguard_package PROPERTIES OUTPUT_NAME launchguard_package)

# musl-gcc links a static program without the table by which unwind rows are found.
add_link_options(LINKER:--eh-frame-hdr)

# Programs that cannot be built there, or have nothing to look at.
function(left_out name reason)
    set(left_out_${name} "${reason}" PARENT_SCOPE)
endfunction()
left_out(capture-cut-modules "a static program loads no modules")
left_out(capture-first-place "only the shared library takes the place of sigaction()")
left_out(capture-libraries "the libraries beside which it crashes are built against another libc")
left_out(walk-modules "a static program loads no modules")
left_out(walk-unwind "it compares with libunwind, which is built against another libc, and loads modules")
left_out(guard-fill "a static program loads no plugin")
left_out(guard-frames "this libc has no getcontext(), and a static program loads no plugin")
left_out(store-log-left "this libc has no makecontext()")
left_out(guard-null-call "a static program loads no plugin")
left_out(launch-attribution "a static program loads no modules")
left_out(launch-escaping-callbacks "there is no C++ library for this libc")
left_out(ends-unseen "a static program has no symbol that is bound late")
message(STATUS "The tests of the agent are left out: libcurl and jansson are built against another libc")
