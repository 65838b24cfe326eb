/* The last bytes of standard error, for programs that ask for them: descriptor 2 is a pipe, and a
 * thread copies its bytes to the earlier destination and into the run file. */
#include "capture/internal.h"
#include "os/fault_point.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

static struct lg__tail *tail LG__SMALL; /* NULL: not kept */
static int pipe_end = -1;     /* to read from */
static int standard_error = -1; /* where descriptor 2 pointed */
/* the program may close all files that it does not know, and open others */
static uint64_t pipe_identity, standard_error_identity;
static _Atomic uint32_t busy;   /* 1 from before a read until after its write */

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
    standard_error_identity = lg__os_file_identity(kept);
    pipe_end = lg__os_file_beyond(ends[0]);
    pipe_identity = lg__os_file_identity(pipe_end);
    tail = run->tail;
    /* without O_CLOEXEC: programs that this one starts write there, too */
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    return true;
}

/* A death in the middle costs the bytes of one piece. */
#define PIECE_BYTES 256u

static void keep(const uint8_t *bytes, size_t size)
{
    uint64_t total = atomic_load(&tail->total);
    while (size) {
        const size_t piece = size < PIECE_BYTES ? size : PIECE_BYTES;
        atomic_store_explicit(&tail->begun, total + piece, memory_order_relaxed);
        atomic_thread_fence(memory_order_release); /* before the bytes */
        for (size_t i = 0; i < piece; i++)
            tail->bytes[(total + i) % LG__TAIL_BYTES] = bytes[i];
        LG_FAULT_POINT("tail: bytes");
        total += piece;
        atomic_store_explicit(&tail->total, total, memory_order_release);
        bytes += piece;
        size -= piece;
    }
}

/* The pipe is still ours. Where the program closed our end of the pipe, descriptor 2 is another way
 * to it while it leads there. */
static bool have_pipe(void)
{
    if (!lg__os_file_is(pipe_end, pipe_identity) && lg__os_file_identity(STDERR_FILENO) == pipe_identity)
        pipe_end = lg__os_file_beyond(lg__os_open("/proc/self/fd/2"));
    return lg__os_file_is(pipe_end, pipe_identity);
}

/* Time after which the thread looks whether the program has ended around it. */
#define LOOK_MS 100

/* Wait until the pipe has bytes, or ends. Between this wait and the read, no thread that looks at
 * both sees an empty pipe and an idle thread. */
static bool await(void)
{
    struct pollfd wait = { pipe_end, POLLIN, 0 };
    int found;
    while ((found = poll(&wait, 1, LOOK_MS)) <= 0)
        if (found == 0 ? lg__capture_alone() : errno != EINTR)
            return false;
    return true;
}

static void copy(void)
{
    uint8_t bytes[4096];
    ssize_t size;
    while (have_pipe() && await()) {
        atomic_store(&busy, 1);
        do
            size = have_pipe() ? read(pipe_end, bytes, sizeof bytes) : 0;
        while (size < 0 && errno == EINTR);
        LG_FAULT_POINT("tail: read");
        if (size > 0)
            keep(bytes, (size_t)size);
        for (ssize_t done = 0, count; done < size && lg__os_file_is(standard_error, standard_error_identity); done += count) {
            count = write(standard_error, bytes + done, (size_t)(size - done));
            if (count < 0 && errno != EINTR)
                /* the earlier destination has no reader any more: the program must not notice */
                break;
            count = count < 0 ? 0 : count;
        }
        atomic_store(&busy, 0);
        if (size <= 0)
            break;
    }
}

void lg__tail_pump(void)
{
    copy();
    /* Text of the program's exit handlers has no other way. */
    if (lg__capture_alone())
        lg__tail_give_back();
}

void lg__tail_settle(uint64_t timeout_ns)
{
    if (!tail)
        return;
    LG_FAULT_POINT("tail: settles");
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
    if (lg__os_file_identity(STDERR_FILENO) == pipe_identity && lg__os_file_identity(standard_error) == standard_error_identity)
        dup2(standard_error, STDERR_FILENO);
    lg__os_close_ours(standard_error, standard_error_identity);
    lg__os_close_ours(pipe_end, pipe_identity);
}
