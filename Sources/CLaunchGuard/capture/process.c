/* Stage 7: memory map, resource figures, stack memory. */
#include "capture/internal.h"
#include "os/fault_point.h"
#include "store/crc32c.h"

static struct lg__crash_process *process_block LG__SMALL;

static const struct lg__run *run(void)
{
    return &lg__fixed.options.run;
}

/* ---- the memory cgroup ---- */

/* Paths of this process's memory cgroup; "": none. */
static char cgroup_limit[512], cgroup_events[512];

static void join(char to[512], const char *mount, const char *group, size_t size, const char *name)
{
    size_t first = strlen(mount), last = strlen(name);
    to[0] = 0;
    if (first + size + last + 2 > 512)
        return;
    memcpy(to, mount, first);
    memcpy(to + first, group, size);
    to[first + size] = '/';
    memcpy(to + first + size + 1, name, last + 1);
}

static bool read_number(const char *path, lg_resource_id id)
{
    char text[64];
    return path[0] && lg__files_read(path, text, sizeof text) && lg__os_number(text, 10, &process_block->resources[id]);
}

/* Whether the group has the file with the memory in use. */
static bool take_cgroup(const char *mount, const char *group, size_t size, const char *current, const char *limit, const char *events)
{
    char path[512];
    join(cgroup_limit, mount, group, size, limit);
    join(cgroup_events, mount, group, size, events);
    join(path, mount, group, size, current);
    return read_number(path, LG_RESOURCE_CGROUP_MEMORY);
}

/* Lines "number:controllers:/group"; the one without controllers is of version 2 (cgroups(7)). */
static void find_cgroup(void)
{
    static const char version_1[] = ":memory";
    static char text[4096]; /* small alternate stacks need not have it; the crash lock guards it */
    if (lg__files_read("../cgroup", text, sizeof text) == 0)
        text[0] = 0;
    for (char *line = text, *end; *line; line = end + 1) {
        size_t left = strlen(line);
        end = memchr(line, '\n', left);
        end = end ? end : line + left;
        char *controllers = memchr(line, ':', (size_t)(end - line));
        char *group = controllers ? memchr(controllers + 1, ':', (size_t)(end - controllers - 1)) : NULL;
        if (group) {
            size_t size = (size_t)(end - group - 1);
            if (size == 1)
                size = 0; /* the root is mounted without its slash */
            bool second = group == controllers + 1;
            if (second && take_cgroup("/sys/fs/cgroup", group + 1, size, "memory.current", "memory.max", "memory.events"))
                return;
            if (!second && (size_t)(group - controllers) >= sizeof version_1 - 1 && memcmp(controllers, version_1, sizeof version_1 - 1) == 0 &&
                take_cgroup("/sys/fs/cgroup/memory", group + 1, size, "memory.usage_in_bytes", "memory.limit_in_bytes", "memory.oom_control"))
                return;
        }
        if (!*end)
            break;
    }
    cgroup_limit[0] = cgroup_events[0] = 0;
}

/* ---- the figures ---- */

/* "12.34" as 1234. */
static void read_hundredths(const char *text, lg_resource_id id)
{
    uint64_t whole, part = 0;
    if (!lg__os_number(text, 10, &whole))
        return;
    while (*text >= '0' && *text <= '9')
        text++;
    if (*text == '.')
        lg__os_number(text + 1, 10, &part); /* the kernel prints two digits */
    process_block->resources[id] = whole * 100 + part;
}

static void read_memory(void)
{
    char text[512];
    if (lg__files_read("/proc/pressure/memory", text, sizeof text)) {
        read_hundredths(lg__os_text_after(text, "some avg10="), LG_RESOURCE_PRESSURE_SOME);
        read_hundredths(lg__os_text_after(text, "full avg10="), LG_RESOURCE_PRESSURE_FULL);
    }
    find_cgroup();
    if (cgroup_limit[0] && lg__files_read(cgroup_limit, text, sizeof text)) {
        /* Version 2 says "max", version 1 a number that no memory has. */
        uint64_t *limit = &process_block->resources[LG_RESOURCE_CGROUP_LIMIT];
        if (!lg__os_number(text, 10, limit) || *limit > UINT64_MAX / 4)
            *limit = LG__RESOURCE_UNLIMITED;
    }
    if (cgroup_events[0] && lg__files_read(cgroup_events, text, sizeof text))
        lg__os_number(lg__os_text_after(text, "oom_kill "), 10, &process_block->resources[LG_RESOURCE_CGROUP_OOM_KILLS]);
}

static bool count_one(uint32_t number, void *argument)
{
    (void)number;
    ++*(uint64_t *)argument;
    return true;
}

static void count_descriptors(void)
{
    uint64_t *to = &process_block->resources[LG_RESOURCE_DESCRIPTORS];
    uint64_t descriptors = lg__files_size("../fd"); /* the number of entries, since Linux 6.2 */
    int directory;
    if (descriptors) {
        *to = descriptors;
    } else if ((directory = lg__files_open("../fd")) >= 0) {
        lg__os_list_numbers(directory, count_one, &descriptors);
        lg__os_close(directory);
        if (descriptors)
            *to = descriptors - 1; /* without that of the directory itself */
    }
}

static void read_status(void)
{
    char text[LG__FILES_STATUS_BYTES];
    uint64_t *to = process_block->resources, kilobytes;
    if (lg__files_read("../status", text, sizeof text) == 0)
        return;
    lg__os_number(lg__os_text_after(text, "TracerPid"), 10, &to[LG_RESOURCE_TRACER]);
    lg__os_number(lg__os_text_after(text, "Threads"), 10, &to[LG_RESOURCE_THREADS]);
    if (lg__os_number(lg__os_text_after(text, "VmSize"), 10, &kilobytes))
        to[LG_RESOURCE_VIRTUAL] = kilobytes * 1024;
    if (lg__os_number(lg__os_text_after(text, "VmRSS"), 10, &kilobytes))
        to[LG_RESOURCE_RESIDENT] = kilobytes * 1024;
    /* The kernel counts the peak more rarely. */
    if (to[LG_RESOURCE_RESIDENT] != UINT64_MAX && to[LG_RESOURCE_RESIDENT_PEAK] != UINT64_MAX && to[LG_RESOURCE_RESIDENT_PEAK] < to[LG_RESOURCE_RESIDENT])
        to[LG_RESOURCE_RESIDENT_PEAK] = to[LG_RESOURCE_RESIDENT];
}

static void read_figures(void)
{
    struct lg__os_figures figures;
    uint64_t *to = process_block->resources;
    lg__os_figures(&figures);
    to[LG_RESOURCE_RESIDENT_PEAK] = figures.resident_peak;
    to[LG_RESOURCE_CPU_USER] = figures.user_ns;
    to[LG_RESOURCE_CPU_SYSTEM] = figures.system_ns;
    to[LG_RESOURCE_FAULTS_MINOR] = figures.faults_minor;
    to[LG_RESOURCE_FAULTS_MAJOR] = figures.faults_major;
    to[LG_RESOURCE_VIRTUAL_LIMIT] = figures.virtual_limit;
    to[LG_RESOURCE_DATA_LIMIT] = figures.data_limit;
    to[LG_RESOURCE_STACK_LIMIT] = figures.stack_limit;
    to[LG_RESOURCE_DESCRIPTOR_LIMIT] = figures.descriptor_limit;
    to[LG_RESOURCE_CPU_LIMIT] = figures.cpu_limit;
    to[LG_RESOURCE_MEMORY_TOTAL] = figures.memory_total;
    to[LG_RESOURCE_MEMORY_FREE] = figures.memory_free;
    to[LG_RESOURCE_SWAP_TOTAL] = figures.swap_total;
    to[LG_RESOURCE_SWAP_FREE] = figures.swap_free;
    to[LG_RESOURCE_LOAD] = figures.load;
    to[LG_RESOURCE_UPTIME] = figures.uptime;
}

static void read_map(void)
{
    int file = lg__files_open_map();
    if (file < 0)
        return;
    long count;
    while (process_block->map_size < LG__MAP_BYTES && (count = lg__os_read(file, process_block->map + process_block->map_size, LG__MAP_BYTES - process_block->map_size)) > 0)
        process_block->map_size += (uint32_t)count;
    char more;
    process_block->map_cut = process_block->map_size == LG__MAP_BYTES && lg__os_read(file, &more, 1) == 1;
    lg__os_close(file);
}

/* ---- stack memory ---- */

static uint32_t stacks_used LG__SMALL;

static struct lg__chunk *chunk_at(uint32_t at)
{
    return (struct lg__chunk *)(void *)(run()->stacks + at);
}

/* Store up to `room` bytes of a stack from sp up, header included. */
static void store_stack(int32_t tid, uint64_t sp, uint64_t high, uint32_t room)
{
    uint32_t at = stacks_used, left = run()->stack_bytes - at;
    room = (room < left ? room : left) & ~(LG__CHUNK_ALIGN - 1);
    if (room <= sizeof(struct lg__chunk) || sp < LG__RED_ZONE)
        return;
    struct lg__chunk *chunk = chunk_at(at);
    uint64_t start = (sp - LG__RED_ZONE) & ~UINT64_C(15);
    size_t wanted = high > start ? (size_t)(high - start) : SIZE_MAX, most = room - sizeof *chunk;
    uint8_t *memory = (uint8_t *)(chunk + 1);
    size_t size = lg__memory_read(memory, start, wanted < most ? wanted : most);
    if (size == 0)
        return;
    chunk->start = start;
    chunk->size = (uint32_t)size;
    chunk->tid = tid;
    chunk->reserved = 0;
    stacks_used = at + ((uint32_t)(sizeof *chunk + size + LG__CHUNK_ALIGN - 1) & ~(LG__CHUNK_ALIGN - 1));
    /* the list ends here, whatever an earlier crash left */
    if (stacks_used + sizeof *chunk <= run()->stack_bytes)
        atomic_store_explicit(&chunk_at(stacks_used)->commit, 0, memory_order_relaxed);
    chunk->crc = lg__crc32c(0, &chunk->start, sizeof *chunk - offsetof(struct lg__chunk, start) + size);
    atomic_store_explicit(&chunk->commit, LG__COMMIT_CHUNK, memory_order_release);
    process_block->stacks++;
    if (size == most && wanted > most)
        process_block->stacks_cut++;
}

/* A slot of this crash, with a stack. A slot that an earlier crash left is not committed any
 * more. */
static bool is_there(const struct lg__thread *slot)
{
    /* in this order: a late answer may be under way */
    return atomic_load(&slot->commit) && slot->sp;
}

/* The lowest address of a thread's own stack that the first chunk holds; 0: none. */
static uint64_t lowest_pointer(uint64_t low, uint64_t high)
{
    const struct lg__chunk *chunk = chunk_at(0);
    uint64_t found = 0, word;
    for (uint32_t at = 0; stacks_used && at + sizeof word <= chunk->size; at += sizeof word) {
        memcpy(&word, (const uint8_t *)(chunk + 1) + at, sizeof word);
        if (word > low && word < high && (!found || word < found))
            found = word;
    }
    return found;
}

/* The stack of the crash. Where that is the alternate stack, of a signal handler of the program,
 * the callers go on in the thread's own: the registers that the kernel saved say how deep. */
static void store_crashed(const void *ucontext, const struct lg__crash_header *header, uint32_t room)
{
    const stack_t *altstack = &((const ucontext_t *)ucontext)->uc_stack;
    const uint64_t sp = header->sp, alternate = (uint64_t)(uintptr_t)altstack->ss_sp;
    if (!header->stack_high || sp - alternate >= altstack->ss_size) {
        store_stack(header->tid, sp, header->stack_high, room);
        return;
    }
    store_stack(header->tid, sp, alternate + altstack->ss_size, room - room / 4);
    const uint64_t own = lowest_pointer(header->stack_low, header->stack_high);
    if (own)
        store_stack(header->tid, own, header->stack_high, room - stacks_used);
}

static void store_stacks(const void *ucontext)
{
    const struct lg__crash_header *header = lg__run_stage(run(), 0, LG_STAGE_HEADER);
    uint32_t others = 0;
    stacks_used = 0;
    for (uint32_t i = 0; i < lg__other_threads_count(); i++)
        others += is_there(&run()->slots[i]);
    store_crashed(ucontext, header, others ? run()->stack_bytes / 4 : run()->stack_bytes);
    for (uint32_t i = 0; i < lg__other_threads_count(); i++) {
        const struct lg__thread *slot = &run()->slots[i];
        if (is_there(slot))
            store_stack(slot->tid, slot->sp, slot->stack_high, (run()->stack_bytes - stacks_used) / others--);
    }
}

/* ---- the stage ---- */

void lg__process_stage(const void *ucontext)
{
    uint32_t leave_out = lg__fixed.options.leave_out;
    process_block = lg__run_stage(run(), 0, LG_STAGE_PROCESS);
    memset(process_block, 0, offsetof(struct lg__crash_process, map));
    memset(process_block->resources, 0xff, sizeof process_block->resources);
    if (!(leave_out & LG_LEAVE_OUT_STACKS))
        store_stacks(ucontext);
    if (!(leave_out & LG_LEAVE_OUT_PROCESS)) {
        read_figures();
        count_descriptors();
        read_status();
        read_memory();
        LG_FAULT_POINT("process: before map");
        read_map();
    }
    lg__process_commit();
}

void lg__process_commit(void)
{
    if (process_block && !lg__run_is_committed(run(), 0, LG_STAGE_PROCESS) && process_block->map_size <= LG__MAP_BYTES)
        lg__run_commit(run(), 0, LG_STAGE_PROCESS, offsetof(struct lg__crash_process, map) + process_block->map_size);
}
