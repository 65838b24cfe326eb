#include "scripted_life.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/ledger_payload.h"
#include "store/crc32c.h"

#define STORY_BYTES 8192
#define SLOT_AT(slot) ((off_t)(slot ? 57344 : 8192))

char *story;
const struct life *life;
lg_session *life_session;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const char *story_take(void)
{
    static char taken[STORY_BYTES];
    pthread_mutex_lock(&lock);
    memcpy(taken, story, sizeof taken);
    story[0] = 0;
    pthread_mutex_unlock(&lock);
    return taken;
}

bool story_is(const char *expected)
{
    pthread_mutex_lock(&lock);
    bool is = strcmp(story, expected) == 0;
    pthread_mutex_unlock(&lock);
    return is;
}

static bool is_last(const char *line)
{
    pthread_mutex_lock(&lock);
    size_t size = strlen(story), tail = strlen(line);
    bool last = size > tail && story[size - 1] == ';' && memcmp(story + size - 1 - tail, line, tail) == 0;
    pthread_mutex_unlock(&lock);
    return last;
}

void await_last_line(const char *line)
{
    wait_until(is_last(line));
}

void tell(const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&lock);
    strncat(story, line, STORY_BYTES - strlen(story) - 1);
    strncat(story, ";", STORY_BYTES - strlen(story) - 1);
    pthread_mutex_unlock(&lock);
}

int life_make(void **state)
{
    if (!story)
        story = shared_memory(STORY_BYTES);
    story_take();
    return make_state(state);
}

void act(enum act what)
{
    switch (what) {
    case CRASH: crash(); break;
    case EXIT_7: exit(7);
    case QUICK_7: _exit(7);
    case KILL: raise(SIGKILL); break;
    case TERMINATE: kill(getpid(), SIGTERM); wait_for_ever(NULL); break;
    case HANG: wait_for_ever(NULL); break;
    case STOP: lg_stop(life_session); break;
    default: break;
    }
}

void life_repair(lg_launch *launch, const char *name, lg_repair_callback run)
{
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = name;
    repair.run = run;
    if (lg_launch_add_repair(launch, &repair) != LG_OK)
        _exit(96);
}

void await_status(lg_launch *launch, lg_launch_status status)
{
    wait_until(lg_launch_get_status(launch) == status);
}

static void answer(lg_completion *done, enum act what)
{
    act(what);
    if (what != SILENT)
        lg_complete(done, what == FAIL ? LG_ERR_FAILED : LG_OK);
}

void life_report(const lg_report_batch *batch, lg_completion *done, void *user)
{
    (void)user;
    tell("report %u", batch->streak);
    answer(done, life->in_report);
}

void life_status(lg_launch *launch, lg_launch_status status, void *user)
{
    (void)launch, (void)user;
    tell("%s", lg_launch_status_name(status));
}

void life_give_up(lg_launch *launch, uint32_t hold, lg_completion *done, void *user)
{
    (void)launch, (void)hold, (void)user;
    tell("give up");
    answer(done, life->in_give_up);
}

static void small(lg_completion *done, void *user)
{
    (void)user;
    tell("small");
    answer(done, life->in_small);
}

static void large(lg_completion *done, void *user)
{
    (void)user;
    tell("large");
    answer(done, life->in_large);
}

static lg_status task(void *user)
{
    const char *key = user;
    enum act what = key[0] == 'a' ? life->in_a : life->in_b;
    tell("%s", key);
    act(what);
    if (what == PROTECT || what == PROTECT_AND_FAIL) {
        lg_launch *launch;
        if (lg_launch_prepare(life_session, "main", NULL, &launch) != LG_ERR_DUPLICATE || lg_launch_protect(launch, "a task says so") != LG_OK)
            _exit(97);
    }
    return what == FAIL || what == PROTECT_AND_FAIL ? LG_ERR_FAILED : LG_OK;
}

static void protect(void *user)
{
    tell("protect %s", (const char *)user);
    act(life->in_protect);
}

static void add_repair(lg_launch *launch, const char *name, uint32_t impact, uint32_t flags, lg_repair_callback run)
{
    lg_repair repair = LG_REPAIR_INIT;
    repair.name = name;
    repair.impact = impact;
    repair.flags = flags;
    repair.attempts = life->attempts;
    repair.timeout_ms = life->timeout_ms;
    repair.run = run;
    if (lg_launch_add_repair(launch, &repair) != LG_OK)
        _exit(96);
}

static void add_task(lg_launch *launch, char *key, uint32_t flags)
{
    lg_task added = LG_TASK_INIT;
    added.key = key;
    added.flags = flags;
    added.run = task;
    added.protect = protect;
    added.user = key;
    if (lg_launch_add_task(launch, &added) != LG_OK)
        _exit(95);
}

void live(void *argument)
{
    static char a[] = "a", b[] = "b";
    lg_launch *launch;
    life = argument;
    life_session = start_version(life->version);
    lg_status prepared = lg_launch_prepare(life_session, "main", &life->options, &launch);
    if (prepared != LG_OK) {
        tell("prepare %s", lg_status_name(prepared));
        if (prepared == LG_ERR_OPTION)
            _exit(94);
    }
    if (!life->no_repairs) {
        add_repair(launch, "large", 50, life->large_flags, large);
        add_repair(launch, "small", 10, life->small_flags, small);
    }
    add_task(launch, a, life->a_flags);
    add_task(launch, b, life->b_flags);
    if (life->by_key)
        lg_launch_replay_by_key(launch);
    if (life->before)
        life->before(launch);
    lg_status begun = lg_launch_begin(launch);
    if (begun != LG_OK)
        tell("begin %s", lg_status_name(begun));
    if (life->then)
        life->then(launch);
    if (life->after == FINISH && lg_launch_finished(launch) != LG_OK)
        tell("not finished");
    act(life->after);
}

static void check_end(const struct life *given, int end)
{
    void *argument = (void *)(uintptr_t)given;
    story[0] = 0;
    if (end > 0)
        expect_signal(live, argument, end);
    else
        expect_exit(live, argument, -end);
}

void lives_somehow(const struct life *given, int end)
{
    check_end(given, end);
}

void lives(const struct life *given, int end, const char *expected)
{
    check_end(given, end);
    assert_string_equal(story, expected);
}

/* ---- the ledger, byte by byte ---- */

/* The newest whole slot; −1: none. */
static int newest_slot(struct lg__slot slots[2])
{
    int file = open(state_path("ledger.lg"), O_RDONLY);
    uint64_t generations[2] = { 0, 0 };
    static struct lg__ledger_payload ignored;
    lg__crc32c_init();
    for (int i = 0; file >= 0 && i < 2; i++)
        if (pread(file, &slots[i], sizeof slots[i], SLOT_AT(i)) == (ssize_t)sizeof slots[i])
            generations[i] = lg__ledger_payload_load(&slots[i], &ignored);
    if (file >= 0)
        close(file);
    return !generations[0] && !generations[1] ? -1 : generations[1] > generations[0];
}

bool read_book(struct lg__ledger_payload *ret_book)
{
    static struct lg__slot slots[2];
    int newest = newest_slot(slots);
    return newest >= 0 && lg__ledger_payload_load(&slots[newest], ret_book) > 0;
}

struct lg__ledger_payload stored_book(void)
{
    struct lg__ledger_payload book;
    assert_true(read_book(&book));
    return book;
}

struct lg__ledger_context stored(void)
{
    struct lg__ledger_payload book = stored_book();
    for (uint32_t i = 0; i < book.context_count; i++)
        if (strcmp(book.contexts[i].name, "main") == 0)
            return book.contexts[i];
    fail_msg("the ledger has no context \"main\"");
    return book.contexts[0];
}

void store_book(const struct lg__ledger_payload *book)
{
    static struct lg__slot slots[2];
    int newest = newest_slot(slots);
    assert_true(newest >= 0);
    struct lg__slot *slot = &slots[newest];
    slot->payload = *book;
    slot->size = lg__ledger_payload_used(book);
    slot->crc = lg__ledger_payload_crc(slot->generation, slot->size, book);
    int file = open(state_path("ledger.lg"), O_RDWR);
    assert_int_equal(pwrite(file, slot, sizeof *slot, SLOT_AT(newest)), sizeof *slot);
    close(file);
}

static void start_and_end(void *argument)
{
    (void)argument;
    start_session();
}

void account(void)
{
    expect_exit(start_and_end, NULL, 0);
}

/* ---- copies ---- */

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 16];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(in >= 0 && out >= 0);
    off_t at = 0, data;
    /* Run files are mostly holes. */
    while ((data = lseek(in, at, SEEK_DATA)) >= 0) {
        off_t end = lseek(in, data, SEEK_HOLE);
        for (at = data; at < end;) {
            ssize_t got = pread(in, bytes, (size_t)(end - at) < sizeof bytes ? (size_t)(end - at) : sizeof bytes, at);
            assert_true(got > 0);
            assert_int_equal(pwrite(out, bytes, (size_t)got, at), got);
            at += got;
        }
    }
    assert_int_equal(ftruncate(out, lseek(in, 0, SEEK_END)), 0);
    close(in);
    close(out);
}

/* Empty a folder, and copy the newest run from another one into it: older runs are no evidence any
 * more. */
static void copy_newest_run(const char *from, const char *to)
{
    char newest[300] = "", path[1024];
    mkdir(to, 0700);
    DIR *runs = opendir(to);
    for (struct dirent *entry; (entry = readdir(runs));)
        if (entry->d_name[0] != '.')
            assert_int_equal(unlinkat(dirfd(runs), entry->d_name, 0), 0);
    closedir(runs);
    runs = opendir(from);
    for (struct dirent *entry; runs && (entry = readdir(runs));)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, newest) > 0)
            snprintf(newest, sizeof newest, "%s", entry->d_name);
    if (runs)
        closedir(runs);
    if (!newest[0])
        return;
    char source[1024];
    snprintf(source, sizeof source, "%s/%s", from, newest);
    snprintf(path, sizeof path, "%s/%s", to, newest);
    copy_file(source, path);
}

void state_save(void)
{
    copy_newest_run(state_path("runs"), state_path("saved"));
    copy_file(state_path("ledger.lg"), state_path("saved.lg"));
}

void state_restore(void)
{
    copy_newest_run(state_path("saved"), state_path("runs"));
    copy_file(state_path("saved.lg"), state_path("ledger.lg"));
}
