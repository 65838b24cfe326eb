#include "life.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/book.h"
#include "store/crc32c.h"

#define STORY_BYTES 8192
#define SLOT_AT(slot) ((off_t)(slot ? 57344 : 8192))

static volatile int zero;
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

bool story_is(const char *told)
{
    pthread_mutex_lock(&lock);
    bool is = strcmp(story, told) == 0;
    pthread_mutex_unlock(&lock);
    return is;
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
    (void)state;
    if (!story)
        story = mmap(NULL, STORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    story_take();
    state_make();
    return 0;
}

int life_clean(void **state)
{
    (void)state;
    state_remove();
    return 0;
}

void act(enum act what)
{
    switch (what) {
    case CRASH: *(volatile int *)(uintptr_t)zero = 1; break;
    case EXIT_7: exit(7);
    case QUICK_7: _exit(7);
    case KILL: raise(SIGKILL); break;
    case TERMINATE:
        kill(getpid(), SIGTERM);
        for (;;)
            pause();
    case HANG:
        for (;;)
            pause();
    case STOP: lg_stop(life_session); break;
    default: break;
    }
}

void in_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, argument) != 0)
        _exit(98);
    pthread_detach(thread);
}

void await_status(lg_launch *launch, lg_launch_status status)
{
    while (lg_launch_get_status(launch) != status)
        usleep(500);
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

void life_give_up(lg_launch *launch, lg_completion *done, void *user)
{
    (void)launch, (void)user;
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

void lives(const struct life *given, int end, const char *told)
{
    check_end(given, end);
    assert_string_equal(story, told);
}

/* ---- the ledger, byte by byte ---- */

static unsigned newest_slot(struct lg__slot slots[2])
{
    int file = open(state_path("ledger.lg"), O_RDONLY);
    assert_true(file >= 0);
    uint64_t generations[2];
    struct lg__book ignored;
    lg__crc32c_init();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pread(file, &slots[i], sizeof slots[i], SLOT_AT(i)), sizeof slots[i]);
        generations[i] = lg__book_load(&slots[i], &ignored);
    }
    close(file);
    assert_true(generations[0] || generations[1]);
    return generations[1] > generations[0];
}

struct lg__book stored_book(void)
{
    static struct lg__slot slots[2];
    struct lg__book book;
    assert_true(lg__book_load(&slots[newest_slot(slots)], &book) > 0);
    return book;
}

struct lg__book_context stored(void)
{
    struct lg__book book = stored_book();
    for (uint32_t i = 0; i < book.context_count; i++)
        if (strcmp(book.contexts[i].name, "main") == 0)
            return book.contexts[i];
    fail_msg("the ledger has no context \"main\"");
    return book.contexts[0];
}

void store_book(const struct lg__book *book)
{
    static struct lg__slot slots[2];
    unsigned newest = newest_slot(slots);
    struct lg__slot *slot = &slots[newest];
    slot->book = *book;
    slot->size = lg__book_used(book);
    slot->crc = lg__book_crc(slot->generation, slot->size, book);
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

static void shell(const char *format)
{
    char command[2048];
    char path[512];
    snprintf(path, sizeof path, "%.*s", (int)(strlen(state_path("")) - 1), state_path(""));
    snprintf(command, sizeof command, format, path, path, path, path);
    assert_int_equal(system(command), 0);
}

void state_save(void)
{
    shell("rm -rf %s/saved && mkdir %s/saved && cp -a %s/ledger.lg %s/saved/ ");
    shell("cp -a %s/runs %s/saved/ # %s %s");
}

void state_restore(void)
{
    shell("rm -rf %s/runs && cp -a %s/saved/runs %s/ # %s");
    shell("cp -a %s/saved/ledger.lg %s/ledger.lg # %s %s");
}
