# Compile C against musl, with Debian's musl-gcc, into static programs. musl-gcc looks for headers
# in the folders of musl alone, and the core needs those of the kernel as well.
set(CMAKE_C_COMPILER musl-gcc)

get_filename_component(kernel ${CMAKE_CURRENT_LIST_DIR}/../build/kernel-headers ABSOLUTE)
execute_process(COMMAND gcc -print-multiarch OUTPUT_VARIABLE architecture OUTPUT_STRIP_TRAILING_WHITESPACE)
file(MAKE_DIRECTORY ${kernel})
foreach(folder linux asm-generic ${architecture}/asm)
    get_filename_component(name ${folder} NAME)
    if(NOT EXISTS ${kernel}/${name})
        file(CREATE_LINK /usr/include/${folder} ${kernel}/${name} SYMBOLIC)
    endif()
endforeach()
set(CMAKE_C_FLAGS_INIT "-idirafter ${kernel}")
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

# Tests run without shared library, plugin, C++ and libunwind.
set(LAUNCHGUARD_MUSL ON)
