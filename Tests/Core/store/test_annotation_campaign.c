/* A campaign against the annotations. Up to eight threads set, remove and redact the same keys, and
 * are killed at any moment, over and over. Signal handlers do the same in the middle of these
 * calls. One thread stops somewhere for ever, or until the others have made hundreds of changes.
 * The file is cut. A reader reads meanwhile.
 *
 * The effect of a call follows from its thread and its number. Shared memory holds two tickets of
 * each call, one from before it began and one from after it returned. Every value that the public
 * reader shows must be, to the last byte, the value of a call that had begun; and no call of the
 * same key that began after that call had returned may itself have returned. */
#include "campaign.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fault_point.h"

#define THREADS 8
#define CALLERS (2 * THREADS) /* each thread, and the handler of signals on it */
#define KEYS_MAX 60
#define KEPT 4096 /* calls of each caller whose tickets are kept */

enum trouble { NONE, SIGNALS, STANDS, COMES_LATE };
enum call { SET, TAKE_AWAY, REDACT };

static struct round {
    unsigned threads, keys;
    enum trouble trouble;
    unsigned wait_us; /* from the start to the kill */
    /* STANDS, COMES_LATE: the first thread stops at this many fault points of its own */
    unsigned stop;
} now;

/* Shared memory that survives the callers. */
static struct seen {
    _Atomic uint64_t ticket;
    _Atomic uint32_t standing;
    struct {
        _Atomic uint64_t begun, returned;
        _Atomic uint64_t start[KEPT], end[KEPT];
    } callers[CALLERS];
} *seen;

/* ---- the effect of a call ---- */

static uint64_t mix(unsigned caller, uint64_t number)
{
    uint64_t value = (number * CALLERS + caller + 1) * UINT64_C(0x9e3779b97f4a7c15);
    value ^= value >> 29;
    value *= UINT64_C(0xbf58476d1ce4e5b9);
    return value ^ value >> 32;
}

static unsigned key_of(unsigned caller, uint64_t number)
{
    return (unsigned)(mix(caller, number) % now.keys);
}

static enum call call_of(unsigned caller, uint64_t number)
{
    unsigned chance = (unsigned)(mix(caller, number) >> 20 & 255);
    if (chance == 0 && key_of(caller, number) % 4 == 1)
        return REDACT;
    return chance < 40 && key_of(caller, number) % 3 != 0 ? TAKE_AWAY : SET;
}

static void name_key(char to[16], unsigned key)
{
    snprintf(to, 16, "key %u", key);
}

/* Values: mostly short ones, some of the greatest length, some longer. */
static size_t make_value(char to[600], unsigned caller, uint64_t number)
{
    size_t size = (size_t)snprintf(to, 600, "%x:%llx:", caller, (unsigned long long)number), whole = (size_t)(mix(caller, number) >> 40 & 63);
    whole = number % 8 ? whole : number % 16 ? 450 + whole : 550;
    for (; size < whole; size++)
        to[size] = (char)('a' + (number + size * (caller + 1)) % 26);
    to[size] = 0;
    return size;
}

/* ---- the callers ---- */

static lg_session *session;
static __thread unsigned self __attribute__((tls_model("initial-exec"))); /* caller + 1 */
static __thread unsigned passes __attribute__((tls_model("initial-exec")));
static __thread bool in_handler __attribute__((tls_model("initial-exec")));

static void call_next(unsigned caller)
{
    char key[16], value[600];
    uint64_t number = atomic_load(&seen->callers[caller].begun) + 1;
    name_key(key, key_of(caller, number));
    make_value(value, caller, number);
    atomic_store(&seen->callers[caller].start[number % KEPT], atomic_fetch_add(&seen->ticket, 1));
    atomic_store(&seen->callers[caller].begun, number);
    enum call call = call_of(caller, number);
    lg_status status = call == REDACT ? lg_redact(session, key) : lg_annotate(session, key, call == SET ? value : NULL);
    if (status != LG_OK)
        _exit(91);
    atomic_store(&seen->callers[caller].end[number % KEPT], atomic_fetch_add(&seen->ticket, 1));
    atomic_store(&seen->callers[caller].returned, number);
}

static void on_signal(int number)
{
    (void)number;
    if (self == 0 || in_handler)
        return;
    in_handler = true;
    for (unsigned i = 0; i < 1 + passes % 3; i++)
        call_next(self - 1 + THREADS);
    in_handler = false;
}

static void hook(const char *point)
{
    if (self == 0 || in_handler || strncmp(point, "annotation: ", 12) != 0)
        return;
    passes++;
    if (now.trouble == SIGNALS && passes % 7 == 0)
        raise(SIGUSR1);
    if (self != 1 || passes != now.stop || (now.trouble != STANDS && now.trouble != COMES_LATE))
        return;
    atomic_store(&seen->standing, 1);
    uint64_t until = atomic_load(&seen->ticket) + 1000;
    while (now.trouble == STANDS)
        pause();
    while (atomic_load(&seen->ticket) < until)
        sched_yield();
}

static void *call_on(void *argument)
{
    self = (unsigned)(uintptr_t)argument + 1;
    while (true)
        call_next(self - 1);
    return NULL;
}

static void prepare(lg_session *started)
{
    session = started;
}

static uint64_t returned(unsigned caller)
{
    return atomic_load(&seen->callers[caller].returned);
}

static const struct party callers = { prepare, call_on, on_signal, hook, returned };

/* ---- the checks ---- */

static struct { uint64_t kills, values, looks; } totals;

/* The last call on a key that had returned and changed its value; 0: no such call is known any
 * more. */
static uint64_t last_on_key(unsigned caller, unsigned key, uint64_t returned)
{
    for (uint64_t number = returned; number > 0 && number + KEPT / 2 > returned; number--)
        if (key_of(caller, number) == key && call_of(caller, number) != REDACT)
            return number;
    return 0;
}

/* Whether a call may be the last one that changed the value of its key, when these calls had
 * returned. */
static bool may_be_last(unsigned caller, uint64_t number, unsigned key, const uint64_t returned[CALLERS])
{
    if (number > returned[caller])
        return true; /* the call had not returned: it came after all that had */
    if (number < last_on_key(caller, key, returned[caller]))
        return false;
    for (unsigned other = 0; other < CALLERS; other++) {
        uint64_t last = other == caller ? 0 : last_on_key(other, key, returned[other]);
        if (last && atomic_load(&seen->callers[other].start[last % KEPT]) > atomic_load(&seen->callers[caller].end[number % KEPT]))
            return false;
    }
    return true;
}

/* The call to which a shown value belongs. */
static bool find_call(const lg_annotation *shown, unsigned key, unsigned *ret_caller, uint64_t *ret_number)
{
    char expected[600], *end;
    unsigned long long number = 0;
    unsigned long caller = strtoul(shown->value, &end, 16);
    if (*end == ':')
        number = strtoull(end + 1, &end, 16);
    size_t size = make_value(expected, (unsigned)caller, number);
    bool cut = size > LG_ANNOTATION_VALUE_MAX;
    size = cut ? LG_ANNOTATION_VALUE_MAX : size;
    if (caller >= CALLERS || !number || shown->size != size || shown->cut != cut || memcmp(shown->value, expected, size) != 0 || shown->value[size])
        COMPLAIN("a torn value of \"%s\": %u bytes \"%s\"", shown->key, shown->size, shown->value);
    *ret_caller = (unsigned)caller;
    *ret_number = number;
    if (number > atomic_load(&seen->callers[caller].begun) || key_of(*ret_caller, number) != key || call_of(*ret_caller, number) != SET)
        COMPLAIN("\"%s\" is \"%s\", which no call set", shown->key, shown->value);
    return true;
}

/* The keys that the first `numbers` calls of each caller redact. */
static void redacted_by(bool keys[KEYS_MAX], const uint64_t numbers[CALLERS])
{
    memset(keys, 0, KEYS_MAX * sizeof *keys);
    for (unsigned caller = 0; caller < CALLERS; caller++)
        for (uint64_t number = 1; number <= numbers[caller]; number++)
            if (call_of(caller, number) == REDACT)
                keys[key_of(caller, number)] = true;
}

/* The key was removed, or never set. */
static bool may_be_absent(unsigned key, const uint64_t returned[CALLERS], const uint64_t begun[CALLERS])
{
    bool ever = false;
    for (unsigned caller = 0; caller < CALLERS; caller++) {
        uint64_t last = last_on_key(caller, key, returned[caller]);
        ever |= last > 0;
        if (last && call_of(caller, last) == TAKE_AWAY && may_be_last(caller, last, key, returned))
            return true;
        if (begun[caller] > returned[caller] && key_of(caller, begun[caller]) == key && call_of(caller, begun[caller]) == TAKE_AWAY)
            return true;
    }
    return !ever;
}

static bool check_ended(const char *path)
{
    lg_reader *reader = NULL;
    static lg_annotation shown[KEYS_MAX];
    lg_annotation one;
    uint64_t returned[CALLERS], begun[CALLERS];
    lg_status status = lg_reader_open(path, &reader);
    if (status != LG_OK)
        COMPLAIN("%s: %s", path, lg_status_name(status));
    memset(shown, 0, sizeof shown);
    for (uint32_t i = 0; i < LG_ANNOTATIONS_MAX; i++) {
        unsigned key = 0;
        char name[16];
        if ((status = lg_reader_annotation(reader, i, &one)) == LG_ERR_NOT_FOUND)
            continue;
        if (status != LG_OK)
            break;
        bool known = sscanf(one.key, "key %u", &key) == 1 && key < now.keys;
        name_key(name, key);
        if (!known || strcmp(name, one.key) != 0 || shown[key].key[0]) {
            lg_reader_close(reader);
            COMPLAIN("the key \"%.63s\" is %s", one.key, known ? "there twice" : "a key that no call set");
        }
        shown[key] = one;
    }
    lg_reader_close(reader);
    if (status != LG_OK && status != LG_ERR_NOT_FOUND)
        COMPLAIN("an annotation cannot be read: %s", lg_status_name(status));
    for (unsigned caller = 0; caller < CALLERS; caller++) {
        returned[caller] = atomic_load(&seen->callers[caller].returned);
        begun[caller] = atomic_load(&seen->callers[caller].begun);
    }
    bool must_be_redacted[KEYS_MAX], may_be_redacted[KEYS_MAX];
    redacted_by(must_be_redacted, returned);
    redacted_by(may_be_redacted, begun);
    for (unsigned key = 0; key < now.keys; key++) {
        unsigned caller;
        uint64_t number;
        const lg_annotation *of = &shown[key];
        if (of->has_value) {
            if (!find_call(of, key, &caller, &number))
                return false;
            if (!may_be_last(caller, number, key, returned))
                COMPLAIN("\"%.63s\" is \"%.500s\", and a later call had returned", of->key, of->value);
            totals.values++;
        } else if (!may_be_absent(key, returned, begun)) {
            COMPLAIN("key %u is lost", key);
        } else if (of->key[0] && !of->redacted) {
            COMPLAIN("\"%.63s\" has no value and is not redacted", of->key);
        }
        if (of->redacted ? !may_be_redacted[key] : must_be_redacted[key])
            COMPLAIN("key %u is redacted: %u", key, of->redacted);
    }
    return true;
}

/* While the callers go on: every value is whole, and none is older than one that the same caller
 * had replaced before. */
static bool look_on(const char *path)
{
    lg_reader *reader = NULL;
    lg_annotation one;
    uint64_t returned[CALLERS];
    lg_status status = lg_reader_open(path, &reader);
    if (status != LG_OK)
        COMPLAIN("living: %s", lg_status_name(status));
    for (unsigned caller = 0; caller < CALLERS; caller++)
        returned[caller] = atomic_load(&seen->callers[caller].returned);
    bool right = true;
    for (uint32_t i = 0; right && i < LG_ANNOTATIONS_MAX; i++) {
        unsigned key, caller;
        uint64_t number;
        if ((status = lg_reader_annotation(reader, i, &one)) == LG_ERR_NOT_FOUND)
            continue;
        if (status != LG_OK)
            break;
        if (sscanf(one.key, "key %u", &key) != 1 || key >= now.keys) {
            snprintf(complaint, sizeof complaint, "living: a key \"%.100s\"", one.key);
            right = false;
        } else if (one.has_value) {
            right = find_call(&one, key, &caller, &number);
            if (right && number < last_on_key(caller, key, returned[caller])) {
                snprintf(complaint, sizeof complaint, "living: \"%s\" was \"%.500s\" again", one.key, one.value);
                right = false;
            }
        }
        totals.looks++;
    }
    lg_reader_close(reader);
    if (right && status != LG_OK && status != LG_ERR_NOT_FOUND)
        COMPLAIN("living: %s", lg_status_name(status));
    return right;
}

/* ---- rounds ---- */

static pid_t begin_round(const char *directory)
{
    memset(seen, 0, sizeof *seen);
    totals.kills++;
    return begin(&callers, directory, now.threads, 4096);
}

/* The callers that go on: all, without the first where that one stops. */
static bool call_more(pid_t child, uint64_t more)
{
    return wait_for(child, now.trouble == STANDS, more);
}

static bool run_round(const char *directory)
{
    pid_t child = begin_round(directory);
    bool right = call_more(child, 0);
    for (int ms = 0; right && (now.trouble == STANDS || now.trouble == COMES_LATE) && !atomic_load(&seen->standing); ms++) {
        if (ms == LIMIT_MS)
            right = (snprintf(complaint, sizeof complaint, "no thread has stopped"), false);
        rest(1);
    }
    if (right && now.trouble != NONE)
        right = call_more(child, 200); /* the others go on */
    for (unsigned i = 0; right && i < 3; i++)
        right = look_on(run_path());
    pass_us(now.wait_us, "the kill comes at any moment");
    return finish(child) && right && check_ended(run_path());
}

static void draw_round(enum trouble trouble)
{
    static const unsigned keys[] = { 1, 2, 5, 20, KEYS_MAX };
    now = (struct round){ 1 + draw(THREADS), keys[draw(5)], trouble, draw(draw(4) ? 400 : 4000), 1 + draw(300) };
    if (trouble == STANDS || trouble == COMES_LATE)
        now.threads = 2 + draw(THREADS - 1);
}

static void campaign(enum trouble trouble, unsigned percent)
{
    const char *directory = state_make();
    memset(&totals, 0, sizeof totals);
    for (unsigned i = 0; next_round(i, percent); i++) {
        draw_round(trouble);
        if (!run_round(directory))
            fail_msg("%s (%u threads, %u keys, trouble %d, stop %u, %u µs)\n%s", complaint, now.threads, now.keys, (int)now.trouble, now.stop, now.wait_us,
                     repeat_round());
    }
    print_message("             %llu kills, %llu values compared, %llu seen while they changed\n", (unsigned long long)totals.kills,
                  (unsigned long long)totals.values, (unsigned long long)totals.looks);
    assert_true(totals.values > 0 && totals.looks > 0);
    state_remove();
}

static void test_kills(void **state) { (void)state; campaign(NONE, 60); }
static void test_signals(void **state) { (void)state; campaign(SIGNALS, 15); }
static void test_one_stands(void **state) { (void)state; campaign(STANDS, 10); }
static void test_one_comes_late(void **state) { (void)state; campaign(COMES_LATE, 10); }

/* The program lives on, every call returns as before, and the rest of the file does no harm to a
 * reader. */
static void test_cut(void **state)
{
    (void)state;
    const char *directory = state_make();
    for (unsigned i = 0; next_round(i, 5); i++) {
        struct stat info;
        lg_reader *reader;
        lg_annotation one;
        draw_round(draw(2) ? NONE : SIGNALS);
        pid_t child = begin_round(directory);
        bool right = call_more(child, 10);
        right = right && stat(run_path(), &info) == 0 && truncate(run_path(), draw(4) ? (off_t)(info.st_size - draw(80000)) : 0) == 0 && call_more(child, 100);
        if (!finish(child) || !right)
            fail_msg("%s (%u threads, %u keys)\n%s", complaint, now.threads, now.keys, repeat_round());
        if (lg_reader_open(run_path(), &reader) != LG_OK)
            continue;
        /* in the rest of the file: whole values, or none */
        for (uint32_t k = 0; k < LG_ANNOTATIONS_MAX; k++) {
            unsigned key, caller;
            uint64_t number;
            if (lg_reader_annotation(reader, k, &one) == LG_OK && one.has_value &&
                (sscanf(one.key, "key %u", &key) != 1 || key >= now.keys || !find_call(&one, key, &caller, &number)))
                fail_msg("%s\n%s", complaint, repeat_round());
        }
        lg_reader_close(reader);
    }
    state_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kills), cmocka_unit_test(test_signals), cmocka_unit_test(test_one_stands), cmocka_unit_test(test_one_comes_late),
        cmocka_unit_test(test_cut),
    };
    seen = shared_memory(sizeof *seen);
    return cmocka_run_group_tests_name("annotation_campaign", tests, NULL, NULL);
}
