/* The last bytes of a program's standard error, for Swift on Linux: a process of its own copies
 * them from a pipe to where they would have gone, and keeps the last ones in memory that it shares
 * with its parent. It lives until nobody can write to the pipe any more, which may be longer than
 * the program: children of the program have the pipe too. */
#ifndef LAUNCHGUARD_CPROCESS_WORDS_H
#define LAUNCHGUARD_CPROCESS_WORDS_H

#ifdef __linux__
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>

#include "shim.h"

#define LG_SHIM_WORDS_BYTES 16384u

typedef struct lg_shim_words {
    _Atomic uint64_t total; /* byte n is at n modulo LG_SHIM_WORDS_BYTES */
    _Atomic uint32_t is_done; /* futex: all that was written before the question was copied */
    pid_t copier;
    int given, given_output; /* the streams as they were given; -1: it is not changed */
    char bytes[LG_SHIM_WORDS_BYTES];
} lg_shim_words;

static inline void lg_shim_words_done(lg_shim_words *words)
{
    atomic_store(&words->is_done, 1);
    syscall(SYS_futex, &words->is_done, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* false: the place where the bytes go has no reader any more. */
static inline int lg_shim_words_copy(lg_shim_words *words, int from, int to)
{
    char bytes[4096];
    const ssize_t size = read(from, bytes, sizeof bytes);
    if (size <= 0)
        return size < 0 && (errno == EINTR || errno == EAGAIN);
    const uint64_t total = atomic_load(&words->total);
    for (ssize_t i = 0; i < size; i++)
        words->bytes[(total + (uint64_t)i) % LG_SHIM_WORDS_BYTES] = bytes[i];
    atomic_store(&words->total, total + (uint64_t)size);
    for (ssize_t done = 0, count; done < size; done += count) {
        count = write(to, bytes + done, (size_t)(size - done));
        if (count < 0 && errno == EAGAIN) {
            struct pollfd room = { to, POLLOUT, 0 };
            poll(&room, 1, -1);
        } else if (count < 0 && errno != EINTR) {
            return 0;
        }
        count = count < 0 ? 0 : count;
    }
    return 1;
}

/* All signals are blocked. The question of the parent is a queued signal, which no signal to the
 * group takes the place of. */
#define LG_SHIM_WORDS_QUESTION SIGRTMAX
static inline void lg_shim_words_serve(lg_shim_words *words, int pipe, uint32_t parent)
{
    struct pollfd wait[] = { { LG_SHIM_KEPT_FILE, POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };
    struct signalfd_siginfo question;
    sigset_t questions;
    int is_asked = 0;
    lg_shim_as_own("lg-stderr");
    /* standard input is the question, standard output the place where the bytes go */
    sigemptyset(&questions);
    sigaddset(&questions, LG_SHIM_WORDS_QUESTION);
    dup2(pipe, LG_SHIM_KEPT_FILE); /* first: a stream that was closed may be its number */
    dup2(signalfd(-1, &questions, SFD_CLOEXEC | SFD_NONBLOCK), STDIN_FILENO);
    dup2(words->given, STDOUT_FILENO);
    close(STDERR_FILENO);
    if (syscall(SYS_close_range, LG_SHIM_KEPT_FILE + 1, ~0u, 0u) != 0)
        for (long file = sysconf(_SC_OPEN_MAX); file-- > LG_SHIM_KEPT_FILE + 1;)
            close((int)file);
    if (chdir("/") != 0)
        _exit(1);
    for (;;) {
        const int found = poll(wait, 2, is_asked ? 0 : -1);
        if (found > 0 && wait[1].revents && read(STDIN_FILENO, &question, sizeof question) > 0)
            is_asked |= question.ssi_code == SI_QUEUE && question.ssi_pid == parent;
        if (found > 0 && wait[0].revents && !lg_shim_words_copy(words, LG_SHIM_KEPT_FILE, STDOUT_FILENO))
            break;
        if (found == 0 && is_asked) {
            lg_shim_words_done(words);
            is_asked = 0;
        }
    }
    lg_shim_words_done(words);
    _exit(0);
}

/* Standard error becomes a pipe for the next program, and standard output too where both lead to
 * one place, as their order counts there. NULL: nothing is kept: standard error is a terminal, a
 * file of limited size or closed, or there is no room. */
static inline lg_shim_words *lg_shim_words_begin(void)
{
    struct stat error, output;
    int ends[2];
    if (fstat(STDERR_FILENO, &error) != 0 || isatty(STDERR_FILENO) || !lg_shim_has_room(STDERR_FILENO, SIZE_MAX / 2) || pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    lg_shim_words *words = (lg_shim_words *)mmap(NULL, sizeof *words, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED) {
        close(ends[0]);
        close(ends[1]);
        return NULL;
    }
    const int is_both = fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == error.st_dev && output.st_ino == error.st_ino;
    words->given = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, LG_SHIM_KEPT_FILE + 1);
    words->given_output = is_both ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, LG_SHIM_KEPT_FILE + 1) : -1;
    /* the child must not store its own result in the memory of both */
    const uint32_t parent = (uint32_t)getpid();
    const pid_t copier = words->given < 0 ? -1 : fork();
    if (copier == 0)
        lg_shim_words_serve(words, ends[0], parent);
    words->copier = copier;
    close(ends[0]);
    if (copier > 0) {
        dup2(ends[1], STDERR_FILENO);
        if (words->given_output >= 0)
            dup2(ends[1], STDOUT_FILENO);
    }
    close(ends[1]);
    if (copier > 0)
        return words;
    if (words->given >= 0)
        close(words->given);
    if (words->given_output >= 0)
        close(words->given_output);
    munmap(words, sizeof *words);
    return NULL;
}

/* The program has the pipe; this process has what it was given. */
static inline void lg_shim_words_handed_over(lg_shim_words *words)
{
    dup2(words->given, STDERR_FILENO);
    close(words->given);
    if (words->given_output < 0)
        return;
    dup2(words->given_output, STDOUT_FILENO);
    close(words->given_output);
}

/* The program has ended: wait until what it wrote was copied. A place that takes no bytes costs two
 * seconds. */
static inline void lg_shim_words_settle(lg_shim_words *words)
{
    const struct timespec most = { 2, 0 };
    if (atomic_load(&words->is_done)) /* the copier may be gone, and its number another's */
        return;
    const union sigval none = { 0 };
    sigqueue(words->copier, LG_SHIM_WORDS_QUESTION, none);
    syscall(SYS_futex, &words->is_done, FUTEX_WAIT, 0, &most, NULL, 0);
}

static inline uint64_t lg_shim_words_total(lg_shim_words *words)
{
    return atomic_load(&words->total);
}

static inline char lg_shim_words_byte(const lg_shim_words *words, uint64_t number)
{
    return words->bytes[number % LG_SHIM_WORDS_BYTES];
}

static inline void lg_shim_words_end(lg_shim_words *words)
{
    munmap(words, sizeof *words);
}
#endif

#endif
