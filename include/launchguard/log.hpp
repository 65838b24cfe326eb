/** Breadcrumbs from C++17: text and fields of any type with a natural text form, without allocation
 *  and without exceptions.
 *
 *      launchguard::logger network(session, "network");
 *      network.error("request failed", { { "url", url }, { "code", 503 }, { "again", true } });
 *
 *  Header only. From C++20 on each entry has the fields `file`, `line` and `function` of the call.
 *  Define LAUNCHGUARD_NO_LOCATION before the first include to leave them out. The contract of
 *  lg_log_fields() holds here too: threads safe and wait-free, signals safe, durable at once. The
 *  one exception is a floating-point value: the C++ library formats it, which is not safe in a
 *  signal handler.
 */
#ifndef LAUNCHGUARD_LOG_HPP
#define LAUNCHGUARD_LOG_HPP

#if __cplusplus < 201703L
#error "launchguard/log.hpp needs C++17 or newer: compile with -std=c++17, or use <launchguard/log.h>"
#else

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#if __cplusplus >= 202002L && __has_include(<source_location>) && !defined(LAUNCHGUARD_NO_LOCATION)
#include <source_location>
#define LAUNCHGUARD_LOCATION 1
#define LAUNCHGUARD_LOCATED located
#else
#define LAUNCHGUARD_LOCATED plain
#endif

#include <launchguard/log.h>

namespace launchguard {

/* One program may contain sources with and without locations, whose types differ. */
inline namespace LAUNCHGUARD_LOCATED {

/** A key and a value, borrowed during the call. Numbers are formatted into the field itself:
 *  integers in decimal digits, floating-point numbers as the shortest text that reads back the
 *  same. */
class field {
public:
    field(std::string_view key, std::string_view value) noexcept : key_(key), value_(value) {}
    field(std::string_view key, const char *value) noexcept : key_(key), value_(value ? value : "") {}
    template <typename Number, std::enable_if_t<std::is_floating_point_v<Number> || (std::is_integral_v<Number> && sizeof(Number) <= 8), int> = 0>
    field(std::string_view key, Number value) noexcept : key_(key)
    {
        if constexpr (std::is_same_v<Number, bool>)
            value_ = value ? "true" : "false";
        else if constexpr (std::is_same_v<Number, char>)
            digits_[0] = value, size_ = 1;
        else if constexpr (std::is_same_v<Number, long double>)
            print(static_cast<double>(value)); /* the shortest text of a long double may not fit */
        else
            print(+value);
    }

    lg_slice key() const noexcept { return { key_.data(), key_.size() }; }
    lg_slice value() const noexcept { return size_ ? lg_slice{ digits_, size_ } : lg_slice{ value_.data(), value_.size() }; }

private:
    template <typename Number>
    void print(Number value) noexcept
    {
        size_ = static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, value).ptr - digits_);
    }

    std::string_view key_, value_;
    std::size_t size_ = 0;
    char digits_[32];
};

/** The place of a call in the source; empty before C++20. */
class location {
public:
#ifdef LAUNCHGUARD_LOCATION
    /* By value, from the place of the call: the compiler evaluates the default argument there. */
    location(std::source_location from = std::source_location::current()) noexcept
        : file("file", from.file_name()), line("line", from.line()), function("function", from.function_name())
    {
    }
    static constexpr std::size_t count = 3;
    field file, line, function;
    lg_slice *put(lg_slice *to) const noexcept
    {
        for (const field *one : { &file, &line, &function })
            *to++ = one->key(), *to++ = one->value();
        return to;
    }
#else
    static constexpr std::size_t count = 0;
    lg_slice *put(lg_slice *to) const noexcept { return to; }
#endif
};

/** Writes breadcrumbs of one category. A logger is a small value that may be copied freely. Each
 *  call returns what lg_log_fields() returns. */
class logger {
public:
    /** Most fields of one call; the others are left out, and the entry is marked as cut. */
    static constexpr std::size_t fields_max = 64;

    /** @param session   borrowed for the life of the process.
     *  @param category  "": none; borrowed for the life of the logger. */
    explicit logger(lg_session *session, std::string_view category = {}) noexcept : session_(session), category_(category) {}

    lg_status log(lg_level level, std::string_view text, std::initializer_list<field> fields = {}, location where = {}) const noexcept
    {
        lg_slice slices[2 * (fields_max + 1 + location::count)], *end = slices;
        for (const field &one : fields) {
            /* a size larger than any entry makes the core leave the field out and mark the entry as
             * cut */
            if (end == slices + 2 * fields_max) {
                *end++ = { "more", 4 };
                *end++ = { "", static_cast<std::size_t>(-1) };
                break;
            }
            *end++ = one.key();
            *end++ = one.value();
        }
        end = where.put(end);
        return lg_log_slices(session_, level, { category_.data(), category_.size() }, { text.data(), text.size() }, slices, static_cast<std::size_t>(end - slices) / 2);
    }

    lg_status trace(std::string_view text, std::initializer_list<field> fields = {}, location where = {}) const noexcept { return log(LG_LEVEL_TRACE, text, fields, where); }
    lg_status debug(std::string_view text, std::initializer_list<field> fields = {}, location where = {}) const noexcept { return log(LG_LEVEL_DEBUG, text, fields, where); }
    lg_status info(std::string_view text, std::initializer_list<field> fields = {}, location where = {}) const noexcept { return log(LG_LEVEL_INFO, text, fields, where); }
    lg_status notice(std::string_view text, std::initializer_list<field> fields = {}, location where = {}) const noexcept { return log(LG_LEVEL_NOTICE, text, fields, where); }
    lg_status warning(std::string_view text, std::initializer_list<field> fields = {}, location where = {}) const noexcept { return log(LG_LEVEL_WARNING, text, fields, where); }
    lg_status error(std::string_view text, std::initializer_list<field> fields = {}, location where = {}) const noexcept { return log(LG_LEVEL_ERROR, text, fields, where); }
    lg_status critical(std::string_view text, std::initializer_list<field> fields = {}, location where = {}) const noexcept { return log(LG_LEVEL_CRITICAL, text, fields, where); }

private:
    lg_session *session_;
    std::string_view category_;
};

/** One breadcrumb without a category. */
inline lg_status log(lg_session *session, lg_level level, std::string_view text, std::initializer_list<field> fields = {}, location where = {}) noexcept
{
    return logger(session).log(level, text, fields, where);
}

} // inline namespace
} // namespace launchguard

#undef LAUNCHGUARD_LOCATED
#undef LAUNCHGUARD_LOCATION

#endif
#endif
