/* Identity, state and contexts of a run file. */
#include <stdlib.h>

#include "os/fault_point.h"
#include "read/reader.h"
#include "store/crc32c.h"
#include "store/run.h"

lg_status lg__reader_identity(const lg_reader *reader, struct lg__identity *ret_identity)
{
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    struct lg__identity identity;
    if (!lg__reader_block(reader, LG__SECTION_IDENTITY, 0, &identity, sizeof identity) ||
        identity.crc != lg__crc32c(0, &identity, offsetof(struct lg__identity, crc)) ||
        identity.build_id_size > LG__BUILD_ID_BYTES)
        return LG_ERR_DAMAGED;
    *ret_identity = identity;
    return LG_OK;
}

static bool process_alive(lg_reader *reader, const struct lg__identity *identity)
{
    if (reader->is_gone && memcmp(reader->gone, identity->uuid, sizeof reader->gone) == 0)
        return false;
    uint8_t boot_id[LG__UUID_BYTES];
    uint64_t start_ticks;
    pid_t pid = identity->proc_pid ? identity->proc_pid : identity->pid;
    LG_FAULT_POINT("reader: process");
    if (lg__os_boot_id(boot_id) && memcmp(boot_id, identity->boot_id, sizeof boot_id) == 0 && pid > 0 &&
        lg__os_start_ticks(pid, &start_ticks) && start_ticks == identity->start_ticks)
        return true;
    reader->is_gone = true;
    memcpy(reader->gone, identity->uuid, sizeof reader->gone);
    return false;
}

bool lg__reader_alive(lg_reader *reader)
{
    struct lg__identity identity;
    return lg__reader_identity(reader, &identity) == LG_OK && process_alive(reader, &identity);
}

/* A part of the state: all of its fields, or one context. */
static bool read_state(const lg_reader *reader, uint64_t at, void *to, size_t size)
{
    struct lg__section section;
    return lg__reader_section(reader, LG__SECTION_STATE, &section) && section.size >= sizeof(struct lg__state) &&
           lg__reader_stable(reader, LG__SECTION_STATE, at, to, size);
}

lg_status lg_reader_run(lg_reader *reader, lg_run_info *ret_info)
{
    if (!reader || !ret_info)
        return LG_ERR_ARGUMENT;
    struct lg__identity identity;
    struct lg__state state;
    lg_status status = lg__reader_identity(reader, &identity);
    if (status != LG_OK)
        return status;
    /* Ask first: a process that ends after this has left all its marks when they are read. */
    bool alive = process_alive(reader, &identity);
    if (!read_state(reader, 0, &state, offsetof(struct lg__state, contexts)))
        return LG_ERR_DAMAGED;
    lg_run_info info;
    memset(&info, 0, sizeof info);
    lg__run_uuid_text(identity.uuid, info.uuid);
    lg__run_uuid_text(identity.boot_id, info.boot_id);
    lg__reader_text(info.app_id, sizeof info.app_id, identity.app_id, sizeof identity.app_id);
    lg__reader_text(info.app_version, sizeof info.app_version, identity.app_version, sizeof identity.app_version);
    lg__reader_text(info.executable, sizeof info.executable, identity.executable, sizeof identity.executable);
    lg__reader_hex(info.build_id, identity.build_id, identity.build_id_size);
    info.ordinal = identity.ordinal;
    info.wall_ns = identity.wall_ns;
    info.monotonic_ns = identity.monotonic_ns;
    info.start_ticks = identity.start_ticks;
    info.pid = identity.pid;
    info.uid = identity.uid;
    uint32_t started = atomic_load(&state.started);
    info.secondary = identity.secondary && started != LG__STARTED_TOOK_OVER;
    info.started = started == LG__STARTED || started == LG__STARTED_TOOK_OVER;
    info.alive = alive;
    info.exit_marked = atomic_load(&state.ended) == LG__ENDED_EXIT;
    info.stop_marked = atomic_load(&state.ended) == LG__ENDED_STOP;
    info.exec_marked = atomic_load(&state.ended) == LG__ENDED_EXEC;
    info.exit_code = atomic_load(&state.exit_code);
    info.end_ns = atomic_load(&state.ended_ns);
    info.term_signal = atomic_load(&state.term_signal);
    info.term_pid = atomic_load(&state.term_pid);
    info.term_uid = atomic_load(&state.term_uid);
    info.term_ns = atomic_load(&state.term_ns);
    info.healed_pages = atomic_load(&state.healed_pages);
    info.boottime_ns = identity.boottime_ns;
    uint32_t announced = atomic_load(&state.announced);
    if (announced == LG__ANNOUNCED_TERMINATION || announced == LG__ANNOUNCED_RESTART) {
        info.end_announced = announced;
        info.announced_ns = atomic_load(&state.announced_ns);
    }
    if (atomic_load(&state.witnessed) == 1) {
        info.witnessed = 1;
        info.wait_status = atomic_load(&state.witness_status);
        info.witnessed_ns = atomic_load(&state.witnessed_ns);
    }
    if (atomic_load(&state.oom_known) == 1) {
        info.oom_known = 1;
        info.oom_kills = atomic_load(&state.oom_kills);
        info.oom_cgroup = atomic_load(&state.oom_cgroup);
    }
    info.hang_ns = atomic_load(&state.hang_ns);
    info.hung_alive_ns = atomic_load(&state.hung_alive_ns);
    info.term_kept = atomic_load(&state.term_kept) == 1;
    info.term_alive_ns = atomic_load(&state.term_alive_ns);
    info.cpu_near_ns = atomic_load(&state.cpu_near_ns);
    if (info.cpu_near_ns) {
        info.cpu_used_ns = atomic_load(&state.cpu_used_ns);
        info.cpu_limit_s = atomic_load(&state.cpu_limit_s);
    }
    info.memory_near_ns = atomic_load(&state.memory_near_ns);
    if (info.memory_near_ns) {
        info.memory_used = atomic_load(&state.memory_used);
        info.memory_limit = atomic_load(&state.memory_limit);
        info.memory_own = atomic_load(&state.memory_own);
    }
    info.forked_ns = atomic_load(&state.forked_ns);
    info.crash_noted_ns = atomic_load(&state.crash_noted_ns);
    if (info.crash_noted_ns)
        lg__reader_text(info.crash_type, sizeof info.crash_type, state.crash_type, sizeof state.crash_type);
    info.attached = atomic_load(&state.attached) == 1;
    uint32_t reported = atomic_load(&state.reported);
    const uint32_t kind = reported & LG__REPORTED_KIND, from_own = (reported >> LG__REPORTED_SHIFT) - (uint32_t)info.ordinal;
    info.reported = kind <= LG_REPORTED_DEAD ? (lg_reported)kind : LG_REPORTED_NOT;
    if (kind == LG_REPORTED_COUNTED) /* of the numbers with these bits the nearest to its own */
        info.counted_in = info.ordinal + (uint64_t)(int64_t)((int32_t)(from_own << LG__REPORTED_SHIFT) >> LG__REPORTED_SHIFT);
    uint32_t contexts = atomic_load(&state.context_count);
    info.context_count = contexts <= LG__CONTEXTS ? contexts : LG__CONTEXTS;
    *ret_info = info;
    return LG_OK;
}

lg_status lg__reader_owner(const lg_reader *reader, uint32_t index, struct lg__owner *ret_owner)
{
    struct lg__owner owner;
    if (!lg__reader_stable(reader, LG__SECTION_OWNERS, index * (uint64_t)sizeof owner, &owner, sizeof owner))
        return LG_ERR_DAMAGED;
    /* Where the list ends: an empty name, within the array. */
    size_t at = 0;
    while (at < sizeof owner.modules && owner.modules[at])
        at += strnlen(owner.modules + at, sizeof owner.modules - at) + 1;
    if (at >= sizeof owner.modules)
        return LG_ERR_DAMAGED;
    memset(owner.modules + at, 0, sizeof owner.modules - at);
    *ret_owner = owner;
    return LG_OK;
}

lg_status lg_reader_run_context(lg_reader *reader, uint32_t index, lg_run_context *ret_context)
{
    if (!reader || !ret_context)
        return LG_ERR_ARGUMENT;
    if (reader->kind != LG_FILE_RUN)
        return LG_ERR_STATE;
    uint32_t count;
    struct lg__state_context context_now, *stored = &context_now;
    if (!read_state(reader, offsetof(struct lg__state, context_count), &count, sizeof count))
        return LG_ERR_DAMAGED;
    if (index >= LG__CONTEXTS || index >= count)
        return LG_ERR_NOT_FOUND;
    if (!read_state(reader, offsetof(struct lg__state, contexts) + index * sizeof *stored, stored, sizeof *stored))
        return LG_ERR_DAMAGED;
    uint32_t phase = atomic_load(&stored->phase), finish = atomic_load(&stored->finish);
    if (atomic_load(&stored->used) != 1 || phase > LG_PHASE_TERMINATING || finish > LG_FINISH_BOTH)
        return LG_ERR_DAMAGED;
    lg_run_context context;
    memset(&context, 0, sizeof context);
    lg__reader_text(context.name, sizeof context.name, stored->name, sizeof stored->name);
    context.phase = lg__run_is_finished(stored) ? LG_PHASE_FINISHED : (lg_phase)phase;
    context.finish = (lg_finish)finish;
    context.begun_ns = atomic_load(&stored->begun_ns);
    context.launching_ns = atomic_load(&stored->launching_ns);
    context.finished_ns = atomic_load(&stored->finished_ns);
    context.window_ms = atomic_load(&stored->window_ms);
    context.rung = atomic_load(&stored->rung);
    context.attempt = atomic_load(&stored->attempt);
    context.repaired = atomic_load(&stored->repaired) == 1;
    context.marked = atomic_load(&stored->marked) == 1;
    if (atomic_load(&stored->task_set) == 1)
        lg__reader_text(context.task, sizeof context.task, stored->task, sizeof stored->task);
    struct lg__owner owner;
    if (lg__reader_owner(reader, index, &owner) == LG_OK) {
        context.task_tid = atomic_load(&owner.task_tid);
        memcpy(context.modules, owner.modules, sizeof context.modules);
    }
    *ret_context = context;
    return LG_OK;
}

/* The part of a table before its entries. */
struct table_head {
    uint32_t commit, generation, count, text_size, omitted, crc;
    uint64_t reserved;
};
static_assert(sizeof(struct table_head) == offsetof(struct lg__module_table, entries), "the part before the entries");

static lg_status read_table_head(const lg_reader *reader, uint32_t which, struct table_head *head)
{
    struct lg__section section;
    const uint64_t at = which * (uint64_t)sizeof(struct lg__module_table);
    if (!lg__reader_has_section(reader, LG__SECTION_MODULES))
        return LG_ERR_NOT_FOUND; /* there was no room for it */
    if (!lg__reader_section(reader, LG__SECTION_MODULES, &section) || section.size < at + sizeof(struct lg__module_table) ||
        !lg__reader_block(reader, LG__SECTION_MODULES, at, head, sizeof *head))
        return LG_ERR_DAMAGED;
    if (head->commit == 0)
        return LG_ERR_INCOMPLETE;
    return head->commit == LG__COMMIT_MODULES && head->count <= LG__MODULES_MAX && head->text_size <= LG__MODULES_TEXT_BYTES ? LG_OK : LG_ERR_DAMAGED;
}

/* The table with a head, checked, in `reader->modules`; read only if another one is in there. */
static lg_status read_table(lg_reader *reader, uint32_t which, const struct table_head *head)
{
    if (reader->modules && memcmp(reader->modules, head, sizeof *head) == 0)
        return LG_OK;
    if (!reader->modules && !(reader->modules = calloc(1, sizeof *reader->modules)))
        return LG_ERR_SYSTEM;
    struct lg__module_table *table = reader->modules;
    const uint64_t at = which * (uint64_t)sizeof *table;
    const size_t entries = head->count * sizeof table->entries[0];
    atomic_store(&table->commit, 0); /* equal to no head that is asked for */
    if (!lg__reader_block(reader, LG__SECTION_MODULES, at + offsetof(struct lg__module_table, entries), table->entries, entries) ||
        !lg__reader_block(reader, LG__SECTION_MODULES, at + offsetof(struct lg__module_table, text), table->text, head->text_size))
        return LG_ERR_DAMAGED;
    uint32_t crc = lg__crc32c(0, &head->generation, 4 * sizeof(uint32_t));
    crc = lg__crc32c(crc, table->entries, entries);
    LG_FAULT_POINT("reader: table");
    struct table_head after;
    if (read_table_head(reader, which, &after) != LG_OK || memcmp(&after, head, sizeof after) != 0)
        return LG_ERR_INCOMPLETE; /* a later table is being written there */
    if (head->crc != lg__crc32c(crc, table->text, head->text_size))
        return LG_ERR_DAMAGED;
    memcpy(table, head, sizeof *head);
    return LG_OK;
}

/* The newer one of the whole tables. */
static lg_status read_modules(lg_reader *reader)
{
    struct table_head heads[2];
    lg_status status[2] = { read_table_head(reader, 0, &heads[0]), read_table_head(reader, 1, &heads[1]) };
    const uint32_t newer = status[1] == LG_OK && (status[0] != LG_OK || heads[1].generation > heads[0].generation);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t which = i == 0 ? newer : !newer;
        if (status[which] == LG_OK)
            status[which] = read_table(reader, which, &heads[which]);
        if (status[which] == LG_OK || status[which] == LG_ERR_SYSTEM)
            return status[which];
    }
    return status[0] == LG_ERR_DAMAGED ? status[0] : status[1];
}

static lg_status modules_of(lg_reader *reader, const void *ret)
{
    return !reader || !ret ? LG_ERR_ARGUMENT : reader->kind != LG_FILE_RUN ? LG_ERR_STATE : read_modules(reader);
}

lg_status lg_reader_modules_omitted(lg_reader *reader, uint32_t *ret_count)
{
    lg_status status = modules_of(reader, ret_count);
    if (status == LG_OK)
        *ret_count = reader->modules->omitted;
    return status;
}

lg_status lg_reader_module(lg_reader *reader, uint32_t index, lg_module *ret_module)
{
    lg_status status = modules_of(reader, ret_module);
    if (status != LG_OK)
        return status;
    const struct lg__module_table *table = reader->modules;
    if (index >= table->count)
        return LG_ERR_NOT_FOUND;
    const struct lg__module_entry *entry = &table->entries[index];
    if (entry->path_offset > table->text_size || entry->path_size > table->text_size - entry->path_offset ||
        entry->build_id_size > LG__BUILD_ID_BYTES || entry->start > entry->end)
        return LG_ERR_DAMAGED;
    memset(ret_module, 0, sizeof *ret_module);
    ret_module->start = entry->start;
    ret_module->end = entry->end;
    ret_module->bias = entry->bias;
    lg__reader_hex(ret_module->build_id, entry->build_id, entry->build_id_size);
    lg__reader_text(ret_module->path, sizeof ret_module->path, table->text + entry->path_offset, entry->path_size);
    return LG_OK;
}
