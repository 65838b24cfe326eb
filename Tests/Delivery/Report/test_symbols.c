/* The functions of a module by the symbol table of its file: of the right file alone, and whatever
 * the file is. Under sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* after those */
#include <cmocka.h>
#include <elf.h>
#include <link.h>

#include "report/demangle.h"
#include "report/elf_symbols.h"

#define BUDGET (UINT64_C(64) << 20)
#define ROUNDS 3000

__attribute__((noinline, used)) int symbols_here(int a);
__attribute__((noinline, used)) int symbols_here(int a)
{
    __asm__ volatile("" : "+r"(a));
    return a;
}

static char build_id[65];
static uint64_t bias;
static uint8_t *self;
static size_t self_bytes;

static int note_id(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    (void)user;
    bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const char *at = (const char *)info->dlpi_addr + segment->p_vaddr, *end = at + segment->p_memsz;
        while (segment->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) < end) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof note);
            at += sizeof note;
            if (note.n_type == NT_GNU_BUILD_ID)
                for (unsigned k = 0; k < note.n_descsz && k < 32; k++)
                    sprintf(build_id + 2 * k, "%02x", (unsigned char)at[((note.n_namesz + 3) & ~3u) + k]);
            at += ((note.n_namesz + 3) & ~3u) + ((note.n_descsz + 3) & ~3u);
        }
    }
    return 1; /* the executable alone */
}

static void read_self(void)
{
    FILE *file = fopen("/proc/self/exe", "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    self_bytes = (size_t)ftell(file);
    rewind(file);
    self = malloc(self_bytes);
    assert_int_equal(fread(self, 1, self_bytes, file), self_bytes);
    fclose(file);
    dl_iterate_phdr(note_id, NULL);
    assert_true(build_id[0]);
}

/* Looks up this function in a file; whether it was found. */
static bool finds(const char *path, const char *id, uint64_t budget)
{
    struct elf_symbol symbols[] = { { .address = 1 }, { .address = (uint64_t)(uintptr_t)symbols_here - bias + 1 },
                                    { .address = (uint64_t)(uintptr_t)symbols_here - bias + 1 }, { .address = UINT64_MAX } };
    elf_symbols_find(path, id, symbols, 4, &budget);
    const bool found = symbols[1].name && strcmp(symbols[1].name, "symbols_here") == 0 && symbols[1].start == symbols[1].address - 1;
    assert_int_equal(found, symbols[2].name && strcmp(symbols[2].name, "symbols_here") == 0);
    for (size_t i = 0; i < 4; i++) {
        for (const char *c = symbols[i].name; c && *c; c++)
            assert_true((unsigned char)*c > ' ');
        free(symbols[i].name);
    }
    return found;
}

static void test_the_right_file(void **state)
{
    char other[65];
    (void)state;
    assert_true(finds("/proc/self/exe", build_id, BUDGET));
    snprintf(other, sizeof other, "%s", build_id);
    other[3] = other[3] == 'a' ? 'b' : 'a';
    assert_false(finds("/proc/self/exe", other, BUDGET));
    other[4] = 0;
    assert_false(finds("/proc/self/exe", other, BUDGET));
    assert_false(finds("/proc/self/exe", "", BUDGET));
    assert_false(finds("/proc/self/exe", build_id, 100));
}

static void test_what_is_no_module(void **state)
{
    static const char *const paths[] = { "", "relative", "/nowhere", "/", "/dev/zero", "/dev/tty", "/proc/self/maps", "/etc/passwd" };
    char fifo[] = "/tmp/test-symbols-XXXXXX";
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        assert_false(finds(paths[i], build_id, BUDGET));
    assert_non_null(mkdtemp(fifo));
    char path[64];
    snprintf(path, sizeof path, "%s/fifo", fifo);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(finds(path, build_id, BUDGET)); /* nobody writes into it */
    unlink(path);
    rmdir(fifo);
}

/* Damaged in its headers, its tables, anywhere; or cut. */
static void test_a_damaged_file(void **state)
{
    char path[] = "/tmp/test-symbols-XXXXXX";
    const int file = mkstemp(path);
    const size_t tables = self_bytes - (self_bytes < 65536 ? self_bytes : 65536);
    uint8_t *copy = malloc(self_bytes);
    unsigned found = 0;
    (void)state;
    srand(1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        memcpy(copy, self, self_bytes);
        for (int count = rand() % 16; count; count--) {
            const size_t at = round % 3 == 0 ? (size_t)rand() % 1024 : round % 3 == 1 ? tables + (size_t)rand() % (self_bytes - tables) : (size_t)rand() % self_bytes;
            copy[at] = (uint8_t)(rand() % 4 ? rand() : 255);
        }
        const size_t size = rand() % 4 ? self_bytes : (size_t)rand() % self_bytes;
        assert_int_equal(pwrite(file, copy, size, 0), size);
        assert_int_equal(ftruncate(file, (off_t)size), 0);
        found += finds(path, build_id, BUDGET);
    }
    printf("%u of %d damaged files still tell the function\n", found, ROUNDS);
    assert_true(found > 0 && found < ROUNDS);
    free(copy);
    close(file);
    unlink(path);
}

static void test_names(void **state)
{
    static const char *const names[][2] = {
        { "_ZN4game5World4tickEv", "game::World::tick" }, { "_ZNK4game5World4sizeEv", "game::World::size" }, { "_Z4openPKc", "open" },
        { "_ZN4game5WorldC1Ei", "game::World::World" }, { "_ZN4game5WorldD2Ev", "game::World::~World" }, { "_ZSt9terminatev", "std::terminate" },
        { "_ZNSt6thread4joinEv", "std::thread::join" }, { "_ZL6helperv", "helper" }, { "_ZN12_GLOBAL__N_14hideEv", "(anonymous namespace)::hide" },
        { "_ZN3std4readIiEEvv", "std::read<int>" }, { "_ZplRK1AS1_", "operator+" }, { "_ZNSt6vectorI1ASaIS0_EE2atEm", NULL }, { "_Z4tickv.cold", "tick" },
        { "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" }, { "_RNvCs_3app4main", "app::main" }, { "main", NULL }, { "_Z", NULL }, { "", NULL }, { "_", NULL }, { "_ZN", NULL },
        { "_ZNC1Ev", NULL }, { "_Z99999999999999999999av", NULL }, { "_ZN1aE", "a" }, { "_Z1a", "a" }, { "_ZN1aC", NULL }, { "_ZL", NULL }, { "$s4main3fooyyF", NULL },
        { "_Z50a_name_that_is_longer_than_there_is_a_room_and_morev", NULL },
    };
    char name[32];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(demangle_function(names[i][0], name, sizeof name), names[i][1] != NULL);
        if (names[i][1])
            assert_string_equal(name, names[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_right_file),
        cmocka_unit_test(test_what_is_no_module),
        cmocka_unit_test(test_a_damaged_file),
        cmocka_unit_test(test_names),
    };
    read_self();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(self);
    return failed;
}
