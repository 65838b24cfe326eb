/* Calls on_delivered for each delivered report, when a launch of the program is finished.
 *
 * The report in spool/sent says so after its call has returned; a sent report is the program's to
 * write. spool/telling names the report of the call under way, and counts the calls for that
 * report: a call that crashes comes three times at most. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "session/delivery.h"

#define LOOK_NS UINT64_C(1000000000)
/* In a program without launches the calls come after that time. */
#define NO_LAUNCH_NS UINT64_C(10000000000)
#define TRIES 3u
/* As many as a spool holds. */
#define SENT_MAX 4096u

struct list {
    uint32_t count;
    char names[SENT_MAX][LG__REPORT_NAME_BYTES];
};

static bool is_finished(const lg_session *session, uint64_t begun_ns)
{
    const struct lg__state *state = session->host.run.state;
    uint32_t count = atomic_load(&state->context_count);
    for (uint32_t i = 0; i < count && i < LG__CONTEXTS; i++)
        if (atomic_load(&state->contexts[i].phase) == LG_PHASE_FINISHED)
            return true;
    return count == 0 && lg__os_clock_ns(CLOCK_MONOTONIC) - begun_ns >= NO_LAUNCH_NS;
}

static bool list_one(int folder, const char *name, void *argument)
{
    struct list *list = argument;
    struct lg__report_name parts;
    (void)folder;
    if (lg__report_parse_name(name, &parts))
        memcpy(list->names[list->count++], name, LG__REPORT_NAME_BYTES);
    return list->count < SENT_MAX;
}

/* Order by the ordinal of the run, which stands after the priority. */
static int by_ordinal(const void *a, const void *b)
{
    return strcmp((const char *)a + 2, (const char *)b + 2);
}

/* Note the call that is about to come. false: the call has crashed too often. */
static bool note_call(int spool, const char *uuid)
{
    char text[64], before[37] = "";
    unsigned count = 0;
    if (lg__spool_read(spool, "telling", text, sizeof text) <= 0 || sscanf(text, "%36s %u", before, &count) != 2 || strcmp(before, uuid) != 0)
        count = 0;
    if (count >= TRIES)
        return false;
    int size = snprintf(text, sizeof text, "%s %u\n", uuid, count + 1);
    lg__spool_write(spool, "telling", text, (size_t)size, false);
    return true;
}

/* Where the report cannot say so, it is deleted, or each run would tell of it. */
static void note_told(int spool, const char *path, struct lg__report_header *header)
{
    int file = openat(spool, path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    header->told_ns = lg__os_clock_ns(CLOCK_REALTIME);
    lg__report_seal(header);
    if (file < 0 || pwrite(file, header, sizeof *header, 0) != (ssize_t)sizeof *header)
        unlinkat(spool, path, 0);
    if (file >= 0)
        close(file);
}

static void tell_one(int spool, const char *name)
{
    char path[8 + LG__REPORT_NAME_BYTES];
    struct lg__report_header header;
    lg_delivery_info info;
    snprintf(path, sizeof path, "sent/%s", name);
    if (lg__report_read(spool, path, &header) != LG_OK || header.told_ns)
        return; /* the agent puts a damaged one aside */
    lg__delivery_entries_info(&header, LG_DELIVERY_SENT, &info);
    if (note_call(spool, info.uuid))
        lg__delivery_state.on_delivered(&info, lg__delivery_state.user);
    LG_FAULT_POINT("delivery: told");
    note_told(spool, path, &header);
    LG_FAULT_POINT("delivery: told stored");
}

static void tell(const lg_session *session)
{
    struct lg__problem ignored = { .status = LG_OK };
    struct list *list = calloc(1, sizeof *list);
    int spool = list ? lg__delivery_spool(session, false, &ignored) : -1;
    if (spool >= 0) {
        lg__delivery_each(spool, "sent", list_one, list);
        qsort(list->names, list->count, sizeof list->names[0], by_ordinal);
        for (uint32_t i = 0; i < list->count && lg__session_open(session); i++)
            tell_one(spool, list->names[i]);
        unlinkat(spool, "telling", 0);
        close(spool);
    }
    free(list);
}

void lg__delivery_acknowledgement_wait(lg_session *session)
{
    static const uint32_t never;
    const uint64_t begun_ns = lg__os_clock_ns(CLOCK_MONOTONIC);
    while (lg__session_open(session) && !lg__capture_alone()) {
        if (is_finished(session, begun_ns)) {
            tell(session);
            return;
        }
        lg__capture_sleep(&never, 0, LOOK_NS);
    }
}
