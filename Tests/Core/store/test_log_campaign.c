/* A campaign against the ring log. Writers are killed at any moment, over and over. The file is cut
 * or deleted, or its disk is full. One writer stops in the middle of an entry for ever: by itself,
 * in a signal handler that does not return, or because the whole process is stopped; or it stops
 * until the others have gone once round the ring. Signal handlers write in the middle of a write.
 *
 * Each stream of entries is numbered from 1, its texts follow from number and stream, and after
 * each call the number is published in shared memory. The public reader must then show texts that
 * are right to the last byte, each once, in order, and without a gap up to the last entry whose
 * call had returned. Entries that are missing at the begin were overwritten by exactly that lane.
 * No more entries may look torn than threads were in the middle of one. The overwritten entries are
 * counted: together with the shown ones they are all that returned. A file that was cut promises
 * less: the entries that it shows are right, once and in order. */
#include "campaign.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "session/session.h"

#define WRITERS 8
#define STREAMS (2 * WRITERS) /* of each writer, and of the signal handler on its thread */
#define LANES 16
#define TEXT_MAX 300
#define NOTES_MAX 16 /* entries of LaunchGuard's own in a run, at most */

enum trouble { NONE, SIGNALS, HANGS, PARKED, STOPPED, LAPPED };

struct round {
    uint32_t ring_bytes;
    unsigned writers;
    enum trouble trouble;
    unsigned wait_us; /* from the start to the kill */
    /* HANGS to LAPPED: the first writer stops at this many fault points of its own */
    unsigned stop;
};

/* Shared memory that survives the writers. Each stream publishes in it: `number` last, after the
 * call. */
static struct {
    _Atomic uint64_t lapped_at; /* LAPPED: the others write until head is here; 0: not yet known */
    _Atomic uint64_t refused;
    _Atomic uint32_t stopped;   /* writers that write no more */
    struct {
        _Atomic uint64_t number;
        _Atomic uint64_t heads[LANES]; /* before the last call that returned */
    } streams[STREAMS];
} *seen;

/* ---- the writers ---- */

static struct round now;
static lg_session *session;
static struct lg__ring *ring;
static __thread unsigned self __attribute__((tls_model("initial-exec"))); /* stream + 1 */
static __thread unsigned passes __attribute__((tls_model("initial-exec")));
static __thread bool in_handler __attribute__((tls_model("initial-exec")));

static size_t make_text(char text[TEXT_MAX], unsigned stream, uint64_t number)
{
    static const char digits[] = "0123456789abcdef";
    size_t size = 0, whole = 20 + (number * 7919 + stream * 31) % (number % 16 ? 60 : 280);
    text[size++] = digits[stream];
    text[size++] = ':';
    for (int shift = 44; shift >= 0; shift -= 4)
        text[size++] = digits[number >> shift & 15];
    for (; size < whole; size++)
        text[size] = digits[(number + size * (stream + 1)) & 15];
    return size;
}

static void write_next(unsigned stream)
{
    char text[TEXT_MAX];
    uint64_t number = atomic_load(&seen->streams[stream].number) + 1;
    size_t size = make_text(text, stream, number);
    uint64_t heads[LANES];
    for (uint32_t lane = 0; lane < ring->lane_count; lane++)
        heads[lane] = atomic_load(&ring->writers[lane].lane->head);
    lg_status status = lg_log_write(session, LG_LEVEL_INFO, text, size);
    if (status == LG_ERR_LIMIT && ring->cell_count <= 256) {
        /* a small lane, full of entries in which a thread was stopped: the call is refused, and
         * made again */
        atomic_fetch_add(&seen->refused, 1);
        return;
    }
    if (status != LG_OK)
        _exit(91);
    for (uint32_t lane = 0; lane < ring->lane_count; lane++)
        atomic_store(&seen->streams[stream].heads[lane], heads[lane]);
    atomic_store(&seen->streams[stream].number, number);
}

static void on_signal(int number)
{
    (void)number;
    if (self == 0 || in_handler)
        return;
    in_handler = true;
    /* Sometimes three times round the lane that was interrupted. */
    unsigned count = passes % 35 == 0 ? (unsigned)(3 * ring->cell_count / 2) : 1 + passes % 3;
    for (unsigned i = 0; i < count; i++)
        write_next(self - 1 + WRITERS);
    in_handler = false;
}

static void on_park(int number)
{
    (void)number;
    while (true)
        pause();
}

static uint64_t shared_head(void)
{
    return atomic_load(&ring->writers[0].lane->head);
}

static void hook(const char *point)
{
    if (self == 0 || strncmp(point, "ring: ", 6) != 0)
        return;
    passes++;
    if (now.trouble == SIGNALS && !in_handler && passes % 5 == 0)
        raise(SIGUSR1);
    if (self != 1 || passes != now.stop)
        return;
    while (now.trouble == HANGS)
        pause();
    if (now.trouble == PARKED)
        raise(SIGUSR2);
    if (now.trouble == STOPPED)
        raise(SIGSTOP);
    if (now.trouble == LAPPED) {
        atomic_store(&seen->lapped_at, shared_head() + 3 * ring->cell_count);
        while (atomic_load(&seen->stopped) < now.writers - 1)
            sched_yield();
    }
}

static void *write_on(void *argument)
{
    self = (unsigned)(uintptr_t)argument + 1;
    while (true) {
        write_next(self - 1);
        /* Once the others have gone round, the stopped writer ends its entry, and that is the last
         * one. */
        uint64_t lapped_at = now.trouble == LAPPED ? atomic_load(&seen->lapped_at) : 0;
        if (lapped_at && (self == 1 || shared_head() >= lapped_at)) {
            atomic_fetch_add(&seen->stopped, 1);
            while (true)
                pause();
        }
    }
    return NULL;
}

static void prepare(lg_session *started)
{
    const struct sigaction park = { .sa_handler = on_park };
    session = started;
    ring = &session->host.run.ring;
    sigaction(SIGUSR2, &park, NULL);
}

static uint64_t returned(unsigned writer)
{
    return atomic_load(&seen->streams[writer].number);
}

static const struct party writers = { prepare, write_on, on_signal, hook, returned };

/* ---- the checks ---- */

static uint64_t cells_of(size_t size)
{
    return (sizeof(struct lg__entry) + size + LG__CELL_BYTES - 1) / LG__CELL_BYTES;
}

/* The heads of the lanes, from the file itself, as the public reader shows only the sum of the
 * overwritten entries. */
static bool read_heads(const char *path, struct lg__ring_header *ret_ring, uint64_t heads[LANES])
{
    struct lg__header header;
    int file = open(path, O_RDONLY);
    bool right = file >= 0 && pread(file, &header, sizeof header, 0) == sizeof header;
    for (uint32_t i = 0; right && i < header.section_count; i++) {
        if (header.sections[i].kind != LG__SECTION_RING)
            continue;
        off_t at = (off_t)header.sections[i].offset;
        right = pread(file, ret_ring, sizeof *ret_ring, at) == sizeof *ret_ring && ret_ring->lane_count <= LANES;
        for (uint32_t lane = 0; right && lane < ret_ring->lane_count; lane++)
            right = pread(file, &heads[lane], 8, at + (off_t)sizeof *ret_ring + (off_t)(lane * (sizeof(struct lg__lane) + ret_ring->lane_cells * (uint64_t)LG__CELL_BYTES))) == 8;
    }
    if (file >= 0)
        close(file);
    return right;
}

static struct { uint64_t kills, entries, torn, refused; } totals;

/* Each stream's entries as they are shown. */
struct shown {
    uint64_t count, first, last, first_sequence, lanes; /* a bit for each lane */
};

/* The shown entries are right, once and in order. */
static bool read_streams(lg_reader *reader, const lg_log_info *info, struct shown shown[STREAMS])
{
    static lg_log_entry entry;
    memset(shown, 0, STREAMS * sizeof *shown);
    for (uint64_t i = 0; i < info->entries; i++) {
        char expected[TEXT_MAX];
        if (lg_reader_log_entry(reader, i, &entry) != LG_OK)
            COMPLAIN("entry %llu cannot be read", (unsigned long long)i);
        if (strncmp(entry.text, "launchguard", 11) == 0)
            continue;
        unsigned stream = (unsigned)strtoul((char[]){ entry.text[0], 0 }, NULL, 16);
        uint64_t number = entry.size > 2 ? strtoull((char[]){ entry.text[2], entry.text[3], entry.text[4], entry.text[5], entry.text[6], entry.text[7],
                                                   entry.text[8], entry.text[9], entry.text[10], entry.text[11], entry.text[12], entry.text[13], 0 }, NULL, 16) : 0;
        if (make_text(expected, stream, number) != entry.size || memcmp(expected, entry.text, entry.size) != 0)
            COMPLAIN("a torn entry is shown: \"%.100s\"", entry.text);
        struct shown *of = &shown[stream];
        if (of->count && number <= of->last)
            COMPLAIN("stream %u: entry %llu comes after entry %llu", stream, (unsigned long long)number, (unsigned long long)of->last);
        if (!of->count) {
            of->first = number;
            of->first_sequence = entry.sequence;
        }
        of->last = number;
        of->count++;
        of->lanes |= UINT64_C(1) << entry.lane;
    }
    return true;
}

/* The thread had a lane of its own: everything before the first shown entry was overwritten, to the
 * cell. */
static bool check_first(unsigned stream, const struct shown *shown, uint64_t overwritten)
{
    char text[TEXT_MAX];
    if (shown->first > 1) {
        uint64_t before = shown->first_sequence - cells_of(make_text(text, stream, shown->first - 1));
        if (before >= overwritten)
            COMPLAIN("stream %u: entry %llu was not overwritten and is lost", stream, (unsigned long long)shown->first - 1);
    }
    return true;
}

static bool check_stream(unsigned stream, const struct shown *shown, uint32_t lanes, const uint64_t overwritten[LANES])
{
    uint64_t returned = atomic_load(&seen->streams[stream].number);
    bool anything = false, possible = false;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        anything |= overwritten[lane] > 0;
        /* The entry was reserved no earlier than head was before the call. */
        if (lane == 0)
            possible |= now.trouble != LAPPED && overwritten[lane] > atomic_load(&seen->streams[stream].heads[lane]);
    }
    if (returned && shown->last < returned && !possible && (now.trouble != LAPPED || stream == 0))
        COMPLAIN("stream %u: entry %llu returned and is lost; the last one is %llu", stream, (unsigned long long)returned, (unsigned long long)shown->last);
    if (shown->last > returned + 1)
        COMPLAIN("stream %u: entry %llu was never begun", stream, (unsigned long long)shown->last);
    if (!shown->count)
        return true;
    bool one_lane = (shown->lanes & (shown->lanes - 1)) == 0;
    /* The signals come in the middle of entries: all entries of the handler are in the shared
     * lane. */
    if ((one_lane || !anything || stream >= WRITERS) && shown->last - shown->first + 1 != shown->count)
        COMPLAIN("stream %u: a gap in the middle", stream);
    if (!anything && (shown->first != 1 || shown->count != shown->last))
        COMPLAIN("stream %u: an entry is lost, and nothing was overwritten", stream);
    if (stream < WRITERS && !(shown->lanes & 1) && now.trouble != SIGNALS)
        return check_first(stream, shown, overwritten[__builtin_ctzll(shown->lanes)]);
    return true;
}

/* `whole`: the file was not cut. */
static bool check_file(const char *path, bool whole)
{
    lg_reader *reader = NULL;
    struct shown shown[STREAMS];
    struct lg__ring_header header;
    lg_log_info info;
    uint64_t heads[LANES], overwritten[LANES], sum = 0;
    lg_status status = lg_reader_open(path, &reader);
    if (status == LG_OK)
        status = lg_reader_log(reader, &info);
    bool right = status == LG_OK;
    if (!right && whole)
        snprintf(complaint, sizeof complaint, "the ring log cannot be read: %s", lg_status_name(status));
    right = right && read_streams(reader, &info, shown);
    lg_reader_close(reader);
    if (!whole)
        return right || status != LG_OK;
    if (!right)
        return false;
    if (!read_heads(path, &header, heads))
        COMPLAIN("the heads of the lanes cannot be read");
    for (uint32_t lane = 0; lane < header.lane_count; lane++)
        sum += overwritten[lane] = heads[lane] > header.lane_cells ? heads[lane] - header.lane_cells : 0;
    if (sum * LG__CELL_BYTES != info.overwritten_bytes)
        COMPLAIN("%llu bytes overwritten instead of %llu", (unsigned long long)info.overwritten_bytes, (unsigned long long)sum * LG__CELL_BYTES);
    for (unsigned stream = 0; stream < STREAMS; stream++)
        if (!check_stream(stream, &shown[stream], header.lane_count, overwritten))
            return false;
    /* Only the entries that the death interrupted are torn, one in each thread and one in the
     * signal handler on it. */
    if (info.torn > now.writers * (now.trouble == SIGNALS ? 2 : 1))
        COMPLAIN("%llu torn entries of %u writers", (unsigned long long)info.torn, now.writers);
    uint64_t returned = 0, known = info.entries + info.overwritten_entries;
    for (unsigned stream = 0; stream < STREAMS; stream++)
        returned += atomic_load(&seen->streams[stream].number);
    if (known < returned || known > returned + STREAMS + NOTES_MAX || (info.overwritten_entries > 0) != (sum > 0))
        COMPLAIN("%llu entries and %llu overwritten ones, %llu returned", (unsigned long long)info.entries, (unsigned long long)info.overwritten_entries,
                 (unsigned long long)returned);
    totals.entries += info.entries;
    totals.torn += info.torn;
    totals.refused += atomic_load(&seen->refused);
    return true;
}

/* ---- rounds ---- */

static pid_t begin_round(const char *directory)
{
    memset(seen, 0, sizeof *seen);
    totals.kills++;
    return begin(&writers, directory, now.writers, now.ring_bytes);
}

/* The writers that go on: all, without the first where that one stops. */
static bool write_more(pid_t child, uint64_t more)
{
    return wait_for(child, now.trouble == HANGS || now.trouble == PARKED, more);
}

/* The process stops in the middle of an entry, maybe before it announces its start. Its file is
 * read, and then the process goes on. */
static bool stop_and_look(pid_t child)
{
    int status = 0, ms = 0;
    while (waitpid(child, &status, WUNTRACED | WNOHANG) != child && ms++ < LIMIT_MS)
        rest(1);
    if (!WIFSTOPPED(status))
        COMPLAIN("the writers do not stop: status %#x", (unsigned)status);
    bool right = check_file(run_path(), true);
    kill(child, SIGCONT);
    return right && write_more(child, 10);
}

static bool run_round(const char *directory)
{
    pid_t child = begin_round(directory);
    bool right = now.trouble == STOPPED ? stop_and_look(child) : write_more(child, 0);
    if (right && (now.trouble == HANGS || now.trouble == PARKED))
        right = write_more(child, 2000); /* the others, many times round */
    for (int ms = 0; right && now.trouble == LAPPED && atomic_load(&seen->stopped) < now.writers; ms++) {
        if (ms == LIMIT_MS)
            COMPLAIN("the writers do not stop");
        rest(1);
    }
    pass_us(now.wait_us, "the kill comes at any moment");
    return finish(child) && right && check_file(run_path(), true);
}

static const uint32_t rings[] = { 4096, 16384, 65536, 262144, 1048576 };

static void draw_round(enum trouble trouble)
{
    now = (struct round){ rings[draw(5)], 1 + draw(WRITERS), trouble, draw(draw(4) ? 400 : 4000), 18 + draw(6) };
}

static bool run_rounds(const char *directory, enum trouble trouble, unsigned percent)
{
    for (unsigned i = 0; next_round(i, percent); i++) {
        draw_round(trouble);
        if (trouble >= HANGS && trouble != STOPPED) {
            now.writers = 2 + draw(3);
            now.ring_bytes = rings[draw(3)];
            /* The first writer waits until the others have gone round the shared lane. */
            if (trouble == LAPPED)
                now.ring_bytes = 4096; /* one lane */
        }
        if (!run_round(directory)) {
            size_t size = strlen(complaint);
            snprintf(complaint + size, sizeof complaint - size, " (ring of %u, %u writers, trouble %d, %u µs)\n%s",
                     now.ring_bytes, now.writers, (int)now.trouble, now.wait_us, repeat_round());
            return false;
        }
    }
    return true;
}

static void campaign(enum trouble trouble, unsigned percent)
{
    const char *directory = state_make();
    memset(&totals, 0, sizeof totals);
    if (!run_rounds(directory, trouble, percent))
        fail_msg("%s", complaint);
    print_message("             %llu kills, %llu entries shown, %llu torn ones skipped, %llu refused\n", (unsigned long long)totals.kills,
                  (unsigned long long)totals.entries, (unsigned long long)totals.torn, (unsigned long long)totals.refused);
    state_remove();
}

static void test_kills(void **state) { (void)state; campaign(NONE, 60); }
static void test_signals(void **state) { (void)state; campaign(SIGNALS, 20); }
static void test_hangs(void **state) { (void)state; campaign(HANGS, 5); }
static void test_parked(void **state) { (void)state; campaign(PARKED, 5); }
static void test_stopped(void **state) { (void)state; campaign(STOPPED, 5); }
static void test_lapped(void **state) { (void)state; campaign(LAPPED, 5); }

static void test_cut(void **state)
{
    (void)state;
    const char *directory = state_make();
    for (unsigned i = 0; next_round(i, 5); i++) {
        draw_round(draw(2) ? NONE : SIGNALS);
        pid_t child = begin_round(directory);
        bool right = write_more(child, 10);
        struct stat info;
        right = right && stat(run_path(), &info) == 0 && truncate(run_path(), draw(4) ? (off_t)draw((uint32_t)info.st_size) : 0) == 0 && write_more(child, 10);
        if (!finish(child) || !right || !check_file(run_path(), false))
            fail_msg("%s (ring of %u, %u writers)\n%s", complaint, now.ring_bytes, now.writers, repeat_round());
    }
    state_remove();
}

static void test_deleted(void **state)
{
    (void)state;
    const char *directory = state_make();
    for (unsigned i = 0; next_round(i, 5); i++) {
        draw_round(draw(2) ? NONE : SIGNALS);
        pid_t child = begin_round(directory);
        bool right = write_more(child, 1);
        /* A second name keeps the file that the deletion of the first name would remove. */
        right = right && link(run_path(), state_path("kept")) == 0 && unlink(run_path()) == 0 && write_more(child, 100);
        if (!finish(child) || !right || !check_file(state_path("kept"), true))
            fail_msg("%s (ring of %u, %u writers)\n%s", complaint, now.ring_bytes, now.writers, repeat_round());
        unlink(state_path("kept"));
    }
    state_remove();
}

/* Fill the rest of the file system of the state directory. */
static bool fill_up(const char *directory)
{
    static const char zeros[4096];
    char path[1024];
    snprintf(path, sizeof path, "%s/full", directory);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    while (write(file, zeros, sizeof zeros) > 0) {}
    close(file);
    return true;
}

static void body_full(void *argument)
{
    const char *directory = argument;
    for (unsigned i = 0; next_round(i, 5); i++) {
        draw_round(NONE);
        if (mount("tmpfs", directory, "tmpfs", 0, "size=4m,mode=0700") != 0)
            _exit(97);
        pid_t child = begin_round(directory);
        bool right = write_more(child, 0) && fill_up(directory) && write_more(child, 100);
        if (!finish(child) || !right || !check_file(run_path(), true)) {
            fprintf(stderr, "%s (ring of %u, %u writers)\n%s\n", complaint, now.ring_bytes, now.writers, repeat_round());
            _exit(96);
        }
        umount(directory);
    }
    _exit(0);
}

static void body_namespace(void *argument)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        _exit(95);
    body_full(argument);
}

static void test_full(void **state)
{
    (void)state;
    const char *directory = state_make();
    struct death death = run_child(body_namespace, (void *)(uintptr_t)directory);
    assert_false(death.late);
    if (WIFEXITED(death.status) && (WEXITSTATUS(death.status) == 95 || WEXITSTATUS(death.status) == 97))
        skip_because("no mount namespace with a tmpfs of one's own");
    assert_int_equal(death.status, 0);
    state_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kills), cmocka_unit_test(test_signals), cmocka_unit_test(test_hangs),   cmocka_unit_test(test_parked),
        cmocka_unit_test(test_stopped), cmocka_unit_test(test_lapped),
        cmocka_unit_test(test_cut),   cmocka_unit_test(test_deleted), cmocka_unit_test(test_full),
    };
    seen = shared_memory(sizeof *seen);
    return cmocka_run_group_tests_name("log_campaign", tests, NULL, NULL);
}
