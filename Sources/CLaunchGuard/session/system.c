/* The system that the run began on, for its report: a report may be read on another system. */
#include <stdlib.h>
#include <unistd.h>

#include "os/os.h"
#include "session/session.h"
#include "store/crc32c.h"
#include "store/digest.h"

/* The id of the machine does not leave it: another application has another digest of it. */
static void read_machine(const char *app_id, struct lg__machine *machine)
{
    static const uint8_t unknown[sizeof machine->id];
    struct lg__os_system found;
    lg__os_system("", &found);
    memcpy(machine->model, found.model, sizeof machine->model);
    memcpy(machine->os_id, found.os_id, sizeof machine->os_id);
    memcpy(machine->os_version, found.os_version, sizeof machine->os_version);
    memset(machine->id, 0, sizeof machine->id);
    if (memcmp(found.machine_id, unknown, sizeof unknown) != 0)
        lg__digest_keyed(found.machine_id, app_id, strlen(app_id), machine->id);
    explicit_bzero(&found, sizeof found);
}

static uint32_t crc_of(const struct lg__found_machine *found)
{
    return lg__crc32c(0, found->boot_id, sizeof *found - offsetof(struct lg__found_machine, boot_id));
}

/* From the ledger where nothing has changed since: each file that a start opens takes it some
 * microseconds. */
static void take_machine(struct lg_session *session, struct lg__machine *machine)
{
    struct lg__ledger *ledger = &session->host.ledger;
    struct lg__os_mark mark;
    struct lg__found_machine known, now = { 0 };
    const bool is_marked = lg__os_release_mark("", &mark);
    memcpy(&known, ledger->machine, sizeof known);
    if (is_marked && known.crc == crc_of(&known) && known.release_inode == mark.inode && known.release_changed_ns == mark.changed_ns &&
        memcmp(known.boot_id, session->host.boot_id, sizeof known.boot_id) == 0) {
        *machine = known.machine;
        return;
    }
    read_machine(session->app_id, machine);
    if (!is_marked || !ledger->primary)
        return;
    memcpy(now.boot_id, session->host.boot_id, sizeof now.boot_id);
    now.release_inode = mark.inode;
    now.release_changed_ns = mark.changed_ns;
    now.machine = *machine;
    now.crc = crc_of(&now);
    *ledger->machine = now;
}

static bool is_service(const char *unit)
{
    static const char end[] = ".service";
    const size_t size = strlen(unit), end_size = sizeof end - 1;
    return size > end_size && memcmp(unit + size - end_size, end, end_size) == 0;
}

/* Outside of a service the variable is that of a parent. */
static void take_unit(struct lg__system *system, const char *cgroups)
{
    lg__os_unit(cgroups, system->unit, sizeof system->unit);
    const char *invocation = is_service(system->unit) && !lg__os_secure() ? getenv("INVOCATION_ID") : NULL;
    if (invocation)
        lg__os_hex_id(invocation, strnlen(invocation, 33), system->invocation);
}

/* A unit is worth more than the name of the parent, which costs a file. */
static void take_parent(struct lg__system *system, pid_t parent, bool is_proc_ours)
{
    system->parent_pid = parent;
    if (!system->unit[0] && is_proc_ours)
        lg__os_process_name(system->parent_pid, system->parent_name);
}

void lg__system_take(struct lg_session *session, const char *cgroups)
{
    struct lg__system *system = session->host.run.system;
    bool cut = false;
    lg__os_kernel(system->kernel, system->hardware);
    lg__os_container("", system->container);
    take_machine(session, &system->machine);
    take_unit(system, cgroups);
    take_parent(system, session->parent, !session->host.run.identity->proc_pid);
    if (session->keep_command_line)
        system->command_line_size = (uint32_t)lg__os_command_line(system->command_line, sizeof system->command_line, &cut);
    system->command_line_cut = cut;
    const size_t from = offsetof(struct lg__system, invocation);
    system->crc = lg__crc32c(0, system->invocation, offsetof(struct lg__system, command_line) - from + system->command_line_size);
    atomic_store_explicit(&system->commit, LG__COMMIT_SYSTEM, memory_order_release);
}
