// Section C, C++: ends by std::terminate().
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <sys/resource.h>
#include <thread>

#include "catalogue.h"

// Not in a nameless namespace: the compiler would know that there is one derived class only, and
// call its function directly.
namespace lgf {

class Base {
public:
    Base() { callsItself(); }
    virtual ~Base() = default;
    virtual void act() = 0;

private:
    __attribute__((noinline)) void callsItself()
    {
        Base *self = this;
        // the call goes through the table of the class under construction
        asm volatile("" : "+r"(self) : : "memory");
        self->act();
    }
};

class Derived : public Base {
    void act() override {}
};

}  // namespace lgf

namespace {

[[noreturn]] __attribute__((noinline)) void throwError() { throw std::runtime_error("out of luck"); }

__attribute__((noinline)) void promisesNotToThrow() noexcept
{
    throwError();
}

}  // namespace

extern "C" void lgf_pure_virtual(void) { lgf::Derived derived; }

extern "C" void lgf_uncaught_exception(void) { throwError(); }

extern "C" void lgf_uncaught_int(void) { throw 42; }

extern "C" void lgf_exception_on_thread(void) { std::thread(throwError).join(); }

extern "C" void lgf_throw_through_noexcept(void) { promisesNotToThrow(); }

extern "C" void lgf_terminate(void) { std::terminate(); }

extern "C" void lgf_out_of_memory(void)
{
    rlimit limit = { 512u << 20, 512u << 20 };
    setrlimit(RLIMIT_AS, &limit);
    for (;;) {
        volatile char *block = new char[1 << 20];
        block[0] = 1;
    }
}

extern "C" void lgf_throw_at_exit(void)
{
    std::atexit([] { throwError(); });
    std::exit(0);
}
