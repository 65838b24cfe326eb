/* The last bytes of standard error, for programs that wish it: descriptor 2 is a pipe, a thread copies what comes out of it to where it pointed
 * before, and into the run file. */
#include "capture/internal.h"
#include "os/fault_point.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct lg__tail *tail; /* NULL: not kept */
static int pipe_end = -1;     /* to read from */
static int standard_error = -1; /* where descriptor 2 pointed */
static _Atomic uint32_t busy;   /* 1 between a read and its write */

bool lg__tail_start(const struct lg__run *run)
{
    int ends[2], kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (kept < 0)
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        close(kept);
        return false;
    }
    standard_error = kept;
    pipe_end = ends[0];
    tail = run->tail;
    dup2(ends[1], STDERR_FILENO); /* without O_CLOEXEC: programs that this one starts write there, too */
    close(ends[1]);
    return true;
}

static void keep(const uint8_t *bytes, size_t size)
{
    uint64_t total = atomic_load(&tail->total);
    for (size_t i = 0; i < size; i++)
        tail->bytes[(total + i) % LG__TAIL_BYTES] = bytes[i];
    atomic_store_explicit(&tail->total, total + size, memory_order_release);
}

void lg__tail_pump(void)
{
    uint8_t bytes[4096];
    ssize_t size;
    while ((size = read(pipe_end, bytes, sizeof bytes)) > 0 || (size < 0 && errno == EINTR)) {
        if (size < 0)
            continue;
        atomic_store(&busy, 1);
        LG_FAULT_POINT("tail: read");
        keep(bytes, (size_t)size);
        for (ssize_t done = 0, count; done < size; done += count) {
            count = write(standard_error, bytes + done, (size_t)(size - done));
            if (count < 0 && errno != EINTR)
                break; /* nobody reads it any more: the program must not notice */
            count = count < 0 ? 0 : count;
        }
        atomic_store(&busy, 0);
    }
}

void lg__tail_settle(uint64_t timeout_ns)
{
    if (!tail)
        return;
    uint64_t until = lg__os_clock_ns(CLOCK_MONOTONIC) + timeout_ns;
    static const uint32_t nobody_wakes = 0;
    while (lg__os_clock_ns(CLOCK_MONOTONIC) < until && (lg__os_bytes_waiting(pipe_end) > 0 || atomic_load(&busy)))
        lg__os_futex_wait(&nobody_wakes, 0, 200000);
}

void lg__tail_give_back(void)
{
    if (!tail)
        return;
    tail = NULL;
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    close(pipe_end);
}
