/* The annotations of a minidump: those of the program, and what no stream has a place for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launchguard/annotate.h"
#include "report/dump_facts.h"
#include "report/values.h"

#define OWN_MAX 7u

/* Those of the program, and what no stream has a place for. */
struct annotations {
    struct lg__dump_annotation list[LG_ANNOTATIONS_MAX + OWN_MAX];
    size_t count;
};

static void add_annotation(struct lg__dump *dump, struct annotations *all, const char *key, const char *value, size_t size)
{
    size_t key_bytes = strlen(key);
    struct lg__dump_annotation *row = &all->list[all->count];
    char *plain_key = lg__dump_facts_text(dump, key, &key_bytes), *plain = lg__dump_facts_text(dump, value, &size);
    if (plain_key && plain) {
        *row = (struct lg__dump_annotation){ { plain_key, key_bytes }, { plain, size } };
        all->count++;
    } else {
        free(plain_key);
        free(plain);
    }
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const lg_annotation *)a)->key, ((const lg_annotation *)b)->key);
}

/* By key. A redacted annotation is left out, and its key is known all the same. */
static size_t read_annotations(lg_reader *reader, lg_annotation list[LG_ANNOTATIONS_MAX])
{
    uint64_t used;
    size_t count = 0;
    if (lg_reader_annotations_used(reader, &used) != LG_OK)
        used = UINT64_MAX;
    for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++)
        count += (used >> i & 1) && lg_reader_annotation(reader, i, &list[count]) == LG_OK;
    for (size_t i = 0; i < count; i++) /* a file made by hand may have a key twice */
        for (size_t j = 0; j < count; j++)
            list[i].redacted |= list[j].redacted && strcmp(list[i].key, list[j].key) == 0;
    if (count)
        qsort(list, count, sizeof *list, by_key);
    return count;
}

/* The end with its details in a few words, for example "crash SIGSEGV fault.null_write". */
static void end_words(const lg_verdict *verdict, char *text, size_t room)
{
    char buffer[LG__SIGNAL_NAME_BYTES], kind[32], status[32] = "";
    const char *name = lg_crash_kind_name(verdict->kind);
    const bool is_crash = verdict->end == LG_END_CRASH;
    snprintf(kind, sizeof kind, "kind %u", (unsigned)verdict->kind);
    name = strcmp(name, "invalid") == 0 ? kind : name;
    if (verdict->end == LG_END_EXIT || (verdict->end == LG_END_CLEAN && verdict->code))
        snprintf(status, sizeof status, " with status %d", (int)verdict->code);
    snprintf(text, room, "%s%s%s%s%s%s", lg_end_name(verdict->end), verdict->signal ? " " : "",
             verdict->signal ? lg__values_signal_name(verdict->signal, buffer) : "", is_crash ? " " : "", is_crash ? name : "", status);
}

void lg__dump_annotations_add(struct lg__dump *dump)
{
    struct annotations *all = calloc(1, sizeof *all);
    lg_annotation *list = calloc(LG_ANNOTATIONS_MAX, sizeof *list);
    lg_message *message = calloc(1, sizeof *message);
    const lg_run_info *run = &dump->report->run;
    const size_t count = list ? read_annotations(dump->reader, list) : 0;
    char end[160] = "", fingerprint[33] = "", kind[32] = "";
    dump->file.part.failed |= !all || !list || !message;
    if (dump->has_verdict) {
        end_words(&dump->verdict, end, sizeof end);
        if (dump->verdict.end == LG_END_RUNNING || lg_reader_fingerprint_of(dump->reader, &dump->verdict, fingerprint) != LG_OK)
            fingerprint[0] = 0;
    }
    if (dump->has_crash) {
        const char *name = lg_crash_kind_name(dump->crash.kind);
        snprintf(kind, sizeof kind, "kind %u", (unsigned)dump->crash.kind);
        if (strcmp(name, "invalid") != 0)
            snprintf(kind, sizeof kind, "%s", name);
    }
    lg__dump_facts_select(dump, false);
    if (message && (!dump->has_crash || lg_reader_message(dump->reader, 0, message) != LG_OK))
        message->size = 0;
    const struct {
        const char *key, *value;
        size_t size;
        bool is_there;
    } own[OWN_MAX] = {
        { "launchguard.app", run->app_id, strlen(run->app_id), dump->report->has_run },
        { "launchguard.version", run->app_version, strlen(run->app_version), dump->report->has_run && run->app_version[0] },
        { "launchguard.end", end, strlen(end), end[0] },
        { "launchguard.fingerprint", fingerprint, strlen(fingerprint), fingerprint[0] },
        { "launchguard.kind", kind, strlen(kind), kind[0] },
        { "launchguard.message", message ? message->text : "", message ? message->size : 0, message && message->size },
        { "launchguard.async", dump->options->async_callers ? dump->options->async_callers : "",
          dump->options->async_callers ? strlen(dump->options->async_callers) : 0, dump->options->async_callers },
    };
    for (size_t i = 0; all && i < count; i++)
        if (!list[i].redacted)
            add_annotation(dump, all, list[i].key, list[i].value, list[i].size);
    for (size_t i = 0; all && i < OWN_MAX; i++) {
        bool is_known = false;
        for (size_t k = 0; k < count; k++)
            is_known |= strcmp(list[k].key, own[i].key) == 0;
        if (own[i].is_there && !is_known)
            add_annotation(dump, all, own[i].key, own[i].value, own[i].size);
    }
    if (all)
        lg__dump_streams_annotations(&dump->file, all->list, all->count, dump->report->has_run ? run->uuid : "");
    for (size_t i = 0; all && i < all->count; i++) {
        free((char *)all->list[i].key.bytes);
        free((char *)all->list[i].value.bytes);
    }
    free(all);
    free(list);
    free(message);
}
