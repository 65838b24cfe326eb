/* lg_launch_reset(): the ledger of a program that does not run, written from outside. It is refused
 * while the program lives: the primary works on a copy, and would overwrite the change. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launchguard/ledger.h"
#include "launchguard/query.h"
#include "os/os.h"
#include "session/session.h"

/* Make no ledger where there is none, and keep no unreadable ledger aside. */
static lg_status look(const char *path, lg_ledger_info *ret_info)
{
    lg_reader *reader;
    lg_status status = lg_reader_open(path, &reader);
    if (status != LG_OK)
        return status;
    status = lg_reader_ledger(reader, ret_info);
    lg_reader_close(reader);
    return status;
}

static uint64_t this_process(uint8_t ret_boot_id[16])
{
    struct lg__os_process self;
    lg__os_boot_id(ret_boot_id);
    return lg__os_self(&self) ? lg__ledger_process(self.pid, self.start_ticks, ret_boot_id) : 0;
}

static lg_status reset_contexts(struct lg__ledger *ledger, const char *context)
{
    lg_status status = context ? LG_ERR_NOT_FOUND : LG_OK;
    struct lg__ledger_payload *payload = &ledger->payload;
    for (uint32_t i = 0; i < payload->context_count; i++)
        if (!context || strncmp(payload->contexts[i].name, context, LG__NAME_BYTES) == 0) {
            lg__decide_reset(&payload->contexts[i]);
            status = LG_OK;
        }
    if (status == LG_OK)
        lg__ledger_store(ledger);
    return status;
}

static lg_status reset_in(int directory, const char *path, const char *app_id, const char *context)
{
    uint8_t boot_id[16];
    struct lg__problem problem = { .status = LG_OK };
    uint64_t process = this_process(boot_id);
    struct lg__ledger *ledger = calloc(1, sizeof *ledger); /* too large for any stack */
    if (!ledger || !process) {
        free(ledger);
        return LG_ERR_SYSTEM;
    }
    lg_status status = lg__ledger_open(directory, path, app_id, process, boot_id, ledger, &problem);
    if (ledger->primary) {
        if (status == LG_OK)
            status = reset_contexts(ledger, context);
        atomic_store(&ledger->hot->primary, 0);
    }
    struct lg__map map = ledger->map;
    lg__map_abandon(&ledger->map);
    if (map.base)
        lg__map_free(&map);
    free(ledger);
    errno = problem.error ? problem.error : errno;
    return status;
}

lg_status lg_launch_reset(const char *state_directory, const char *context)
{
    char path[4096];
    lg_ledger_info info;
    struct lg__problem problem = { .status = LG_OK };
    if (!state_directory || !*state_directory)
        return LG_ERR_ARGUMENT;
    int length = snprintf(path, sizeof path, "%s/ledger.lg", state_directory);
    if (length < 0 || (size_t)length >= sizeof path)
        return LG_ERR_NOT_FOUND;
    lg_status status = look(path, &info);
    if (status != LG_OK)
        return status;
    int directory = lg__map_directory(state_directory, &problem);
    if (directory < 0) {
        errno = problem.error;
        return problem.status;
    }
    status = reset_in(directory, path, info.app_id, context);
    int error = errno;
    close(directory);
    errno = error;
    return status;
}
