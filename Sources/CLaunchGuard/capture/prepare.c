/* All that the handler needs and must not make itself: handlers and owner page at the start, then
 * the module table and the place of the loader's list. */
#include <sys/mman.h>

#include "capture/internal.h"
#include "os/fault_point.h"

/* Room for parts that may grow large: as much as a small program needs. */
#define MAP_TOUCHED_BYTES 6144u
#define STACK_TOUCHED_BYTES 4096u /* the least that an option gives it */

/* The pages of the record, so that the handler does not wait for the file system to give them one
 * by one. */
static void touch_record(void)
{
    const struct lg__run *run = &lg__fixed.options.run;
    lg__map_read_ahead(&run->map);
    lg__memory_touch(lg__run_stage(run, 0, LG_STAGE_HEADER), sizeof(struct lg__crash_header));
    lg__memory_touch(lg__run_stage(run, 0, LG_STAGE_CONTEXT), sizeof(struct lg__crash_context));
    lg__memory_touch(lg__run_stage(run, 0, LG_STAGE_FRAMES), sizeof(struct lg__crash_frames));
    lg__memory_touch(lg__run_stage(run, 0, LG_STAGE_DWARF), sizeof(struct lg__crash_frames));
    lg__memory_touch(lg__run_stage(run, 0, LG_STAGE_DONE), sizeof(struct lg__crash_done));
    lg__memory_touch(lg__run_stage(run, 0, LG_STAGE_MESSAGES), sizeof(struct lg__crash_messages));
    if (!(lg__fixed.options.leave_out & LG_LEAVE_OUT_PROCESS))
        lg__memory_touch(lg__run_stage(run, 0, LG_STAGE_PROCESS), offsetof(struct lg__crash_process, map) + MAP_TOUCHED_BYTES);
    if (run->stack_bytes)
        lg__memory_touch(run->stacks, STACK_TOUCHED_BYTES);
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

bool lg__capture_start(const struct lg__capture_options *options)
{
    lg__fixed.options = *options;
    lg__fixed.on_crash = lg__handler_crash;
    lg__fixed.on_terminate = lg__handler_terminate;
    lg__fixed.pid = lg__os_pid();
    if (!lg__fixed.unforked && !make_owner_page())
        return false;
    lg__os_bind();
    lg__files_prepare();
    lg__messages_prepare();
    if (!lg__install_all())
        return false;
    lg__disposition_check_thread();
    return true;
}

void lg__capture_prepare(void)
{
    LG_FAULT_POINT("prepare: begins");
    lg__loader_prepare();
    lg__modules_refresh();
    lg__process_prepare();
    touch_record();
    lg__memory_prepare();
    lg__unwind_dwarf_prepare();
    lg__unwind_libunwind_prepare();
    LG_FAULT_POINT("prepare: done");
    lg__fixed_prepared();
}

void lg__capture_refresh_modules(void)
{
    lg__modules_refresh();
}
