// Section C, C++: ends by std::terminate().
#define _GLIBCXX_ASSERTIONS
#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

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

extern "C" void lgf_thrown_text(void) { throw "out of luck"; }

extern "C" void lgf_thrown_string(void) { throw std::string("out of luck, and out of the small buffer"); }

extern "C" void lgf_nested_exception(void)
{
    try {
        throwError();
    } catch (...) {
        std::throw_with_nested(std::logic_error("cannot start"));
    }
}

extern "C" void lgf_own_terminate_handler(void)
{
    std::set_terminate([] { std::abort(); });
    throwError();
}

extern "C" void lgf_abort_while_catching(void)
{
    try {
        throwError();
    } catch (const std::exception &) {
        std::abort();
    }
}

extern "C" void lgf_checked_index(void)
{
    std::vector<int> numbers(3);
    volatile int keep = numbers[static_cast<std::size_t>(lgf_zero) + 7];
    static_cast<void>(keep);
}

extern "C" void lgf_out_of_range(void)
{
    std::vector<int> numbers(3);
    volatile int keep = numbers.at(static_cast<std::size_t>(lgf_zero) + 7);
    static_cast<void>(keep);
}

extern "C" void lgf_optional_empty(void)
{
    std::optional<int> nothing;
    if (lgf_zero)
        nothing = 1;
    volatile int keep = nothing.value();
    static_cast<void>(keep);
}

extern "C" void lgf_variant_wrong(void)
{
    std::variant<int, double> either = 1;
    if (lgf_zero)
        either = 1.0;
    volatile double keep = std::get<double>(either);
    static_cast<void>(keep);
}

extern "C" void lgf_number_of_text(void)
{
    volatile int keep = std::stoi("seven");
    static_cast<void>(keep);
}

extern "C" void lgf_function_empty(void)
{
    std::function<void()> nothing;
    nothing();
}

extern "C" void lgf_cast_wrong(void)
{
    std::runtime_error error("out of luck");
    std::exception &base = error;
    asm volatile("" : : "r"(&base) : "memory"); // the compiler knows no more of its class
    static_cast<void>(dynamic_cast<std::logic_error &>(base));
}

extern "C" void lgf_thread_not_joined(void)
{
    std::thread([] {
        for (;;)
            pause();
    });
}

namespace {

std::thread joined;
std::atomic<bool> isMade{false};

__attribute__((noinline)) void joinItself()
{
    while (!isMade)
        std::this_thread::yield();
    joined.join();
    LGF_KEEP(&joined); // no tail call
}

}  // namespace

extern "C" void lgf_join_itself(void)
{
    joined = std::thread(joinItself);
    isMade = true;
    for (;;)
        pause();
}

namespace {

struct ThrowsAtItsEnd {
    ~ThrowsAtItsEnd() noexcept(false) { throw std::logic_error("at the end"); }
};

}  // namespace

extern "C" void lgf_throw_in_destructor(void)
{
    try {
        ThrowsAtItsEnd value;
        throwError();
    } catch (const std::exception &) {
    }
}

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
