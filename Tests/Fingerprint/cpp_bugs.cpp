// Exceptions that nothing catches.
#include "bugs.h"

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

struct rejected : std::exception {
    const char *what() const noexcept override { return "rejected"; }
};

volatile long zero;
std::vector<long> numbers { 1, 2, 3 };

KEPT void parse(long which)
{
    if (which == 1)
        throw std::runtime_error("unexpected token");
    if (which == 2)
        throw std::logic_error("unexpected token");
    if (which == 3)
        throw rejected();
    zero = zero + 1;
    if (which == 4)
        throw std::runtime_error("unexpected token");
}

void parse_one(long which) { parse(which); STAY; }
KEPT void parse_file(long which) { zero = zero + 1; parse(which); STAY; }
void parse_other(long which) { parse_file(which); STAY; }
void parse_in_thread(long which) { in_thread(parse_one, which, 256 << 10); }

// The text of the exception has what the program was given.
KEPT void find_user(const std::string &name) { if (name[0]) throw std::out_of_range("no such user: " + name); STAY; }
void find(long which) { find_user(which == 1 ? "alice" : "bob"); STAY; }
KEPT void open_file(const std::string &name) { throw std::system_error(ENOENT, std::generic_category(), name); }
void open(long which) { open_file(which == 1 ? "settings" : "/var/lib/player/tracks"); STAY; }

KEPT long element(std::size_t index, long which)
{
    long value = which == 1 ? numbers.at(index) : 1;
    zero = zero + value;
    return which == 2 ? value * numbers.at(index + 1) : value;
}
void element_at(long index) { element(static_cast<std::size_t>(index), index == 8 ? 2 : 1); STAY; }
KEPT void other_element(long index) { zero = numbers.at(static_cast<std::size_t>(index)) + 2; }
void other_element_at(long index) { other_element(index); STAY; }

// Thrown in one place, and again in another, as std::future does.
KEPT void again(long which)
{
    std::exception_ptr kept;
    try {
        if (which == 1)
            throw std::runtime_error("the disk is full");
        throw std::runtime_error("the server has gone");
    } catch (...) {
        kept = std::current_exception();
    }
    std::rethrow_exception(kept);
}
void throw_again(long which) { again(which); STAY; }

KEPT void quiet(long which) noexcept { parse(which); STAY; }
void in_quiet(long which) { quiet(which); STAY; }

KEPT void forget(long)
{
    std::thread running([] { for (;;) zero = 1; });
}

struct node {
    volatile long value;
    std::unique_ptr<node> next;
};
KEPT long second(const std::unique_ptr<node> &list) { return list->next->value + 1; }
void null_pointer(long which)
{
    std::unique_ptr<node> list;
    if (which == 2)
        list.reset(new node { 1, nullptr });
    second(list);
    STAY;
}

} // namespace

extern "C" const struct bug cpp_bugs[] = {
    { "throw", parse_one, 1 },
    { "throw other type", parse_one, 2 },
    { "throw own type", parse_one, 3 },
    { "throw later", parse_one, 4 },
    { "throw other caller", parse_other, 1 },
    { "throw in thread", parse_in_thread, 1 },
    { "no such user", find, 1 },
    { "no such other user", find, 2 },
    { "no such file", open, 1 },
    { "no such other file", open, 2 },
    { "at 7", element_at, 7 },
    { "at 900", element_at, 900 },
    { "at in other line", element_at, 8 },
    { "at in other function", other_element_at, 7 },
    { "throw again", throw_again, 1 },
    { "throw other again", throw_again, 2 },
    { "noexcept", in_quiet, 1 },
    { "noexcept other", in_quiet, 4 },
    { "thread forgotten", forget, 0 },
    { "list null", null_pointer, 1 },
    { "next null", null_pointer, 2 },
    { nullptr, nullptr, 0 },
};
