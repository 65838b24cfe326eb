/* Kernels with pages of 16 and 64 KiB: what is mapped, protected or replaced is whole pages. This
 * machine's pages are smaller; a larger one is then a number of them. */
#include "harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/fault_point.h"
#include "os/os.h"
#include "store/map.h"

static const size_t sizes[] = { 4096, 16384, 65536 };
#define SIZES (sizeof sizes / sizeof sizes[0])

static void test_page_of(void **state)
{
    (void)state;
    uint8_t *const base = (uint8_t *)(uintptr_t)0x10000000;
    for (size_t i = 0; i < SIZES; i++) {
        const size_t page = sizes[i], size = 5 * page + 4096; /* a file ends inside a page */
        assert_ptr_equal(lg__map_page_of(base, size, page, base), base);
        assert_ptr_equal(lg__map_page_of(base, size, page, base + page - 1), base);
        assert_ptr_equal(lg__map_page_of(base, size, page, base + page), base + page);
        assert_ptr_equal(lg__map_page_of(base, size, page, base + size - 1), base + (size - 1) / page * page);
        assert_null(lg__map_page_of(base, size, page, base + size));
        assert_null(lg__map_page_of(base, size, page, base - 1));
        assert_null(lg__map_page_of(NULL, size, page, base));
        assert_null(lg__map_page_of(base, 0, page, base));
    }
}

/* ---- a cut file: one access heals one page of the kernel ---- */

static void body_cut(void *argument)
{
    const size_t page = *(const size_t *)argument, size = 4 * page;
    struct lg__problem problem;
    struct lg__map map;
    lg__fault_page_bytes = page;
    start_session();
    int file = open(state_path("cut"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (ftruncate(file, (off_t)size) != 0 || lg__map_file(file, lg__os_file_identity(file), "cut", size, &map, &problem) != LG_OK || ftruncate(file, 0) != 0)
        _exit(90);
    volatile uint8_t *bytes = map.base;
    const unsigned before = lg__map_healed();
    bytes[page + 100] = 1;
    for (size_t at = page; at < 2 * page; at++)
        bytes[at] = 2;
    if (lg__map_healed() != before + 1)
        _exit(91);
    bytes[page - 1] = bytes[2 * page] = 3;
    _exit(lg__map_healed() == before + 3 ? 0 : 92);
}

static void test_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        state_make();
        expect_exit(body_cut, (void *)(uintptr_t)&sizes[i], 0);
        state_remove();
    }
}

/* ---- an alternate stack between its guards ---- */

static volatile int zero;

__attribute__((noinline)) static int overflow(int depth)
{
    volatile char space[512];
    space[0] = (char)depth;
    return zero ? 0 : overflow(depth + 1) + space[0];
}

static void *overflows(void *argument)
{
    const size_t page = *(const size_t *)argument;
    stack_t stack;
    if (lg_thread_register() != LG_OK || sigaltstack(NULL, &stack) != 0 || stack.ss_flags & SS_DISABLE || stack.ss_size % page)
        _exit(93);
    const uint64_t low = (uint64_t)(uintptr_t)stack.ss_sp, high = low + stack.ss_size;
    for (uint64_t at = 4096; at <= page; at += 4096)
        if (lg__os_readable(low - at) != 0 || lg__os_readable(high + at - 4096) != 0)
            _exit(94);
    /* they are mapped, and not only a gap */
    unsigned char there[16];
    if (mincore((void *)(uintptr_t)(low - page), page, there) != 0 || mincore((void *)(uintptr_t)high, page, there) != 0)
        _exit(96);
    if (lg__os_readable(low) != 1 || lg__os_readable(high - 8) != 1)
        _exit(95);
    zero = overflow(0);
    return NULL;
}

static void body_overflow(void *argument)
{
    pthread_t thread;
    lg__fault_page_bytes = *(const size_t *)argument;
    start_session();
    pthread_create(&thread, NULL, overflows, argument);
    pthread_join(thread, NULL);
}

static void test_overflow(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        state_make();
        expect_signal(body_overflow, (void *)(uintptr_t)&sizes[i], SIGSEGV);
        assert_int_equal(newest_crash(LG_STAGE_DONE).kind, LG_CRASH_STACK_OVERFLOW);
        state_remove();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page_of),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
