/* Start and fork: the only part that knows all layers. */
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture.h"
#include "os/fault_point.h"
#include "os/os.h"
#include "store/crc32c.h"
#include "walk/walk.h"
#include "store/given.h"

/* all zero until the first start: most of its pages are never there. What every start writes to
 * begins a page. */
static struct lg_session the_session __attribute__((aligned(LG__PAGE)));
static pthread_mutex_t start_lock LG__SMALL = PTHREAD_MUTEX_INITIALIZER;

static uint64_t identity_of_root(void)
{
    struct stat info;
    return stat("/", &info) == 0 ? (uint64_t)info.st_ino ^ (uint64_t)info.st_dev << 48 : 0;
}

/* A child goes on with a preloaded session of its own; one that was forked in a crash does not, nor
 * one with another root directory, in which nothing is made, or with a filter of system calls. */
static void start_in_child(struct lg_session *session)
{
    struct lg__host *host = &session->host;
    if (!lg__capture_forget())
        return;
    host->unforked = NULL;
    host->counts = host->closed = false;
    host->launch_count = 0; /* the launches of the parent are not the child's */
    host->ledger.primary = false;
    host->ledger.hot = NULL;
    host->ledger.generation = 0;
    session->open = &lg__session_closed;
    session->ledger_alone = false;
    session->forked = true;
    if (!lg__capture_is_confined() && identity_of_root() == session->root_identity)
        session->preloaded->forked();
}

void lg__start_in_child(void)
{
    struct lg__host *host = &the_session.host;
    if (!host->unforked)
        return;
    /* where the kernel does not wipe the page */
    if (atomic_load(host->unforked))
        atomic_store((_Atomic uint32_t *)(uintptr_t)host->unforked, 0);
    /* the thread that held this lock, or the other one, is not in the child */
    host->lock = start_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    lg__tail_give_back();
    lg__map_abandon(&host->run.map);
    lg__map_abandon(&host->ledger.map);
    if (the_session.preloaded)
        start_in_child(&the_session);
}

/* The parent in the daemon() of a preloaded session leaves a mark of its own. */
static void session_in_parent(void)
{
    if (!the_session.preloaded)
        lg__limits_forked(&the_session);
}

/* ---- start ---- */

static bool heal_page(int signal, siginfo_t *info, void *ucontext)
{
    (void)ucontext;
    if (signal != SIGBUS || info->si_code <= 0 || !lg__map_heal(info->si_addr))
        return false;
    if (lg__host_unforked(&the_session.host))
        atomic_store_explicit(&the_session.host.run.state->healed_pages, lg__map_healed(), memory_order_relaxed);
    return true;
}

static void identify(struct lg_session *session, struct lg__identity *identity)
{
    const struct lg__executable *executable = &lg__modules_executable;
    lg__modules_find_executable();
    memset(identity, 0, sizeof *identity);
    lg__os_random(identity->uuid, sizeof identity->uuid);
    identity->uuid[6] = (uint8_t)((identity->uuid[6] & 0x0f) | 0x40); /* version 4, RFC 9562 */
    identity->uuid[8] = (uint8_t)((identity->uuid[8] & 0x3f) | 0x80);
    lg__os_boot_id(identity->boot_id);
    identity->wall_ns = lg__os_clock_ns(CLOCK_REALTIME);
    identity->monotonic_ns = lg__os_clock_ns(CLOCK_MONOTONIC);
    identity->boottime_ns = lg__os_clock_ns(CLOCK_BOOTTIME);
    identity->pid = lg__os_pid();
    struct lg__os_process self = { .touched = UINT64_MAX };
    if (lg__os_self(&self) && self.pid != identity->pid)
        identity->proc_pid = self.pid;
    identity->start_ticks = self.start_ticks;
    session->touched_signals = self.touched;
    /* the parent that /proc shows is of its pid namespace */
    session->parent = identity->proc_pid || !self.pid ? getppid() : self.parent;
    identity->uid = geteuid();
    identity->arch = lg__arch;
    identity->build_id_size = executable->build_id_size;
    memcpy(identity->build_id, executable->build_id, sizeof identity->build_id);
    memcpy(identity->app_id, session->app_id, sizeof identity->app_id);
    memcpy(identity->app_version, session->app_version, sizeof identity->app_version);
    lg__os_path_end(identity->executable, sizeof identity->executable, executable->path);
}

/* The number of this run: unique and growing also when the hot page was damaged. */
static uint64_t next_ordinal(struct lg__ledger *ledger)
{
    _Atomic uint64_t *next = &ledger->hot->next_ordinal;
    uint64_t least = ledger->payload.last_ordinal + 1;
    uint64_t value = atomic_load(next);
    const uint64_t absurd = UINT64_C(1) << 40;
    while (ledger->primary && (value < least || value > least + absurd))
        if (atomic_compare_exchange_weak(next, &value, least))
            break;
    return atomic_fetch_add(next, 1);
}

/* The state directory; that of a role in its parent, which is checked as well. */
static int open_directory(struct lg_session *session)
{
    struct lg__host *host = &session->host;
    char path[4096];
    if (!session->role[0])
        return lg__map_directory(host->directory, &host->problem);
    snprintf(path, sizeof path, "%.*s", (int)(strlen(host->directory) - strlen(session->role) - 1), host->directory);
    int parent = lg__map_directory(path, &host->problem);
    if (parent < 0)
        return parent;
    int directory = lg__map_subdirectory(parent, session->role, host->directory, NULL, &host->problem);
    close(parent);
    return directory;
}

static void close_runs(struct lg_session *session)
{
    if (session->runs_directory >= 0)
        close(session->runs_directory);
    session->runs_directory = -1;
}

/* The runs and the ledger of one directory. LG_ERR_STATE: it belongs to another application. */
static lg_status open_in(int directory, struct lg_session *session, const struct lg__identity *identity)
{
    struct lg__host *host = &session->host;
    char path[4096 + 96];
    lg__os_join(path, sizeof path, host->directory, "/runs", "", "");
    session->runs_directory = lg__map_subdirectory(directory, "runs", path, &session->runs_identity, &host->problem);
    if (session->runs_directory < 0)
        return host->problem.status;
    lg__os_join(path, sizeof path, host->directory, "/ledger.lg", "", "");
    /* the ledger counts programs that are started, and no workers */
    session->process = session->forked ? 0 : lg__ledger_process(identity->proc_pid ? identity->proc_pid : identity->pid, identity->start_ticks, identity->boot_id);
    lg_status status = lg__disk_space_ledger(session, directory, path, session->process, identity->boot_id);
    host->ledger.primary &= !session->forked;
    return status == LG_ERR_SECONDARY && lg__take_over_at_start(session) ? LG_OK : status;
}

/* Two programs with the same directory: the later one has a folder of its own in it. */
static lg_status open_ledger(struct lg_session *session, const struct lg__identity *identity)
{
    struct lg__host *host = &session->host;
    int directory = open_directory(session);
    bool shared = false;
    while (directory >= 0) {
        lg_status status = open_in(directory, session, identity);
        if (status != LG_ERR_STATE) {
            close(directory);
            if (shared)
                lg__problem_say(&host->problem, LG_OK, "%s: this folder is used because the directory above it belongs to another application",
                                host->directory);
            return status;
        }
        shared = true;
        close_runs(session);
        int own = lg__options_own_folder(session) ? lg__map_subdirectory(directory, session->app_id, host->directory, NULL, &host->problem) : -1;
        close(directory);
        directory = own;
    }
    return host->problem.status;
}

static lg_status open_files(struct lg_session *session, struct lg__identity *identity)
{
    struct lg__host *host = &session->host;
    char name[LG__RUN_NAME_BYTES], ended[LG__RUN_NAME_BYTES];
    lg_status status = open_ledger(session, identity);
    if (!host->ledger.hot)
        return status;
    if (host->ledger.primary && !lg__start_faults_begin(host, identity))
        return LG_ERR_DISABLED;

    identity->ordinal = session->ordinal = next_ordinal(&host->ledger);
    identity->secondary = !host->ledger.primary;
    lg__run_name(identity->ordinal, identity->uuid, name);
    lg__os_join(session->run_path, sizeof session->run_path, host->directory, "/runs/", name, "");
    lg_status made = lg__disk_space_run(session, name, lg__retention_oldest(session, ended) ? ended : NULL, identity);
    return made == LG_OK ? status : lg__disk_space_none(session, made, identity);
}

static lg_status install_capture(struct lg_session *session)
{
    struct lg__host *host = &session->host;
    struct lg__capture_options options = {
        .run = host->run,
        .hot = host->ledger.hot,
        .ordinal = session->ordinal,
        .starting_tid = host->ledger.primary ? lg__os_tid() : 0,
        .deadline_ms = session->deadline_ms,
        .handler_ms = session->handler_ms,
        .keep_repeats = session->keep_repeats,
        .leave_out = session->leave_out,
        .none = session->capture == LG_CAPTURE_NONE,
        .keep_first = session->keep_first,
        .preloaded = session->preloaded,
        .forked = session->forked,
        .touched_signals = session->touched_signals,
        .leaves = session->preloaded ? session->preloaded->leaves : NULL,
        .watch = lg__watch_start(session),
    };
    if (!lg__capture_add_first_chance(heal_page) || !lg__capture_add_first_chance(lg__signal_redirect) ||
        !lg__capture_add_first_chance(lg__start_faults_fault) || !lg__capture_start(&options))
        return lg__problem_set(&host->problem, LG_ERR_SYSTEM, "sigaction", errno);
    return LG_OK;
}

/* Note how many processes of this cgroup were ended for lack of memory before this one. */
static void note_memory(struct lg__state *state, const char *cgroups)
{
    uint64_t cgroup, kills;
    if (!lg__os_oom_kills(cgroups, &cgroup, &kills))
        return;
    atomic_store(&state->oom_cgroup, cgroup);
    atomic_store(&state->oom_kills, kills);
    atomic_store(&state->oom_known, 1);
}

__attribute__((noinline)) static void note_surroundings(struct lg_session *session)
{
    char cgroups[LG__CGROUPS_BYTES];
    if (!lg__os_cgroups("", cgroups))
        cgroups[0] = 0;
    note_memory(session->host.run.state, cgroups);
    lg__system_take(session, cgroups);
}

static void register_once(void)
{
    static bool done LG__SMALL;
    if (done)
        return;
    done = true;
    lg__os_at_exit(lg__stop_at_exit, &the_session);
    pthread_atfork(NULL, session_in_parent, lg__start_in_child);
}

static bool is_usable(const struct lg_session *session, lg_status status)
{
    return session->ledger_alone || status == LG_OK || status == LG_ERR_SECONDARY || status == LG_ERR_DAMAGED || status == LG_ERR_NEWER;
}

static struct lg__outbox *take_logger(const lg_options *options)
{
    static struct lg__outbox *outbox; /* any thread may use it until the process ends */
    if (options->on_log && !outbox)
        outbox = calloc(1, sizeof *outbox);
    if (!options->on_log || !outbox)
        return NULL;
    outbox->on_log = options->on_log;
    outbox->user = options->log_user;
    return outbox;
}

/* Programs that run twice are no problem. */
static lg_level level_of(const struct lg_session *session, lg_status status)
{
    if (session->protection == LG_PROTECTION_NONE)
        return LG_LEVEL_ERROR;
    return status == LG_ERR_SECONDARY ? LG_LEVEL_NOTICE : LG_LEVEL_WARNING;
}

/* Hand the messages of the start to on_log once the start is over: a crash of on_log is then no
 * crash inside LaunchGuard. */
static void tell_start(struct lg_session *session, const lg_options *options, lg_status status)
{
    struct lg__host *host = &session->host;
    const int error = errno;
    if (options->on_log && status != LG_OK)
        options->on_log(level_of(session, status), LG__OUTBOX_CATEGORY, host->problem.message, options->log_user);
    lg__host_hand_over(host);
    errno = error;
}

static lg_status start_session(struct lg_session *session, const lg_options *given, lg_options *options)
{
    struct lg__host *host = &session->host;
    struct lg__identity identity;
    lg__clock_begin();
    lg__crc32c_init();
    char wrong[LG__GIVEN_WRONG_BYTES];
    lg_status status = lg__given_take(&lg__given_options, options, given, wrong) ? lg__options_take(session, options)
                                                                                 : lg__problem_say(&host->problem, LG_ERR_OPTION, "lg_start: %s", wrong);
    if (status == LG_OK)
        status = lg__options_directory(session, options);
    if (status != LG_OK)
        return status;
    identify(session, &identity);
    memcpy(host->boot_id, identity.boot_id, sizeof host->boot_id);
    status = open_files(session, &identity);
    if (!is_usable(session, status))
        return status;
    host->run.ring.outbox = take_logger(options);
    lg_status installed = install_capture(session);
    if (installed != LG_OK) {
        session->ledger_alone = false;
        return installed;
    }
    LG_FAULT_POINT("start: installed");
    lg__heartbeats_prepare(session);
    session->open = host->unforked = lg__capture_unforked_flag();
    lg__outbox_open(host->run.ring.outbox, host->unforked);
    host->take_over = lg__take_over;
    host->counts = host->ledger.primary;
    if (host->counts)
        lg__last_run_account(session, &identity);
    register_once();
    note_surroundings(session);
    if (session->keep_stderr)
        lg__stderr_thread_start(session);
    if (!session->preloaded && lg__limits_look(session, lg__os_clock_ns(CLOCK_MONOTONIC)) != LG__NEVER)
        lg__wake_now(host);
    if (session->spare_walk && !lg__capture_spare_walk())
        lg__host_log(host, LG_LEVEL_WARNING, "spare_walk: this library cannot load libunwind: libunwind8 is not installed, or libunwind-dev was not when it was built");
    if (session->keep_first && session->capture != LG_CAPTURE_NONE && !lg__capture_keeps_first())
        lg__host_log(host, LG_LEVEL_WARNING, "keep_first: the static library cannot keep first place; a later handler replaces that of LaunchGuard");
    lg__retention_apply(session);
    close_runs(session);
    lg__start_faults_end();
    lg__capture_started();
    atomic_store(&host->run.state->started, LG__STARTED);
    session->protection = session->ledger_alone ? LG_PROTECTION_LAUNCH : host->counts ? LG_PROTECTION_FULL : LG_PROTECTION_RECORD;
    if (host->problem.status == LG_OK && host->problem.message[0])
        lg__host_log(host, LG_LEVEL_INFO, "launchguard: %s", host->problem.message);
    if (status == LG_ERR_SECONDARY)
        lg__problem_set(&host->problem, status, host->directory, 0);
    return status;
}

/* A session without files behaves as one with files, in memory that is never read. */
static void make_unprotected(struct lg_session *session, lg_status why)
{
    static const struct lg__identity nobody;
    static const struct lg__run_sizes least = { .ring_bytes = 4096 };
    struct lg__host *host = &session->host;
    host->directory[0] = 0;
    session->run_path[0] = 0;
    if (host->ledger.hot && host->ledger.primary) {
        if (why != LG_ERR_DISABLED)
            lg__start_faults_survived();
        atomic_store(&host->ledger.hot->primary, 0);
    }
    lg__map_abandon(&host->ledger.map);
    lg__map_abandon(&host->run.map);
    host->ledger = (struct lg__ledger){ .map.file = -1 };
    close_runs(session);
    struct lg__problem ignored = { .status = LG_OK };
    lg__run_create(-1, "", "", NULL, NULL, &least, &nobody, &host->run, &ignored);
}

lg_status lg__start_preloaded(const lg_options *options, const struct lg__preloaded *preloaded, lg_session **ret_session)
{
    the_session.preloaded = preloaded;
    the_session.root_identity = identity_of_root();
    return lg_start(options, ret_session);
}

lg_status lg_start(const lg_options *options, lg_session **ret_session)
{
    if (!ret_session)
        return LG_ERR_ARGUMENT;
    struct lg_session *session = &the_session;
    lg_options own = LG_OPTIONS_INIT;
    pthread_mutex_lock(&start_lock);
    LG_FAULT_POINT("start: locked");
    if (!session->open) {
        pthread_mutex_init(&session->host.lock, NULL);
        session->runs_directory = -1;
        session->open = &lg__session_closed;
    }
    *ret_session = session;
    lg_status status;
    if (session->host.unforked) {
        status = lg__host_unforked(&session->host) ? LG_ERR_ALREADY : LG_ERR_FORKED;
    } else {
        int error = 0;
        session->host.problem = (struct lg__problem){ .status = LG_OK };
        status = options ? start_session(session, options, &own) : lg__problem_set(&session->host.problem, LG_ERR_ARGUMENT, "lg_start", 0);
        error = session->host.problem.error;
        if (!is_usable(session, status))
            make_unprotected(session, status);
        errno = error;
    }
    pthread_mutex_unlock(&start_lock);
    if (status != LG_ERR_ALREADY && status != LG_ERR_FORKED)
        tell_start(session, &own, status);
    return status;
}
