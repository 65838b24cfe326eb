// A program without shared libraries: what its runtimes say is found by its own symbol table.
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "launchguard/launchguard.h"

static volatile int zero;

int main(int, char **arguments)
{
    lg_options options = LG_OPTIONS_INIT;
    lg_session *session = nullptr;
    options.app_id = "org.example.static";
    options.state_directory = arguments[1];
    if (lg_start(&options, &session) != LG_OK)
        return 9;
    if (std::strcmp(arguments[2], "assert") == 0)
        assert(zero == 7);
    if (std::strcmp(arguments[2], "free") == 0) {
        char *block = static_cast<char *>(std::malloc(64));
        std::free(block + 8 + zero);
    }
    if (std::strcmp(arguments[2], "catch") == 0) {
        try {
            throw std::runtime_error("caught");
        } catch (const std::exception &) {
            std::abort();
        }
    }
    if (std::strcmp(arguments[2], "throw") == 0)
        throw std::runtime_error("no notes");
    std::abort();
}
