// glog, into a file, with its defaults. Modes: text, format.
#include "writer.h"

#include <glog/logging.h>

static void open_log(const char *directory)
{
    FLAGS_log_dir = directory;
    google::InitGoogleLogging("bench");
}

static void append_text(const char *text)
{
    LOG(INFO).write(text, TEXT_BYTES);
}

static void append_format(const char *)
{
    const char *name = writer_arguments.name;
    LOG(INFO) << "opened " << name << ": " << writer_arguments.rows << " rows in " << writer_arguments.milliseconds << " ms, code "
              << writer_arguments.code;
}

extern "C" const struct writer writers[] = {
    { "text", open_log, append_text, 0, nullptr },
    { "format", open_log, append_format, 0, nullptr },
    {},
};
