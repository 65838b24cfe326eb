/* All that the handler needs and must not make itself. */
#include <sys/mman.h>

#include "capture/crash.h"
#include "capture/deadline.h"
#include "capture/internal.h"
#include "capture/question.h"
#include "capture/watch_thread.h"

/* The pages of the first stages, so that the handler does not wait for the file system to give
 * them. The later stages wait: each page costs a start as much as it costs a crash. */
static void touch_record(void)
{
    const struct lg__run *run = &lg__fixed.options.run;
    lg__memory_touch(lg__run_stage(run, 0, LG_STAGE_HEADER), sizeof(struct lg__crash_header));
    lg__memory_touch(lg__run_stage(run, 0, LG_STAGE_CONTEXT), sizeof(struct lg__crash_context));
    lg__memory_touch(lg__run_stage(run, 0, LG_STAGE_FRAMES), offsetof(struct lg__crash_frames, functions));
}

/* A page that reads 1 here and 0 in a forked child. */
static bool make_owner_page(void)
{
    void *page = mmap(NULL, LG__PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    lg__os_wipe_on_fork(page, LG__PAGE); /* an old kernel: only the pid identifies the owner */
    atomic_store((_Atomic uint32_t *)page, 1);
    lg__fixed.unforked = page;
    return true;
}

bool lg__capture_forget(void)
{
    if (lg__capture_is_inside())
        return false;
    lg__crash_forget();
    lg__deadline_forget();
    lg__files_forget();
    lg__loader_forget();
    lg__question_forget();
    lg__watch_thread_forget();
    return true;
}

bool lg__capture_start(const struct lg__capture_options *options)
{
    lg__fixed.options = *options;
    lg__fixed.options.keep_first = options->keep_first && !options->none && lg__libc_is_interposed();
    lg__fixed.on_crash = lg__handler_crash;
    lg__fixed.on_terminate = lg__handler_terminate;
    lg__fixed.on_deadline = lg__record_deadline;
    lg__fixed.pid = options->run.identity->pid;
    if (!lg__fixed.unforked && !make_owner_page())
        return false;
    lg__os_bind();
    lg__altstack_prepare();
    lg__altstack_ensure();
    lg__watch_thread_prepare(); /* without it only the deadline of an earlier handler is missing */
    lg__files_prepare();
    lg__modules_prepare(lg__fixed.options.run.modules);
    touch_record();
    /* the last step: from here on the child is one that crashes are recorded of */
    if (options->forked)
        atomic_store((_Atomic uint32_t *)(uintptr_t)lg__fixed.unforked, 1);
    if (options->forked && lg__fixed.pid == 1)
        lg__install_as_first();
    if (options->none || options->forked)
        return true;
    lg__messages_prepare();
    if (!lg__install_all())
        return false;
    lg__mask_open();
    return true;
}

bool lg__capture_spare_walk(void)
{
    return lg__unwind_libunwind_prepare();
}

bool lg__capture_keeps_first(void)
{
    return lg__libc_is_interposed();
}

static bool is_recorded(void)
{
    return lg__crash_holder() != 0;
}

void lg__capture_refresh_modules(void)
{
    lg__modules_refresh(is_recorded);
}
