#include "capture/repeating.h"

#include "os/os.h"

LG__NOT_INSTRUMENTED_BEGIN

/* A thread that steps on takes longer between two faults than this, as a rule. One that does not
 * need only the way out of the handler and in again, of some microseconds. */
#define AT_ONCE_NS UINT64_C(50000)
/* Fewer may be a handler that needs several tries. */
#define REPEATS_LEAST 32u
/* Of the top of the stack: a loop without optimization has its variables there. And below it, where
 * the last calls left some: no signal's frame lies in the red zone. */
#define STACK_WORDS 32u
#define BELOW (lg__arch == LG__ARCH_X86_64 ? LG__RED_ZONE : 0u)
/* A launch is not finished while the last repeat is younger. */
#define FRESH_NS UINT64_C(1000000000)

/* The last fault of this thread. Initial-exec: exists with the thread. */
static __thread struct {
    uint64_t place;    /* of registers and address; 0: none */
    uint64_t top;      /* of the top of the stack; 0: not known, or the place was new */
    uint64_t seen_ns;  /* of the last repeat */
    uint64_t spent_ns; /* in repeats */
    uint64_t left_ns;  /* when the handler returned; 0: it did not */
    uint32_t repeats;
    bool over;         /* the process ends */
} last __attribute__((tls_model("initial-exec")));

static _Atomic uint64_t repeated_ns; /* of the last repeat of any thread; 0: none */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return ((hash ^ value) * UINT64_C(0x9e3779b97f4a7c15)) | 1; /* 2^64 / golden ratio */
}

static uint64_t place_of(const siginfo_t *info, const void *ucontext)
{
    uint64_t registers[LG__REGISTERS_MAX];
    const uint32_t count = lg__arch_registers(ucontext, registers);
    uint64_t hash = mix((uint64_t)info->si_signo, (uint64_t)(uintptr_t)info->si_addr);
    for (uint32_t i = 0; i < count; i++)
        hash = mix(hash, registers[i]);
    return hash;
}

/* A stack that has overflowed is not readable here. 0: the system refuses to say whether it is, and
 * without it a loop may look like a fault that repeats. */
static uint64_t top_of(uint64_t sp)
{
    const uint32_t words = STACK_WORDS + BELOW / sizeof(uint64_t);
    const uint64_t *top = (const uint64_t *)(uintptr_t)((sp & ~UINT64_C(7)) - BELOW);
    const int first = lg__os_readable((uint64_t)(uintptr_t)top), last_word = lg__os_readable((uint64_t)(uintptr_t)(top + words));
    uint64_t hash = 1;
    if (first < 0 || last_word < 0)
        return 0;
    if (!first || !last_word)
        return hash;
    for (uint32_t i = 0; i < words; i++)
        hash = mix(hash, top[i]);
    return hash;
}

/* The fault is that of before. */
static bool is_same(const siginfo_t *info, const void *ucontext)
{
    const uint64_t place = place_of(info, ucontext), top = place == last.place ? top_of(lg__arch_interrupted_sp(ucontext)) : 0;
    const bool same = top && top == last.top;
    last.place = place;
    last.top = top;
    return same;
}

bool lg__repeating_comes(const siginfo_t *info, const void *ucontext)
{
    const uint64_t left_ns = last.left_ns;
    last.left_ns = 0;
    if (!is_same(info, ucontext)) {
        last.repeats = 0;
        last.over = false;
        return false;
    }
    const uint64_t now = lg__os_clock_ns(CLOCK_MONOTONIC), time_ns = (uint64_t)lg__fixed.options.deadline_ms * 1000000u;
    if (last.over || !left_ns || now - left_ns > AT_ONCE_NS)
        return last.over;
    /* a process that was stopped meanwhile has not repeated for so long */
    const uint64_t took = now - last.seen_ns, most = time_ns / REPEATS_LEAST;
    last.spent_ns = last.repeats ? last.spent_ns + (took < most ? took : most) : 0;
    last.seen_ns = now;
    if (last.repeats < REPEATS_LEAST)
        last.repeats++;
    if (last.repeats < REPEATS_LEAST)
        return false;
    atomic_store(&repeated_ns, now);
    last.over = !lg__fixed.options.keep_repeats && last.spent_ns >= time_ns;
    return last.over;
}

void lg__repeating_returns(void)
{
    if (last.top)
        last.left_ns = lg__os_clock_ns(CLOCK_MONOTONIC);
}

bool lg__capture_repeats(void)
{
    const uint64_t repeated = atomic_load(&repeated_ns);
    return repeated && lg__os_clock_ns(CLOCK_MONOTONIC) - repeated < FRESH_NS;
}

LG__NOT_INSTRUMENTED_END
