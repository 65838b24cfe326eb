#include "throws.h"

#include <cstdio>
#include <dlfcn.h>
#include <stdexcept>
#include <unwind.h>

struct Witness {
    int &count;
    ~Witness() { count++; }
};

static void __attribute__((noinline)) thrower(int depth, int &unwound)
{
    Witness witness{unwound};
    if (depth == 0)
        throw std::runtime_error("out");
    thrower(depth - 1, unwound);
}

extern "C" int throw_and_catch(char library[4096])
{
    int unwound = 0;
    try {
        thrower(20, unwound);
    } catch (const std::runtime_error &) {
        unwound = -unwound;
    }
    Dl_info info;
    if (!dladdr(reinterpret_cast<void *>(&_Unwind_RaiseException), &info))
        return 1;
    std::snprintf(library, 4096, "%s", info.dli_fname);
    return unwound != -21;
}
