#include <stdexcept>

extern "C" volatile int sink;

struct Witness {
    ~Witness() { sink = 1; }
};

__attribute__((noinline)) static void inner() {
    if (sink == 0) throw std::runtime_error("nobody catches this");
    sink = 2;
}

extern "C" __attribute__((noinline)) void shape_throw() {
    Witness witness;
    inner();
    sink = 3;
}
