/* Questions of a launch to its session. */
#include "launch/launch.h"
#include "os/os.h"
#include "store/text.h"

bool lg__host_unforked(const struct lg__host *host)
{
    return host->unforked && atomic_load_explicit(host->unforked, memory_order_relaxed);
}

void lg__host_log(const struct lg__host *host, lg_level level, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (!lg__host_unforked(host))
        return;
    va_start(arguments, format);
    size_t size = lg__text_format(text, sizeof text, format, arguments);
    va_end(arguments);
    lg__ring_note(&host->run.ring, level, text, size < sizeof text ? size : sizeof text);
}

void lg__host_hand_over(const struct lg__host *host)
{
    lg__outbox_hand_over(host->run.ring.outbox);
}

struct lg__moment lg__host_now(const struct lg__host *host)
{
    uint64_t passed = atomic_load(&host->passed_ns);
    struct lg__moment now = { .boottime_ns = lg__os_clock_ns(CLOCK_BOOTTIME) + passed, .wall_ns = lg__os_clock_ns(CLOCK_REALTIME) + passed };
    memcpy(now.boot_id, host->boot_id, sizeof now.boot_id);
    return now;
}
