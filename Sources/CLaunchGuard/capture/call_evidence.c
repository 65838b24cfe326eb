/* A call of the program is evidence about the thread that makes it. */
#include "capture/deadline.h"
#include "capture/internal.h"
#include "capture/in_handler.h"
#include "capture/recovering.h"

/* The place of the calling thread. A stack pointer above our handler's frame shows that the frame
 * is gone; below the frame may run the earlier handler or deeper code of the program. In a forked
 * child the crash may be that of another thread, and the child's stack may end where the alternate
 * stack of that thread begins. */
static enum lg__in_handler place_of_caller(const struct lg__crash *crash)
{
    uint64_t sp = (uint64_t)(uintptr_t)__builtin_frame_address(0), low, high;
    lg__altstack_bounds(&low, &high);
    if (crash->altstack_low && sp >= low && sp < high)
        return LG__IN_HANDLER_NO;
    enum lg__in_handler place = lg__in_handler_by_stack(crash, sp);
    return place == LG__IN_HANDLER_UNKNOWN && sp > crash->handler_sp ? LG__IN_HANDLER_NO : place;
}

void lg__capture_called(void)
{
    int32_t self = 0;
    for (int i = 0; i < LG__CRASHES; i++) {
        struct lg__crash *crash = &lg__crash_slots[i];
        uint64_t word = atomic_load(&crash->word);
        if (lg__crash_state(word) != LG__CRASH_CHAINED)
            continue;
        self = self ? self : lg__os_tid();
        if (crash->tid == self && place_of_caller(crash) == LG__IN_HANDLER_NO)
            lg__crash_event(crash, lg__crash_sequence(word), LG__CRASH_OUTSIDE, lg__crash_action_is_default(crash->info.si_signo));
    }
}

bool lg__capture_is_inside(void)
{
    for (int i = 0; i < LG__CRASHES; i++) {
        const struct lg__crash *crash = &lg__crash_slots[i];
        if (lg__crash_state(atomic_load(&crash->word)) == LG__CRASH_CHAINED && place_of_caller(crash) != LG__IN_HANDLER_NO)
            return true;
    }
    return lg__crash_entered || lg__recovering_is_inside((uint64_t)(uintptr_t)__builtin_frame_address(0));
}

bool lg__capture_exits(void)
{
    bool open = false;
    const int32_t self = lg__capture_is_confined() ? 0 : lg__os_tid();
    lg__recovering_ends((uint64_t)(uintptr_t)__builtin_frame_address(0));
    for (int i = 0; i < LG__CRASHES; i++) {
        struct lg__crash *crash = &lg__crash_slots[i];
        uint64_t word = atomic_load(&crash->word);
        if (!lg__crash_next_is_open(lg__crash_state(word)))
            continue;
        enum lg__in_handler place = crash->tid != self                         ? LG__IN_HANDLER_UNKNOWN
                                    : lg__crash_state(word) == LG__CRASH_LEFT ? LG__IN_HANDLER_NO
                                                                              : place_of_caller(crash);
        if (place == LG__IN_HANDLER_YES)
            return false;
        if (place == LG__IN_HANDLER_NO)
            lg__crash_event(crash, lg__crash_sequence(word), LG__CRASH_EXITS, false);
        else
            open = true;
    }
    if (open)
        lg__deadline_exits();
    for (int i = 0; i < LG__CRASHES; i++)
        if (lg__crash_state(atomic_load(&lg__crash_slots[i].word)) == LG__CRASH_CHAINED && lg__crash_slots[i].tid == self)
            return false;
    return true;
}

void lg__capture_ends_at_once(int status)
{
    if (!lg__fixed.on_crash || !lg__fixed_unforked())
        return;
    lg__recovering_ends((uint64_t)(uintptr_t)__builtin_frame_address(0));
    if (lg__fixed.options.leaves)
        lg__fixed.options.leaves(status);
}
