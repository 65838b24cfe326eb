// spdlog. Modes: backtrace (its ring in memory, of messages below the logger's level),
// backtrace-format, async (a queue and a thread that writes a file, both with the defaults),
// async-format.
#include "writer.h"

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <sched.h>

#define RING_ENTRIES 4096 // of 64 bytes each: the size of the floor's ring

static std::shared_ptr<spdlog::logger> logger;

static std::string path_in(const char *directory)
{
    return std::string(directory) + "/spdlog";
}

static void open_backtrace(const char *directory)
{
    logger = spdlog::basic_logger_mt("bench", path_in(directory));
    logger->set_level(spdlog::level::err);
    logger->enable_backtrace(RING_ENTRIES);
}

static void open_async(const char *directory)
{
    logger = spdlog::basic_logger_mt<spdlog::async_factory>("bench", path_in(directory));
}

static void settle_async()
{
    while (spdlog::thread_pool()->queue_size() > 0)
        sched_yield();
}

static void append_text(const char *text)
{
    logger->log(spdlog::level::info, spdlog::string_view_t(text, TEXT_BYTES));
}

static void append_format(const char *)
{
    const char *name = writer_arguments.name;
    unsigned rows = writer_arguments.rows, milliseconds = writer_arguments.milliseconds;
    int code = writer_arguments.code;
    logger->info("opened {}: {} rows in {} ms, code {}", name, rows, milliseconds, code);
}

extern "C" const struct writer writers[] = {
    { "backtrace", open_backtrace, append_text, 0, nullptr },
    { "backtrace-format", open_backtrace, append_format, 0, nullptr },
    { "async", open_async, append_text, spdlog::details::default_async_q_size, settle_async },
    { "async-format", open_async, append_format, spdlog::details::default_async_q_size, settle_async },
    {},
};
