#include <stdlib.h>
#include <string.h>

#include "launchguard/report.h"
#include "report/compose.h"
#include "store/format_report.h"

struct bytes {
    char *bytes;
    size_t size;
};

/* The whole comes in one piece. */
static int take(const char *bytes, size_t size, void *user)
{
    struct bytes *taken = user;
    char *more = realloc(taken->bytes, taken->size + size + 1);
    if (!more)
        return 1;
    memcpy(more + taken->size, bytes, size);
    taken->bytes = more;
    taken->size += size;
    return 0;
}

char *compose_dump(lg_reader *reader, const struct facts *facts, size_t *ret_bytes)
{
    struct bytes taken = { .bytes = NULL };
    lg_minidump_options options = LG_MINIDUMP_OPTIONS_INIT;
    options.for_sending = 1;
    options.keep_home = facts->keep_home;
    options.most_bytes = LG__REPORT_FULL_MAX;
    options.verdict = &facts->verdict;
    if (lg_reader_minidump(reader, &options, take, &taken) == LG_OK) {
        *ret_bytes = taken.size;
        return taken.bytes;
    }
    free(taken.bytes);
    return NULL;
}
